#include "backend.hpp"

#include <omp.h>

#include "cpu/ops_impl.hpp"
#ifdef TRINE_CUDA
#include "cuda/ops_impl.hpp"
#endif

namespace trine {

template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_cpu(int threads) {
  return cpu::make_ops<Real>(threads);
}

template std::unique_ptr<Ops<float, MemSpace::host>> make_cpu<float>(int);
template std::unique_ptr<Ops<double, MemSpace::host>> make_cpu<double>(int);

int default_threads() {
  return omp_get_max_threads();
}

#ifdef TRINE_CUDA
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::device>> make_cuda(int device) {
  return cuda::make_ops<Real>(device);
}

template std::unique_ptr<Ops<float, MemSpace::device>> make_cuda<float>(int);
template std::unique_ptr<Ops<double, MemSpace::device>> make_cuda<double>(int);
#endif

}  // namespace trine
