// The two ways to multiply that `Linears` has, and what both need.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/check.hpp"
#include "cuda/linear/rows.hpp"
#include "ops/linear.hpp"

namespace trine::cuda {

/// `Linears` for one kind of product. Whoever made it, `pre` has the columns of the contract's z in
/// their own order, [v | g] with swiglu: each kind reads what the other has kept.
template <class Real>
class LinearBackend {
 public:
  using Packed = PackedLinear<Real, MemSpace::device>;

  virtual ~LinearBackend() = default;
  virtual std::unique_ptr<Packed> pack(const LinearWeights<Real>& weights) = 0;
  virtual void forward(const LinearArgs<Real, MemSpace::device>& args) = 0;
  virtual void backward(const LinearBackwardArgs<Real, MemSpace::device>& args) = 0;
};

/// Products of trine_gemm by any method but fp32.
std::unique_ptr<LinearBackend<float>> make_gemm_linears(int device, cudaStream_t stream);
/// Products of cuBLAS in the precision of Real.
template <class Real>
std::unique_ptr<LinearBackend<Real>> make_plain_linears(cudaStream_t stream);

/// Rows of `columns` numbers that fit into `bytes`: whole tiles of a product if possible.
template <class Real>
std::int64_t rows_in(std::int64_t bytes, std::int64_t columns) {
  const std::int64_t row = static_cast<std::int64_t>(sizeof(Real)) * aligned_columns<Real>(columns);
  check(row <= bytes, ErrorCode::not_supported,
        "a layer of {} columns is too wide for a GPU, run the model on the CPU", columns);
  const std::int64_t rows = bytes / row;
  return rows > 128 ? rows / 128 * 128 : rows;
}

template <class T>
DeviceRows<T> some_rows(DeviceRows<T> m, std::int64_t first, std::int64_t count) {
  return m.empty() ? m : m.slice_rows(first, count);
}

template <class Real>
LinearArgs<Real, MemSpace::device> some_rows(LinearArgs<Real, MemSpace::device> a,
                                             std::int64_t first, std::int64_t count) {
  a.x = some_rows(a.x, first, count);
  a.addend = some_rows(a.addend, first, count);
  a.pre = some_rows(a.pre, first, count);
  for (auto& r : a.residual) r = some_rows(r, first, count);
  a.y = some_rows(a.y, first, count);
  return a;
}

template <class Real>
LinearBackwardArgs<Real, MemSpace::device> some_rows(LinearBackwardArgs<Real, MemSpace::device> a,
                                                     std::int64_t first, std::int64_t count) {
  a.dy = some_rows(a.dy, first, count);
  a.pre = some_rows(a.pre, first, count);
  a.dx = some_rows(a.dx, first, count);
  a.through.pre = some_rows(a.through.pre, first, count);
  return a;
}

/// Calls f with the arguments for `panel` rows at a time.
template <class Args, class Function>
void for_each_panel(const Args& args, std::int64_t rows, std::int64_t panel, Function f) {
  for (std::int64_t first = 0; first < rows; first += panel) {
    f(some_rows(args, first, std::min(panel, rows - first)));
  }
}

}  // namespace trine::cuda
