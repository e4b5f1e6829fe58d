// Linear layers on the CPU: panels of rows through packed products, epilogues while the tile is in
// the cache.
#pragma once

#include <memory>
#include <vector>

#include "cpu/emulation/kernels.hpp"
#include "cpu/gemm.hpp"
#include "cpu/kernels/kernels.hpp"
#include "ops/linear.hpp"
#include "tensor/buffer.hpp"

namespace trine::cpu {

/// Memory and handles of one thread; grown on first use, then reused.
template <class Real>
struct ThreadScratch {
  GemmThread<Real> gemm;
  Buffer<Real> panel;     ///< a panel of x or dy, padded to kPanelRows
  Buffer<Real> gradient;  ///< a panel of dz
  Buffer<Real> tile;      ///< one product
  Buffer<Real> rows;      ///< a few rows, or the attention scratch of one atom
};

/// Weights for both directions. With swiglu the rows of W are reordered into blocks [v_b | g_b] so
/// that a tile holds both halves of its outputs; `pre` of the contract has its columns in that
/// order.
template <class Real>
class CpuLinear final : public PackedLinear<Real, MemSpace::host> {
 public:
  /// Any method but fp32 is emulated, by `kernels`, which have to stay.
  CpuLinear(const LinearWeights<Real>& weights, const emulation::Kernels& kernels);

  const PanelProduct<Real>& forward() const { return *forward_; }
  const PanelProduct<Real>& backward() const { return *backward_; }
  const Real* bias() const { return bias_.empty() ? nullptr : bias_.data(); }

 private:
  std::vector<Real> bias_;  ///< in the order of the blocks
  std::unique_ptr<PanelProduct<Real>> forward_, backward_;
};

template <class Real>
void linear(const LinearArgs<Real, MemSpace::host>& args,
            std::vector<ThreadScratch<Real>>& threads);

template <class Real>
void linear_backward(const LinearBackwardArgs<Real, MemSpace::host>& args,
                     std::vector<ThreadScratch<Real>>& threads);

}  // namespace trine::cpu
