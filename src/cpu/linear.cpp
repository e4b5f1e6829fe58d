#include "cpu/linear.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "cpu/emulated_matrix.hpp"
#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

/// Blocks of columns of z. With swiglu a block is half values, half gates.
template <class Real>
std::vector<ColumnBlock> blocks_of(const LinearWeights<Real>& w) {
  if (w.activation != LinearActivation::swiglu) return split_columns(w.weight.rows);
  auto blocks = split_columns(w.weight.rows / 2, kBlockColumns / 2);
  for (auto& b : blocks) b = {2 * b.first, 2 * b.count};
  return blocks;
}

/// Row of W that becomes column c of z.
template <class Real>
std::vector<std::int64_t> order_of_rows(const LinearWeights<Real>& w,
                                        const std::vector<ColumnBlock>& blocks) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(w.weight.rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (w.activation != LinearActivation::swiglu) return order;
  const std::int64_t gates = w.weight.rows / 2;
  auto next = order.begin();
  for (const auto& b : blocks) {
    const std::int64_t half = b.count / 2;
    next = std::generate_n(next, half, [row = b.first / 2]() mutable { return row++; });
    next = std::generate_n(next, half, [row = gates + b.first / 2]() mutable { return row++; });
  }
  return order;
}

template <class Real>
Buffer<Real> reordered(Matrix<const Real> w, const std::vector<std::int64_t>& order) {
  Buffer<Real> copy(w.rows * w.cols);
  Real* out = copy.data();
  for (std::int64_t row : order) out = std::copy_n(w.row(row), w.cols, out);
  return copy;
}

/// How the tiles of an (M, columns) product are dealt out: whole panels when there are enough of
/// them, else single tiles. A tile's numbers are the same either way.
struct TileSchedule {
  /// Below this many multiply-adds the threads' meeting costs more than it saves.
  static constexpr std::int64_t kWorthThreads = 1 << 20;

  std::int64_t rows;
  std::size_t blocks;
  int threads;
  bool split;

  TileSchedule(std::int64_t rows_, std::size_t blocks_, std::int64_t weights, std::size_t threads_)
      : rows(rows_),
        blocks(blocks_),
        threads(rows * weights < kWorthThreads ? 1 : static_cast<int>(threads_)),
        split(threads > 1 && panels() < 4 * threads) {}

  std::int64_t panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
  std::int64_t tasks() const {
    return split ? panels() * static_cast<std::int64_t>(blocks) : panels();
  }
  std::int64_t first_row(std::int64_t task) const {
    return (split ? task / static_cast<std::int64_t>(blocks) : task) * kPanelRows;
  }
  std::int64_t row_count(std::int64_t task) const {
    return std::min(kPanelRows, rows - first_row(task));
  }
  /// Half-open range of blocks of a task.
  std::pair<std::size_t, std::size_t> block_range(std::int64_t task) const {
    if (!split) return {0, blocks};
    const auto b = static_cast<std::size_t>(task) % blocks;
    return {b, b + 1};
  }
};

/// `rows` rows of x from `first`, dense and padded with zeros to a whole panel; x itself when it
/// already is that.
template <class Real>
const Real* dense_panel(Matrix<const Real> x, std::int64_t first, std::int64_t rows,
                        Buffer<Real>& scratch) {
  if (rows == kPanelRows && x.stride == x.cols) return x.row(first);
  scratch.resize(kPanelRows * x.cols);
  Real* out = scratch.data();
  for (std::int64_t r = 0; r < rows; ++r) out = std::copy_n(x.row(first + r), x.cols, out);
  std::fill(out, scratch.data() + kPanelRows * x.cols, Real(0));
  return scratch.data();
}

template <class Real>
using Products =
    std::pair<std::unique_ptr<PanelProduct<Real>>, std::unique_ptr<PanelProduct<Real>>>;

/// x w^T and x w.
template <class Real>
Products<Real> make_products(Matrix<const Real> w, std::vector<ColumnBlock> forward,
                             std::vector<ColumnBlock> backward, GemmMethod method,
                             [[maybe_unused]] const emulation::Kernels& kernels) {
  if constexpr (std::is_same_v<Real, float>) {
    if (method != GemmMethod::fp32) {
      using Direction = EmulatedProduct::Direction;
      const auto product = std::make_shared<const EmulatedProduct>(
          method, kEmulatedArch, ConstRows{w.data, w.stride}, w.rows, w.cols);
      return {std::make_unique<EmulatedMatrix>(product, Direction::forward, std::move(forward),
                                               kernels),
              std::make_unique<EmulatedMatrix>(product, Direction::backward, std::move(backward),
                                               kernels)};
    }
  }
  TRINE_ASSERT(method == GemmMethod::fp32);
  return {std::make_unique<PackedMatrix<Real>>(w, Transpose::yes, std::move(forward)),
          std::make_unique<PackedMatrix<Real>>(w, Transpose::no, std::move(backward))};
}

template <class T>
T* at(Matrix<T> m, std::int64_t row, std::int64_t column) {
  return m.empty() ? nullptr : m.row(row) + column;
}

template <class Real>
void run_epilogue(LinearActivation activation, const TileEpilogue<Real>& e) {
  switch (activation) {
    case LinearActivation::none:
      return kernels<Real>().epilogue_linear(e);
    case LinearActivation::silu:
      return kernels<Real>().epilogue_silu(e);
    case LinearActivation::swiglu:
      return kernels<Real>().epilogue_swiglu(e);
  }
}

/// dz of a panel: dy itself, or dy through the activation's derivative.
template <class Real>
const Real* gradient_panel(const LinearBackwardArgs<Real, MemSpace::host>& a,
                           const CpuLinear<Real>& w, std::int64_t first, std::int64_t rows,
                           ThreadScratch<Real>& t) {
  if (a.pre.empty()) return dense_panel(a.dy, first, rows, t.panel);
  t.gradient.resize(kPanelRows * w.pre());
  for (std::int64_t r = 0; r < rows; ++r) {
    Real* dz = t.gradient.data() + r * w.pre();
    const Real* pre = a.pre.row(first + r);
    const Real* dy = a.dy.row(first + r);
    if (w.activation() == LinearActivation::silu) {
      kernels<Real>().silu_backward(w.pre(), pre, dy, dz);
      continue;
    }
    for (const ColumnBlock& b : w.forward().blocks()) {
      kernels<Real>().swiglu_backward(b.count / 2, pre + b.first, dy + b.first / 2, dz + b.first);
    }
  }
  std::fill(t.gradient.data() + rows * w.pre(), t.gradient.data() + kPanelRows * w.pre(), Real(0));
  return t.gradient.data();
}

/// Columns `block` of dx from their product, through the derivative of the activation before.
template <class Real>
void write_through(const LinearBackwardArgs<Real, MemSpace::host>& a, const ColumnBlock& block,
                   std::int64_t first, std::int64_t rows, const Real* tile) {
  const std::int64_t end = block.first + block.count;
  for (std::int64_t r = 0; r < rows; ++r, tile += block.count) {
    const Real* pre = a.through.pre.row(first + r);
    Real* dx = a.dx.row(first + r);
    if (a.through.activation == LinearActivation::silu) {
      kernels<Real>().silu_backward(block.count, pre + block.first, tile, dx + block.first);
      continue;
    }
    // The blocks [v_b | g_b] of the layer before, see blocks_of.
    constexpr std::int64_t kHalf = kBlockColumns / 2;
    for (std::int64_t c = block.first; c < end; c += kHalf) {
      kernels<Real>().swiglu_backward(std::min(kHalf, end - c), pre + 2 * c, tile + c - block.first,
                                      dx + 2 * c);
    }
  }
}

template <class Real>
void write_gradient(const LinearBackwardArgs<Real, MemSpace::host>& a, const ColumnBlock& block,
                    std::int64_t first, std::int64_t rows, const Real* tile) {
  if (a.through.activation != LinearActivation::none) {
    return write_through(a, block, first, rows, tile);
  }
  Real* dx = at(a.dx, first, block.first);
  run_epilogue<Real>(LinearActivation::none,
                     {.tile = tile,
                      .rows = rows,
                      .columns = block.count,
                      .bias = nullptr,
                      .addend = nullptr,
                      .addend_stride = 0,
                      .pre = nullptr,
                      .pre_stride = 0,
                      .residual = {a.write == Write::add ? dx : nullptr, nullptr},
                      .residual_stride = {a.dx.stride, 0},
                      .y = dx,
                      .y_stride = a.dx.stride});
}

}  // namespace

template <class Real>
CpuLinear<Real>::CpuLinear(const LinearWeights<Real>& w, const emulation::Kernels& kernels)
    : PackedLinear<Real, MemSpace::host>(w) {
  auto blocks = blocks_of(w);
  const auto order = order_of_rows(w, blocks);
  const auto rows = reordered(w.weight, order);
  const Matrix<const Real> weight(rows.data(), w.weight.rows, w.weight.cols);
  std::tie(forward_, backward_) =
      make_products(weight, std::move(blocks), split_columns(weight.cols), w.method, kernels);
  if (w.bias.empty()) return;
  for (std::int64_t row : order) bias_.push_back(w.bias[row]);
}

template <class Real>
void linear(const LinearArgs<Real, MemSpace::host>& a, std::vector<ThreadScratch<Real>>& threads) {
  const auto& w = static_cast<const CpuLinear<Real>&>(*a.weight);
  const auto& blocks = w.forward().blocks();
  const std::int64_t narrowing = w.activation() == LinearActivation::swiglu ? 2 : 1;
  const TileSchedule schedule(a.x.rows, blocks.size(), w.in() * w.pre(), threads.size());
  parallel(schedule.threads, schedule.tasks(), [&](std::int64_t task, int thread) {
    auto& t = threads[static_cast<std::size_t>(thread)];
    const std::int64_t first = schedule.first_row(task), rows = schedule.row_count(task);
    const Real* x = dense_panel(a.x, first, rows, t.panel);
    t.tile.resize(kPanelRows * kBlockColumns);
    const auto [begin, end] = schedule.block_range(task);
    for (std::size_t b = begin; b < end; ++b) {
      w.forward().multiply(b, x, t.tile.data(), t.gemm);
      const std::int64_t z = blocks[b].first, y = z / narrowing;
      run_epilogue<Real>(w.activation(),
                         {.tile = t.tile.data(),
                          .rows = rows,
                          .columns = blocks[b].count,
                          .bias = w.bias() ? w.bias() + z : nullptr,
                          .addend = at(a.addend, first, z),
                          .addend_stride = a.addend.stride,
                          .pre = at(a.pre, first, z),
                          .pre_stride = a.pre.stride,
                          .residual = {at(a.residual[0], first, y), at(a.residual[1], first, y)},
                          .residual_stride = {a.residual[0].stride, a.residual[1].stride},
                          .y = at(a.y, first, y),
                          .y_stride = a.y.stride});
    }
  });
}

template <class Real>
void linear_backward(const LinearBackwardArgs<Real, MemSpace::host>& a,
                     std::vector<ThreadScratch<Real>>& threads) {
  const auto& w = static_cast<const CpuLinear<Real>&>(*a.weight);
  const auto& blocks = w.backward().blocks();
  const TileSchedule schedule(a.dx.rows, blocks.size(), w.in() * w.pre(), threads.size());
  parallel(schedule.threads, schedule.tasks(), [&](std::int64_t task, int thread) {
    auto& t = threads[static_cast<std::size_t>(thread)];
    const std::int64_t first = schedule.first_row(task), rows = schedule.row_count(task);
    const Real* dz = gradient_panel(a, w, first, rows, t);
    t.tile.resize(kPanelRows * kBlockColumns);
    const auto [begin, end] = schedule.block_range(task);
    for (std::size_t b = begin; b < end; ++b) {
      w.backward().multiply(b, dz, t.tile.data(), t.gemm);
      write_gradient(a, blocks[b], first, rows, t.tile.data());
    }
  });
}

template class CpuLinear<float>;
template class CpuLinear<double>;
template void linear(const LinearArgs<float, MemSpace::host>&, std::vector<ThreadScratch<float>>&);
template void linear(const LinearArgs<double, MemSpace::host>&,
                     std::vector<ThreadScratch<double>>&);
template void linear_backward(const LinearBackwardArgs<float, MemSpace::host>&,
                              std::vector<ThreadScratch<float>>&);
template void linear_backward(const LinearBackwardArgs<double, MemSpace::host>&,
                              std::vector<ThreadScratch<double>>&);

}  // namespace trine::cpu
