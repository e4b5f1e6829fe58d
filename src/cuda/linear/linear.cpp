#include "cuda/linear/linear.hpp"

#include <type_traits>

#include "base/check.hpp"
#include "cuda/linear/backend.hpp"

namespace trine::cuda {

template <class Real>
struct Linears<Real>::Impl {
  int device;
  cudaStream_t stream;
  std::unique_ptr<LinearBackend<Real>> plain, gemm;  ///< null until a weight needs them

  /// fp32 does not go through trine_gemm, whose plain product may sum in another order when there
  /// are other rows beside a row.
  LinearBackend<Real>& backend([[maybe_unused]] GemmMethod method) {
    if constexpr (std::is_same_v<Real, float>) {
      if (method != GemmMethod::fp32) {
        if (!gemm) gemm = make_gemm_linears(device, stream);
        return *gemm;
      }
    }
    TRINE_ASSERT(method == GemmMethod::fp32);
    if (!plain) plain = make_plain_linears<Real>(stream);
    return *plain;
  }
};

template <class Real>
Linears<Real>::Linears(int device, cudaStream_t stream)
    : impl_(std::make_unique<Impl>(Impl{device, stream, nullptr, nullptr})) {}

template <class Real>
Linears<Real>::~Linears() = default;

template <class Real>
std::unique_ptr<PackedLinear<Real, MemSpace::device>> Linears<Real>::pack(
    const LinearWeights<Real>& weights) {
  return impl_->backend(weights.method).pack(weights);
}

template <class Real>
void Linears<Real>::forward(const LinearArgs<Real, MemSpace::device>& args) {
  impl_->backend(args.weight->method()).forward(args);
}

template <class Real>
void Linears<Real>::backward(const LinearBackwardArgs<Real, MemSpace::device>& args) {
  impl_->backend(args.weight->method()).backward(args);
}

template class Linears<float>;
template class Linears<double>;

}  // namespace trine::cuda
