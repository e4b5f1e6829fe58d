// Where the time of evaluations goes: a device's operations, timed one by one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/ops.hpp"
#include "trine/model.hpp"

namespace trine {

/// One call of an operation, as `Profile` sees it.
struct OperationCall {
  std::string name;       ///< "linear"
  std::int64_t rows = 0;  ///< what grows with the system: rows, atoms, edges, bytes
  std::string shape;      ///< what follows the rows in the table: " x 1024 x 256, swiglu"
  double arithmetic = 0;  ///< floating-point operations of its matrix product
  std::string site{};     ///< of a linear layer
};

/// Sums of times, one for each operation and shape, and for linear layers one for each site. Calls
/// are taken together where their rows are alike, because the runs of atoms that go through the
/// network together are.
class Profile {
 public:
  void add(const OperationCall& call, double seconds);
  void clear() {
    entries_.clear();
    sites_.clear();
  }
  /// The longest first.
  std::vector<OperationTime> operations() const;
  /// Of the linear layer at `site`, in both directions.
  OperationTime linear(const std::string& site) const;

 private:
  struct Entry {
    OperationCall first;
    std::int64_t calls = 0;
    std::int64_t rows = 0;  ///< of all calls together
    double seconds = 0;
    double arithmetic = 0;
  };

  std::vector<Entry> entries_;
  std::map<std::string, OperationTime> sites_;
};

/// `ops`, every operation of which is waited for and timed. An operation's time is without that of
/// an empty one, which is measured here: the call, its launch, the wait. Nothing is recorded for
/// repetition. The numbers that come out are the same.
template <class Real, MemSpace S>
std::unique_ptr<Ops<Real, S>> make_profiled(std::unique_ptr<Ops<Real, S>> ops,
                                            std::shared_ptr<Profile> profile);

}  // namespace trine
