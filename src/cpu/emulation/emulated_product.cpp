#include "cpu/emulation/emulated_product.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/check.hpp"

namespace trine::cpu {

using emulation::kTile;

namespace {

constexpr int kTileSize = kTile * kTile;
constexpr int kNotFinite = 255;

std::int64_t padded(std::int64_t n) {
  return (n + kTile - 1) / kTile * kTile;
}

/// Biased exponent of |x|, at least 15 so that its reciprocal scale is a float.
int block_exponent(std::uint32_t largest_bits) {
  return std::max(15, static_cast<int>(largest_bits >> 23));
}

std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
}

float power_of_two(int exponent) {
  return std::ldexp(1.0F, exponent);
}

/// Order in which 16 consecutive elements of the inner dimension meet the hardware: consecutive
/// runs of this list are its steps.
constexpr std::array<int, 16> step_order(GemmWord word, GemmArch arch) {
  if (word == GemmWord::fp32) return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  // Where the elements lie when a thread reads 16 bytes at a time (docs/gemm.md). One step of 16
  // does not care about the order inside.
  if (word == GemmWord::tf32 && arch == GemmArch::sm_80) {
    return {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  }
  return {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
}

/// Rows of w in packed order. With swiglu every 64 are 32 values and the 32 gates that belong to
/// them.
std::vector<std::int64_t> packed_order(std::int64_t n, GemmActivation activation) {
  constexpr std::int64_t kHalfTile = kTile / 2;
  if (activation != GemmActivation::swiglu) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(padded(n)), -1);
    std::iota(order.begin(), order.begin() + n, std::int64_t{0});
    return order;
  }
  check(n % 2 == 0, ErrorCode::bad_input,
        "a swiglu weight of {} rows (values and gates must be equally many), give an even number",
        n);
  const std::int64_t half = n / 2;
  std::vector<std::int64_t> order;
  for (std::int64_t first = 0; first < half; first += kHalfTile) {
    for (const std::int64_t start : {std::int64_t{0}, half}) {
      for (std::int64_t i = first; i < first + kHalfTile; ++i) {
        order.push_back(i < half ? start + i : -1);
      }
    }
  }
  return order;
}

}  // namespace

struct EmulatedProduct::Scratch {
  emulation::WordTile x, w;
  std::array<float, kTileSize> tile, plain_w;
  std::array<float, kTile> row_scale;  ///< f
  std::array<float, kTile> scale;      ///< f r_b
  std::array<std::array<float, kTileSize>, kMaxColumns / kTile> sum;
};

EmulatedProduct::EmulatedProduct(GemmMethod method, GemmArch arch, ConstRows w, std::int64_t n,
                                 std::int64_t k, GemmActivation activation)
    : method_(method),
      arch_(arch),
      sum_(tensor_core_sum(arch)),
      word_(gemm_word(method)),
      chunk_(word_ == GemmWord::fp32 ? kTile : promotion_interval(method, arch)),
      terms_(word_ == GemmWord::tf32 ? sum_.terms_tf32 : sum_.terms_16),
      step_order_(step_order(word_, arch)),
      n_(n),
      k_(k),
      padded_k_(padded(k)) {
  check(n >= 0 && k >= 0, ErrorCode::bad_input,
        "a weight of {} x {} elements (sizes cannot be negative), give its shape", n, k);
  // A plain FP32 product has no packed order.
  row_order_ = packed_order(n, word_ == GemmWord::fp32 ? GemmActivation::none : activation);
  pack(w);
}

void EmulatedProduct::pack(ConstRows w) {
  const auto rows = static_cast<std::int64_t>(row_order_.size());
  weight_.assign(static_cast<std::size_t>(rows * padded_k_), 0.0F);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t from = row_order_[static_cast<std::size_t>(r)];
    if (from < 0) continue;
    for (std::int64_t c = 0; c < k_; ++c) {
      const float value = w.data[from * w.stride + c];
      check(std::isfinite(value), ErrorCode::bad_input,
            "element ({}, {}) of a weight is {} (weights must be finite), check where they come "
            "from",
            from, c, value);
      weight_[static_cast<std::size_t>(r * padded_k_ + c)] = value;
    }
  }
  if (word_ == GemmWord::fp32) return;
  for (std::int64_t r = 0; r < rows; r += kTile) {
    for (std::int64_t c = 0; c < padded_k_; c += kTile) scale_block(r, c);
  }
}

void EmulatedProduct::scale_block(std::int64_t row, std::int64_t column) {
  std::uint32_t largest = 0;
  const auto element = [&](std::int64_t i) -> float& {
    return weight_[static_cast<std::size_t>((row + i / kTile) * padded_k_ + column + i % kTile)];
  };
  for (std::int64_t i = 0; i < kTileSize; ++i) {
    largest = std::max(largest, magnitude_bits(element(i)));
  }
  const int e = block_exponent(largest);
  const float scale = power_of_two(141 - e);
  for (std::int64_t i = 0; i < kTileSize; ++i) element(i) *= scale;
  exponent_.push_back(e);
  gain_.push_back(block_is_short(row, column) ? 1.0F : truncation_gain(word_, arch_));
  largest_exponent_ = std::max(largest_exponent_, e);
}

bool EmulatedProduct::block_is_short(std::int64_t row, std::int64_t column) const {
  for (std::int64_t r = row; r < row + kTile; ++r) {
    const float* w = weight_.data() + r * padded_k_ + column;
    if (!std::all_of(w, w + kTile, is_short_number)) return false;
  }
  return true;
}

std::int64_t EmulatedProduct::inner(Direction direction) const {
  return direction == Direction::forward ? k_ : n_;
}

std::int64_t EmulatedProduct::packed_columns(Direction direction) const {
  return direction == Direction::forward ? static_cast<std::int64_t>(row_order_.size()) : padded_k_;
}

std::int64_t EmulatedProduct::natural(bool rows_of_w, std::int64_t packed) const {
  if (rows_of_w) return row_order_[static_cast<std::size_t>(packed)];
  return packed < k_ ? packed : -1;
}

void EmulatedProduct::gather_x(bool forward, std::int64_t chunk, int rows, ConstRows x,
                               Scratch& s) const {
  for (int r = 0; r < rows; ++r) {
    const float* row = x.data + r * x.stride;
    float* out = s.tile.data() + r * chunk_;
    std::uint32_t largest = 0;
    for (int k = 0; k < chunk_; ++k) {
      const int offset = k / 16 * 16 + step_order_[static_cast<std::size_t>(k % 16)];
      const std::int64_t from = natural(!forward, chunk * chunk_ + offset);
      out[k] = from < 0 ? 0.0F : row[from];
      largest = std::max(largest, magnitude_bits(out[k]));
    }
    if (word_ == GemmWord::fp32) continue;
    const int e = block_exponent(largest);
    const bool finite = e < kNotFinite;
    s.row_scale[static_cast<std::size_t>(r)] =
        finite ? power_of_two(e - 141) : std::numeric_limits<float>::quiet_NaN();
    const float scale = power_of_two(141 - e);
    for (int k = 0; k < chunk_; ++k) out[k] = finite ? out[k] * scale : 0.0F;
  }
}

void EmulatedProduct::gather_w(bool forward, std::int64_t chunk, std::int64_t column,
                               float* tile) const {
  for (int k = 0; k < chunk_; ++k) {
    const int offset = k / 16 * 16 + step_order_[static_cast<std::size_t>(k % 16)];
    const std::int64_t inner = chunk * chunk_ + offset;
    const float* from =
        weight_.data() + (forward ? column * padded_k_ + inner : inner * padded_k_ + column);
    const std::int64_t stride = forward ? padded_k_ : 1;
    for (int c = 0; c < kTile; ++c) tile[k * kTile + c] = from[c * stride];
  }
}

void EmulatedProduct::multiply_chunk(bool forward, std::int64_t chunk, std::int64_t first,
                                     std::int64_t count, int rows, Scratch& s,
                                     const emulation::Kernels& kernels) const {
  const int words = gemm_method_info(method_).words;
  const auto products = gemm_products(method_);
  kernels.split(word_, words, rows * chunk_, s.tile.data(), s.x);
  for (std::int64_t c = 0; c < count; c += kTile) {
    gather_w(forward, chunk, first + c, s.tile.data());
    kernels.split(word_, words, chunk_ * kTile, s.tile.data(), s.w);
    const std::int64_t inner_block = chunk * chunk_ / kTile, outer_block = (first + c) / kTile;
    const std::int64_t block = forward ? outer_block * (padded_k_ / kTile) + inner_block
                                       : inner_block * (padded_k_ / kTile) + outer_block;
    const auto b = static_cast<std::size_t>(block);
    const float r_b = power_of_two(exponent_[b] - largest_exponent_ - 14) * gain_[b];
    for (int r = 0; r < rows; ++r) {
      s.scale[static_cast<std::size_t>(r)] = s.row_scale[static_cast<std::size_t>(r)] * r_b;
    }
    kernels.accumulate({.x = &s.x,
                        .w = &s.w,
                        .rows = rows,
                        .chunk = chunk_,
                        .products = products.data(),
                        .product_count = static_cast<int>(products.size()),
                        .terms = terms_,
                        .fraction_bits = sum_.fraction_bits,
                        .scale = s.scale.data(),
                        .sum = s.sum[static_cast<std::size_t>(c / kTile)].data()});
  }
}

void EmulatedProduct::multiply_plain(bool forward, std::int64_t chunk, std::int64_t first,
                                     std::int64_t count, int rows, Scratch& s,
                                     const emulation::Kernels& kernels) const {
  const std::int64_t inner = (forward ? k_ : n_) - chunk * kTile;
  for (std::int64_t c = 0; c < count; c += kTile) {
    gather_w(forward, chunk, first + c, s.plain_w.data());
    kernels.chain({.x = s.tile.data(),
                   .w = s.plain_w.data(),
                   .rows = rows,
                   .inner = static_cast<int>(std::min<std::int64_t>(kTile, inner)),
                   .sum = s.sum[static_cast<std::size_t>(c / kTile)].data()});
  }
}

void EmulatedProduct::multiply(Direction direction, std::int64_t first, std::int64_t count,
                               int rows, ConstRows x, Rows y,
                               const emulation::Kernels& kernels) const {
  TRINE_ASSERT(first % kTile == 0 && count <= kMaxColumns && rows <= kTile);
  const bool forward = direction == Direction::forward;
  const auto s = std::make_unique_for_overwrite<Scratch>();
  for (auto& sum : s->sum) sum.fill(0.0F);
  const std::int64_t packed_inner =
      packed_columns(forward ? Direction::backward : Direction::forward);
  for (std::int64_t chunk = 0; chunk < packed_inner / chunk_; ++chunk) {
    gather_x(forward, chunk, rows, x, *s);
    if (word_ == GemmWord::fp32) {
      multiply_plain(forward, chunk, first, count, rows, *s, kernels);
    } else {
      multiply_chunk(forward, chunk, first, count, rows, *s, kernels);
    }
  }
  const float g = word_ == GemmWord::fp32 ? 1.0F : power_of_two(largest_exponent_ - 127);
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int64_t to = natural(forward, first + c);
    if (to < 0) continue;
    const float* sum = s->sum[static_cast<std::size_t>(c / kTile)].data() + c % kTile;
    for (int r = 0; r < rows; ++r) y.data[r * y.stride + to - y.first_column] = sum[r * kTile] * g;
  }
}

}  // namespace trine::cpu
