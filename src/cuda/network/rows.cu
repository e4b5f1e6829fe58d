// Sums and copies of rows, some of which are looked up; vectors that change their precision.
#include "cuda/network/row_access.cuh"
#include "cuda/network/row_ops.hpp"

namespace trine::cuda {
namespace {

constexpr MemSpace kDevice = MemSpace::device;
constexpr int kGroups = 2;  ///< groups that a lane holds at a time
constexpr int kVectorThreads = 256;

/// y_r = a x_r + b z_index(r). No x: b z_index(r). No index: r itself.
template <class Real, class Index>
struct SumOfRows {
  Real a;
  Matrix<const Real, kDevice> x;
  Real b;
  Matrix<const Real, kDevice> z;
  const Index* index;
  Matrix<Real, kDevice> y;
};

template <class Real, class Index>
__global__ void __launch_bounds__(kRowThreads) sum_rows(SumOfRows<Real, Index> s, bool wide) {
  join_chain();
  const int lane = static_cast<int>(threadIdx.x) % kWarp, cols = static_cast<int>(s.y.cols);
  const std::int64_t r = std::int64_t{blockIdx.x} * (kRowThreads / kWarp) + threadIdx.x / kWarp;
  if (r >= s.y.rows) return;
  const auto x = PlainRows<const Real>(s.x).row(r);
  const auto z = PlainRows<const Real>(s.z).row(s.index ? s.index[r] : r);
  const auto y = PlainRows<Real>(s.y).row(r);
  for (int first = kGroup * lane; first < cols; first += kGroups * kTile) {
    Real total[kGroups][kGroup], term[kGroups][kGroup];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      load_group(z, first + g * kTile, cols, wide, total[g]);
      if (s.x.data) load_group(x, first + g * kTile, cols, wide, term[g]);
    }
#pragma unroll
    for (int i = 0; i < kGroups * kGroup; ++i) {
      Real& t = total[i / kGroup][i % kGroup];
      t = s.x.data ? s.b * t + s.a * term[i / kGroup][i % kGroup] : s.b * t;
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g) store_group(y, first + g * kTile, cols, wide, total[g]);
  }
}

template <class Real, class Index>
void run(const char* what, const SumOfRows<Real, Index>& s, cudaStream_t stream) {
  const bool wide = is_wide(s.x) && is_wide(s.z) && is_wide(s.y);
  launch(what, sum_rows<Real, Index>, divide_up(s.y.rows, kRowThreads / kWarp), kRowThreads, 0,
         stream, s, wide);
}

__device__ __forceinline__ std::int64_t element_of_thread() {
  return std::int64_t{blockIdx.x} * kVectorThreads + threadIdx.x;
}

template <class Real>
__global__ void convert_vector(const double* x, std::int64_t size, Real* y) {
  join_chain();
  const std::int64_t i = element_of_thread();
  if (i < size) y[i] = static_cast<Real>(x[i]);
}

template <class Real>
__global__ void add_vector(const Real* x, std::int64_t size, double* y) {
  join_chain();
  const std::int64_t i = element_of_thread();
  if (i < size) y[i] += static_cast<double>(x[i]);
}

}  // namespace

template <class Real>
void add_reversed(const AddReversedArgs<Real, kDevice>& a, cudaStream_t stream) {
  run("add reversed edges", SumOfRows<Real, std::int64_t>{a.a, a.x, a.b, a.z, a.reverse.data, a.y},
      stream);
}

template <class Real>
void gather_rows(const GatherRowsArgs<Real, kDevice>& a, cudaStream_t stream) {
  SumOfRows<Real, std::int32_t> sum{1, {}, 1, a.table, a.index.data, a.y};
  if (a.write == Write::add) sum.x = a.y;
  run("gather rows", sum, stream);
}

template <class Real>
void scale(const ScaleArgs<Real, kDevice>& a, cudaStream_t stream) {
  SumOfRows<Real, std::int64_t> sum{1, {}, a.a, a.x, nullptr, a.y};
  if (a.write == Write::add) sum.x = a.y;
  run("scale rows", sum, stream);
}

template <class Real>
void convert(Vector<const double, kDevice> x, Vector<Real, kDevice> y, cudaStream_t stream) {
  launch("convert a vector", convert_vector<Real>, divide_up(y.size, kVectorThreads),
         kVectorThreads, 0, stream, x.data, y.size, y.data);
}

template <class Real>
void accumulate(Vector<const Real, kDevice> x, Vector<double, kDevice> y, cudaStream_t stream) {
  launch("add a vector", add_vector<Real>, divide_up(y.size, kVectorThreads), kVectorThreads, 0,
         stream, x.data, y.size, y.data);
}

#define TRINE_INSTANTIATE(Real)                                                              \
  template void add_reversed(const AddReversedArgs<Real, kDevice>&, cudaStream_t);           \
  template void gather_rows(const GatherRowsArgs<Real, kDevice>&, cudaStream_t);             \
  template void scale(const ScaleArgs<Real, kDevice>&, cudaStream_t);                        \
  template void convert(Vector<const double, kDevice>, Vector<Real, kDevice>, cudaStream_t); \
  template void accumulate(Vector<const Real, kDevice>, Vector<double, kDevice>, cudaStream_t);
TRINE_INSTANTIATE(float)
TRINE_INSTANTIATE(double)
#undef TRINE_INSTANTIATE

}  // namespace trine::cuda
