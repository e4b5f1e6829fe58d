// A restricted pickle machine: it builds plain data and cannot run anything.
#pragma once

#include "models/checkpoint/pickle_value.hpp"

namespace trine::checkpoint {

/// Reads one pickle (binary protocols 1 to 5). Names of classes and functions stay names: an
/// instance or a call becomes an inert object, except for the containers of Python's standard
/// library. Throws `Error(bad_input)` for damaged pickles, for what needs more than the bounds
/// below, and for calls that only an attack would make (`os.system` and its like).
PickleDocument read_pickle(SharedBytes bytes);

inline constexpr std::size_t kLargestPickle = std::size_t{32} << 20;  ///< bytes
inline constexpr std::size_t kMostNodes = 2'000'000;
inline constexpr std::size_t kMostReferences = 8'000'000;  ///< between nodes
inline constexpr std::size_t kDeepestStack = 200'000;
inline constexpr std::size_t kDeepestMarks = 1'000;  ///< containers open at a time

}  // namespace trine::checkpoint
