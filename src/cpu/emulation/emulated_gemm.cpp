#include <algorithm>

#include "cpu/emulation/emulated_product.hpp"
#include "cpu/parallel.hpp"
#include "trine/gemm.hpp"

namespace trine {

struct EmulatedGemm::Impl {
  cpu::EmulatedProduct product;

  void multiply(cpu::EmulatedProduct::Direction direction, std::int64_t m, cpu::ConstRows x,
                cpu::Rows y, int threads) const;
};

/// The tasks are blocks of rows and columns; what a block holds does not depend on who computes it.
void EmulatedGemm::Impl::multiply(cpu::EmulatedProduct::Direction direction, std::int64_t m,
                                  cpu::ConstRows x, cpu::Rows y, int threads) const {
  constexpr std::int64_t kRows = cpu::emulation::kTile;
  constexpr std::int64_t kColumns = cpu::EmulatedProduct::kMaxColumns;
  const std::int64_t columns = product.packed_columns(direction);
  const std::int64_t panels = (m + kRows - 1) / kRows;
  const std::int64_t blocks = (columns + kColumns - 1) / kColumns;
  cpu::parallel(threads, panels * blocks, [&](std::int64_t task, int) {
    const std::int64_t row = task / blocks * kRows, column = task % blocks * kColumns;
    product.multiply(direction, column, std::min(kColumns, columns - column),
                     static_cast<int>(std::min(kRows, m - row)),
                     {x.data + row * x.stride, x.stride}, {y.data + row * y.stride, y.stride});
  });
}

EmulatedGemm::EmulatedGemm(GemmMethod method, GemmArch arch, const float* w, std::int64_t ldw,
                           std::int64_t n, std::int64_t k, GemmActivation activation)
    : impl_(new Impl{cpu::EmulatedProduct(method, arch, {w, ldw}, n, k, activation)}) {}
EmulatedGemm::EmulatedGemm(EmulatedGemm&&) noexcept = default;
EmulatedGemm::~EmulatedGemm() = default;

void EmulatedGemm::forward(std::int64_t m, const float* x, std::int64_t ldx, float* y,
                           std::int64_t ldy, int threads) const {
  impl_->multiply(cpu::EmulatedProduct::Direction::forward, m, {x, ldx}, {y, ldy}, threads);
}

void EmulatedGemm::backward(std::int64_t m, const float* dy, std::int64_t ldy, float* dx,
                            std::int64_t ldx, int threads) const {
  impl_->multiply(cpu::EmulatedProduct::Direction::backward, m, {dy, ldy}, {dx, ldx}, threads);
}

}  // namespace trine
