// The benchmark of matrix products in a build that has no CUDA: says so.
#include "base/check.hpp"
#include "trine/gemm_benchmark.hpp"

namespace trine {
namespace {

[[noreturn]] void no_cuda() {
  fail(ErrorCode::not_supported,
       "no GPU to measure (this build of trine has no CUDA), configure with -DTRINE_CUDA=ON");
}

}  // namespace

struct GemmBenchmark::Impl {};

GemmBenchmark::GemmBenchmark(const GemmBenchmarkOptions&) {
  no_cuda();
}
GemmBenchmark::GemmBenchmark(GemmBenchmark&&) noexcept = default;
GemmBenchmark::~GemmBenchmark() = default;
std::string GemmBenchmark::device_name() const {
  no_cuda();
}
int GemmBenchmark::capability() const {
  no_cuda();
}
std::string GemmBenchmark::driver() const {
  no_cuda();
}
std::string GemmBenchmark::toolkit() const {
  no_cuda();
}
std::optional<int> GemmBenchmark::sm_clock_mhz() const {
  no_cuda();
}
GemmMethod GemmBenchmark::choose(const GemmShape&) const {
  no_cuda();
}
std::vector<GemmBenchmarkFigure> GemmBenchmark::run(const GemmBenchmarkCase&) {
  no_cuda();
}

}  // namespace trine
