#include "blas/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "blas/settings.hpp"

namespace trine::blas {
namespace {

/// Shapes that the summary names; the rest is one line.
constexpr std::size_t kNamedShapes = 60;

std::string shape_of(const Product& p) {
  std::string text = fmt::format("{}{} {} x {} x {}", p.transposed_a ? 'T' : 'N',
                                 p.transposed_b ? 'T' : 'N', p.m, p.n, p.k);
  if (p.batch != 1) text += fmt::format(" batch {}", p.batch);
  if (p.beta != 0) text += " +C";
  if (p.bias) text += " +bias";
  return text;
}

std::string destination_of(const std::string& method, const std::string& reason) {
  return method.empty() ? fmt::format("original ({})", reason) : method;
}

std::string time_of(const Tally& t) {
  if (t.timed_calls == 0) return "time unknown";
  std::string text = fmt::format("{:.3f} ms", t.milliseconds);
  if (t.timed_calls < t.calls) text += fmt::format(" in {} of them", t.timed_calls);
  return text;
}

void add(Tally& sum, const Tally& more) {
  sum.calls += more.calls;
  sum.flop += more.flop;
  sum.milliseconds += more.milliseconds;
  sum.timed_calls += more.timed_calls;
}

std::FILE* open_log(const std::string& name) {
  if (name.empty()) return nullptr;
  if (name == "stderr") return stderr;
  std::FILE* file = std::fopen(name.c_str(), "ae");  // children of a program share it
  if (!file) {
    std::fprintf(stderr, "trine_blas: cannot write TRINE_GEMM_LOG=%s (%s), there is no log\n",
                 name.c_str(), std::strerror(errno));
    return nullptr;
  }
  std::setvbuf(file, nullptr, _IOLBF, BUFSIZ);
  return file;
}

Record* make_record() {
  std::FILE* const file = open_log(settings().log);
  if (!file) return nullptr;
  std::atexit([] { Record::of_process()->write_summary(); });
  return new Record(file);
}

}  // namespace

Record* Record::of_process() {
  static Record* const record = make_record();
  return record;
}

Tally& Record::add(const Product& product, const std::string& method, const std::string& reason) {
  const std::string shape = shape_of(product);
  const std::scoped_lock lock(mutex_);
  Tally& tally = tallies_[{product.function, shape, method, reason}];
  ++tally.calls;
  tally.flop += flop(product) * static_cast<double>(std::max<std::int64_t>(product.batch, 0));
  fmt::print(file_, "trine_blas: {} {} -> {}\n", product.function, shape,
             destination_of(method, reason));
  return tally;
}

void Record::add_time(Tally& tally, double milliseconds) {
  const std::scoped_lock lock(mutex_);
  tally.milliseconds += milliseconds;
  ++tally.timed_calls;
}

void Record::write_destinations() {
  std::map<std::string, Tally> sums;
  std::map<std::string, std::set<std::string>> shapes;
  for (const auto& [key, tally] : tallies_) {
    const auto& [function, shape, method, reason] = key;
    const std::string destination = destination_of(method, reason);
    blas::add(sums[destination], tally);
    shapes[destination].insert(shape);
  }
  for (const auto& [destination, sum] : sums) {
    fmt::print(file_, "trine_blas:   {}: {} calls of {} shapes, {:.4g} flop, {}\n", destination,
               sum.calls, shapes[destination].size(), sum.flop, time_of(sum));
  }
}

void Record::write_shapes() {
  std::vector<const std::pair<const Key, Tally>*> sorted;
  for (const auto& entry : tallies_) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->second.flop > b->second.flop; });
  Tally rest;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [key, tally] = *sorted[i];
    if (i >= kNamedShapes) {
      blas::add(rest, tally);
      continue;
    }
    const auto& [function, shape, method, reason] = key;
    fmt::print(file_, "trine_blas:     {} calls of {} {}, {} -> {}\n", tally.calls, function, shape,
               time_of(tally), destination_of(method, reason));
  }
  if (rest.calls > 0)
    fmt::print(file_, "trine_blas:     {} calls of other shapes, {}\n", rest.calls, time_of(rest));
}

void Record::write_summary() {
  const std::scoped_lock lock(mutex_);
  if (tallies_.empty()) return;
  const Settings& s = settings();
  fmt::print(file_, "trine_blas: summary of process {}, TRINE_GEMM={}, at least {:g} flop\n",
             getpid(),
             !s.off.empty() ? "off"
             : s.method     ? gemm_method_info(*s.method).name
                            : "auto",
             s.min_flop);
  write_destinations();
  write_shapes();
  std::fflush(file_);
}

}  // namespace trine::blas
