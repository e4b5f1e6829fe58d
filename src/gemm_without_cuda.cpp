// The device half of the matrix products in a build that has no CUDA: says so.
#include "base/check.hpp"
#include "trine/gemm.hpp"

namespace trine {
namespace {

[[noreturn]] void no_cuda() {
  fail(ErrorCode::not_supported,
       "no GPU products here (this build of trine has no CUDA), configure with -DTRINE_CUDA=ON or "
       "use EmulatedGemm on the CPU");
}

}  // namespace

struct GemmContext::Impl {};
struct GemmWeight::Impl {};

GemmContext::GemmContext(int, void*, GemmKernels) {
  no_cuda();
}
GemmContext::GemmContext(GemmContext&&) noexcept = default;
GemmContext::~GemmContext() = default;
std::string GemmContext::device_name() const {
  no_cuda();
}
int GemmContext::capability() const {
  no_cuda();
}
GemmArch GemmContext::arch() const {
  no_cuda();
}
GemmSupport GemmContext::supports(GemmMethod, const GemmShape&) const {
  no_cuda();
}
GemmMethod GemmContext::choose(const GemmShape&) const {
  no_cuda();
}
GemmWeight GemmContext::pack(GemmMethod, const float*, std::int64_t, std::int64_t, std::int64_t,
                             const float*, GemmActivation) {
  no_cuda();
}
std::size_t GemmContext::packed_bytes(GemmMethod, std::int64_t, std::int64_t) const {
  no_cuda();
}
GemmWeight GemmContext::place(GemmMethod, std::int64_t, std::int64_t, void*) {
  no_cuda();
}
void GemmContext::repack(GemmWeight&, const float*, std::int64_t, const float*) {
  no_cuda();
}
void GemmContext::use_stream(void*) {
  no_cuda();
}
std::size_t GemmContext::workspace_bytes(const GemmWeight&, std::int64_t) const {
  no_cuda();
}
GemmSupport GemmContext::supports_planes(GemmMethod) const {
  no_cuda();
}
std::size_t GemmContext::planes_bytes(GemmMethod, std::int64_t, std::int64_t) const {
  no_cuda();
}
void GemmContext::split(GemmMethod, std::int64_t, const float*, std::int64_t, const GemmPlanes&,
                        bool) {
  no_cuda();
}
void GemmContext::forward(const GemmWeight&, const GemmForwardArgs&) {
  no_cuda();
}
void GemmContext::backward(const GemmWeight&, const GemmBackwardArgs&) {
  no_cuda();
}
std::int64_t GemmContext::first_bad_row() {
  no_cuda();
}

GemmWeight::GemmWeight(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GemmWeight::GemmWeight(GemmWeight&&) noexcept = default;
GemmWeight& GemmWeight::operator=(GemmWeight&&) noexcept = default;
GemmWeight::~GemmWeight() = default;
GemmMethod GemmWeight::method() const {
  no_cuda();
}
std::int64_t GemmWeight::n() const {
  no_cuda();
}
std::int64_t GemmWeight::k() const {
  no_cuda();
}
std::size_t GemmWeight::bytes() const {
  no_cuda();
}

}  // namespace trine
