#include "cpu/emulated_matrix.hpp"

namespace trine::cpu {

static_assert(kPanelRows == emulation::kTile && kBlockColumns == EmulatedProduct::kMaxColumns,
              "a panel and a block are one call of the product");

EmulatedMatrix::EmulatedMatrix(std::shared_ptr<const EmulatedProduct> product,
                               EmulatedProduct::Direction direction,
                               std::vector<ColumnBlock> blocks, const emulation::Kernels& kernels)
    : PanelProduct(std::move(blocks)),
      product_(std::move(product)),
      direction_(direction),
      kernels_(kernels) {}

void EmulatedMatrix::multiply(std::size_t block, const float* x, float* tile,
                              GemmThread<float>&) const {
  const auto [first, count] = blocks()[block];
  product_->multiply(direction_, first, count, static_cast<int>(kPanelRows),
                     {x, product_->inner(direction_)}, {tile, count, first}, kernels_);
}

}  // namespace trine::cpu
