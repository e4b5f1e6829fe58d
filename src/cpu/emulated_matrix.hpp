// Products that are computed as Tensor Cores compute them, for the linear layers of the CPU.
#pragma once

#include <memory>
#include <vector>

#include "cpu/emulation/emulated_product.hpp"
#include "cpu/gemm.hpp"

namespace trine::cpu {

/// Whose Tensor Cores the engine emulates.
inline constexpr GemmArch kEmulatedArch = GemmArch::sm_90;

/// One direction of an emulated weight; the other one shares the weight.
class EmulatedMatrix final : public PanelProduct<float> {
 public:
  /// B = w^T (forward) or B = w (backward). The blocks start at multiples of kBlockColumns.
  EmulatedMatrix(std::shared_ptr<const EmulatedProduct> product,
                 EmulatedProduct::Direction direction, std::vector<ColumnBlock> blocks,
                 const emulation::Kernels& kernels);

  void multiply(std::size_t block, const float* x, float* tile,
                GemmThread<float>& thread) const override;

 private:
  std::shared_ptr<const EmulatedProduct> product_;
  EmulatedProduct::Direction direction_;
  const emulation::Kernels& kernels_;
};

}  // namespace trine::cpu
