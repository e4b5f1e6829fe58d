// What was called and where it went: the log and the summary at exit.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "blas/product.hpp"

namespace trine::blas {

/// Calls of one shape that went the same way.
struct Tally {
  std::int64_t calls = 0;
  double flop = 0;
  double milliseconds = 0;  ///< on the GPU, of those calls whose time is known
  std::int64_t timed_calls = 0;
};

/// Threads may use it at the same time. Never destroyed: calls may come from handlers at exit.
class Record {
 public:
  /// Of this process, written to TRINE_GEMM_LOG; null if that is not set or cannot be opened.
  static Record* of_process();

  explicit Record(std::FILE* file) : file_(file) {}

  /// Counts a call and writes its line. `method` computed it, or the original library did
  /// (`method` is empty) because of `reason`. The tally stays where it is.
  Tally& add(const Product& product, const std::string& method, const std::string& reason);
  void add_time(Tally& tally, double milliseconds);
  /// Nothing if nothing was called.
  void write_summary();

 private:
  /// function, shape with transpositions, method, reason.
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  void write_destinations();
  void write_shapes();

  std::mutex mutex_;
  std::FILE* file_;
  std::map<Key, Tally> tallies_;
};

}  // namespace trine::blas
