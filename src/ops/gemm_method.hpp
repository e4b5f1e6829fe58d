// What defines each method of computing an FP32 product from low-precision words: the tables that
// the kernels, their emulation and the error bound share. docs/gemm.md explains them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/enum_names.hpp"
#include "trine/gemm.hpp"

namespace trine {

template <>
inline constexpr std::array<std::string_view, 9> kEnumNames<GemmMethod> = {
    "fp32", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "bf16x9", "fp16", "fp16x3"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<GemmArch> = {"sm_80", "sm_90",
                                                                         "sm_100"};

/// The type that operands are split into. `fp32` has no split.
enum class GemmWord { fp32, tf32, bf16, fp16 };

/// Word `x` of the left operand times word `w` of the weight; word 0 is the largest.
struct WordProduct {
  int x, w;
};

/// How the Tensor Cores of a generation add.
struct TensorCoreSum {
  int fraction_bits;  ///< that each aligned term keeps
  int terms_16;       ///< products added in one step, of 16-bit words
  int terms_tf32;     ///< and of TF32 words
};

constexpr GemmWord gemm_word(GemmMethod method) {
  switch (method) {
    case GemmMethod::tf32:
    case GemmMethod::tf32x3:
      return GemmWord::tf32;
    case GemmMethod::bf16:
    case GemmMethod::bf16x3:
    case GemmMethod::bf16x6:
    case GemmMethod::bf16x9:
      return GemmWord::bf16;
    case GemmMethod::fp16:
    case GemmMethod::fp16x3:
      return GemmWord::fp16;
    default:
      return GemmWord::fp32;
  }
}

constexpr TensorCoreSum tensor_core_sum(GemmArch arch) {
  return arch == GemmArch::sm_80 ? TensorCoreSum{24, 8, 4} : TensorCoreSum{25, 16, 8};
}

namespace detail {

inline constexpr std::array<WordProduct, 1> kProducts1 = {{{0, 0}}};
inline constexpr std::array<WordProduct, 3> kProducts3 = {{{1, 0}, {0, 1}, {0, 0}}};
inline constexpr std::array<WordProduct, 6> kProducts6 = {
    {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}};
inline constexpr std::array<WordProduct, 9> kProducts9 = {
    {{2, 2}, {1, 2}, {2, 1}, {2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}};

}  // namespace detail

/// The products of a method in the order in which they are added, the smallest first. Empty for
/// fp32.
constexpr std::span<const WordProduct> gemm_products(GemmMethod method) {
  switch (method) {
    case GemmMethod::fp32:
    case GemmMethod::size_:
      return {};
    case GemmMethod::tf32x3:
    case GemmMethod::bf16x3:
    case GemmMethod::fp16x3:
      return detail::kProducts3;
    case GemmMethod::bf16x6:
      return detail::kProducts6;
    case GemmMethod::bf16x9:
      return detail::kProducts9;
    default:
      return detail::kProducts1;
  }
}

/// See `gemm_promotion_interval`.
constexpr int promotion_interval(GemmMethod method, GemmArch arch) {
  const GemmWord word = gemm_word(method);
  if (word == GemmWord::fp32) return 0;
  // Only Hopper's own kernels have the registers for 64; the portable ones run everywhere else.
  return word == GemmWord::tf32 || arch != GemmArch::sm_90 ? 32 : 64;
}

/// Units of 2^-23 of itself by which truncation toward zero makes a chunk's sum too small if its
/// terms have one sign, as measured by the emulation; promotion makes up for it (docs/gemm.md).
constexpr int truncation_units(GemmWord word, GemmArch arch) {
  switch (word) {
    case GemmWord::tf32:
      return arch == GemmArch::sm_80 ? 2 : 1;
    case GemmWord::fp16:
      return 1;
    case GemmWord::bf16:
      return arch == GemmArch::sm_90 ? 1 : 0;
    case GemmWord::fp32:
      break;
  }
  return 0;
}

/// Whether x has no more than 11 significant bits, as FP16 and TF32 have. Sums of products with
/// such weights may be exact.
constexpr bool is_short_number(float x) {
  return (std::bit_cast<std::uint32_t>(x) & 0x1fffU) == 0;
}

/// What the scale of a weight's block is multiplied by, unless all of its elements are short.
constexpr float truncation_gain(GemmWord word, GemmArch arch) {
  return 1.0F + static_cast<float>(truncation_units(word, arch)) * 0x1p-23F;
}

}  // namespace trine
