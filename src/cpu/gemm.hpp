// Matrix products of fixed shape with a packed right-hand side: the only place that calls a BLAS.
//
// Every product is done in panels of kPanelRows rows against blocks of columns, each panel by one
// thread. The shapes of the calls therefore never depend on the number of rows or threads, and a
// row's result depends on that row alone. float goes through oneDNN (its packed brgemm kernels
// were 1.2 times as fast as OpenBLAS on these shapes, see docs/performance-notes.md), double
// through OpenBLAS (oneDNN has no double).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tensor/buffer.hpp"
#include "tensor/view.hpp"

namespace trine::cpu {

inline constexpr std::int64_t kPanelRows = 64;
inline constexpr std::int64_t kBlockColumns = 256;

/// Columns first .. first + count of the product.
struct ColumnBlock {
  std::int64_t first;
  std::int64_t count;
};

/// Splits `columns` into blocks of at most `size`.
std::vector<ColumnBlock> split_columns(std::int64_t columns, std::int64_t size = kBlockColumns);

/// What one thread needs to run products; not shared between threads.
template <class Real>
class GemmThread {
 public:
  GemmThread();
  GemmThread(GemmThread&&) noexcept;
  ~GemmThread();
  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

enum class Transpose { no, yes };

/// Products of panels with a right-hand side B (inner, columns), which is in blocks of columns.
template <class Real>
class PanelProduct {
 public:
  virtual ~PanelProduct() = default;

  const std::vector<ColumnBlock>& blocks() const { return blocks_; }

  /// tile (kPanelRows, block.count) = x (kPanelRows, inner) B[:, block]; both dense. Adds nothing,
  /// scales nothing.
  virtual void multiply(std::size_t block, const Real* x, Real* tile,
                        GemmThread<Real>& thread) const = 0;

 protected:
  explicit PanelProduct(std::vector<ColumnBlock> blocks) : blocks_(std::move(blocks)) {}

 private:
  std::vector<ColumnBlock> blocks_;
};

/// B packed per block of columns, multiplied by a BLAS.
template <class Real>
class PackedMatrix final : public PanelProduct<Real> {
 public:
  /// B = w (Transpose::no) or B = w^T (Transpose::yes).
  PackedMatrix(Matrix<const Real> w, Transpose transpose, std::vector<ColumnBlock> blocks);
  ~PackedMatrix() override;

  void multiply(std::size_t block, const Real* x, Real* tile,
                GemmThread<Real>& thread) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine::cpu
