#include "cuda/linear/linear.hpp"

#include <type_traits>

#include "base/check.hpp"
#include "cuda/linear/backend.hpp"

namespace trine::cuda {
namespace {

/// fp32 does not go through trine_gemm, whose plain product may sum in another order when there are
/// other rows beside a row.
template <class Real>
std::unique_ptr<LinearBackend<Real>> make_backend([[maybe_unused]] int device, cudaStream_t stream,
                                                  GemmMethod method) {
  if (method == GemmMethod::fp32) return make_plain_linears<Real>(stream);
  if constexpr (std::is_same_v<Real, float>) {
    return make_gemm_linears(device, stream, method);
  } else {
    fail(ErrorCode::not_supported,
         "{} is a way to multiply FP32 matrices (the network computes in FP64), leave it out or "
         "choose FP32",
         gemm_method_info(method).name);
  }
}

}  // namespace

template <class Real>
struct Linears<Real>::Impl {
  std::unique_ptr<LinearBackend<Real>> backend;
};

template <class Real>
Linears<Real>::Linears(int device, cudaStream_t stream, GemmMethod method)
    : impl_(std::make_unique<Impl>(Impl{make_backend<Real>(device, stream, method)})) {}

template <class Real>
Linears<Real>::~Linears() = default;

template <class Real>
std::unique_ptr<PackedLinear<Real, MemSpace::device>> Linears<Real>::pack(
    const LinearWeights<Real>& weights) {
  return impl_->backend->pack(weights);
}

template <class Real>
void Linears<Real>::forward(const LinearArgs<Real, MemSpace::device>& args) {
  impl_->backend->forward(args);
}

template <class Real>
void Linears<Real>::backward(const LinearBackwardArgs<Real, MemSpace::device>& args) {
  impl_->backend->backward(args);
}

template class Linears<float>;
template class Linears<double>;

}  // namespace trine::cuda
