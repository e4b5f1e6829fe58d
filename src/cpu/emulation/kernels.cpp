// Compiled once per instruction set; see CMakeLists.txt. Nothing here may instantiate inline
// library functions: the linker would keep one copy, maybe of the wider set.
#include "cpu/emulation/kernels.hpp"

#include "cpu/kernels/simd.hpp"

namespace trine::cpu::emulation::TRINE_ISA {

Kernels table();

namespace {

using F = trine::cpu::TRINE_ISA::Vec<float>;
using I = trine::cpu::TRINE_ISA::Simd<float>::I;
using U = std::uint32_t __attribute__((vector_size(TRINE_VECTOR_BYTES)));
using Short = std::int16_t __attribute__((vector_size(TRINE_VECTOR_BYTES)));
using HalfShort = std::int16_t __attribute__((vector_size(TRINE_VECTOR_BYTES / 2)));
using trine::cpu::TRINE_ISA::load;
using trine::cpu::TRINE_ISA::store;

constexpr int kLanes = TRINE_VECTOR_BYTES / 4;
constexpr int kGroup = 2 * kLanes;  // columns at a time: one register of exponents, two of values
constexpr int kProductLift = 2 * kLift;

// --- Words ---------------------------------------------------------------------------------------

/// Nearest float with `dropped` bits less, ties to even; for numbers that are normal in the format.
template <int dropped>
float nearest_even(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  constexpr std::uint32_t kUnit = 1U << dropped;
  const std::uint32_t odd = (bits >> dropped) & 1U;
  return __builtin_bit_cast(float, (bits + (kUnit / 2 - 1) + odd) & ~(kUnit - 1));
}

template <GemmWord word>
float round_to_word(float x) {
  if constexpr (word == GemmWord::bf16) return nearest_even<16>(x);
  if constexpr (word == GemmWord::tf32) {
    return __builtin_bit_cast(float,
                              (__builtin_bit_cast(std::uint32_t, x) + 0x1000U) & 0xffffe000U);
  }
  // Below the normal range fp16 counts in units of 2^-24, as floats in [0.5, 1) do.
  const float small = (x + 0.75F) - 0.75F;
  return __builtin_fabsf(x) < 0x1p-14F ? small : nearest_even<13>(x);
}

template <GemmWord word>
std::int16_t exponent_of_word(float x) {
  const int field = static_cast<int>((__builtin_bit_cast(std::uint32_t, x) >> 23) & 255U) - 127;
  if constexpr (word != GemmWord::fp16) {
    return static_cast<std::int16_t>(field < -126 ? -126 : field);
  }
  const int normal = field < -14 ? -14 : field;
  return static_cast<std::int16_t>(x == 0 ? -126 : normal);
}

template <GemmWord word>
void split_words(int words, int count, float* __restrict rest, WordTile& tile) {
  for (int a = 0; a < words; ++a) {
    float* __restrict value = tile.value[a];
    std::int16_t* __restrict exponent = tile.exponent[a];
    for (int i = 0; i < count; ++i) {
      const float part = round_to_word<word>(rest[i]);
      rest[i] -= part;
      value[i] = part * 0x1p40F;
      exponent[i] = exponent_of_word<word>(part);
    }
  }
}
static_assert(kLift == 40, "split_words multiplies by 2^kLift");

void split(GemmWord word, int words, int count, float* rest, WordTile& tile) {
  if (word == GemmWord::fp16) split_words<GemmWord::fp16>(words, count, rest, tile);
  if (word == GemmWord::bf16) split_words<GemmWord::bf16>(words, count, rest, tile);
  if (word == GemmWord::tf32) split_words<GemmWord::tf32>(words, count, rest, tile);
}

// --- Steps of the hardware -----------------------------------------------------------------------

Short load_exponents(const std::int16_t* p) {
  using Loaded __attribute__((vector_size(TRINE_VECTOR_BYTES), aligned(2), may_alias)) =
      std::int16_t;
  return *reinterpret_cast<const Loaded*>(p);
}

I widen(const Short& exponents, int half) {
  return __builtin_convertvector(reinterpret_cast<const HalfShort*>(&exponents)[half], I);
}

I to_integers(F x) {
  return __builtin_convertvector(x, I);
}

/// Exponents of lifted accumulators; very small for zero.
I exponent_of_sum(F t) {
  return (((I)t >> 23) & 255) - (127 + kProductLift);
}

/// a + b in units of 2^(exponent - fraction_bits), truncated to FP32 and lifted. |a|, |b| < 2^31;
/// their sum may need 33 bits.
F truncate_sum(I a, I b, I exponent, int fraction_bits) {
  const I sum = (I)((U)a + (U)b);
  const I overflow = (a ^ sum) & (b ^ sum);
  const I negative = (sum ^ overflow) >> 31;
  U magnitude = (U)(sum ^ negative) - (U)negative;
  // FP32 ends at 2^-149.
  const I below = (fraction_bits - 149) - exponent;
  const U lost = (U)(below < 0 ? I{} : below);
  magnitude = (magnitude >> lost) << lost;
  // Nearest, then one unit back where that was too much.
  const F high = __builtin_convertvector((I)(magnitude >> 8), F) * 256.0F;
  const F low = __builtin_convertvector((I)(magnitude & 255U), F);
  F rounded = high + low;
  rounded = (F)((I)rounded + (rounded - high > low));
  const I unit = (exponent + (kProductLift + 127 - fraction_bits)) << 23;
  const I sign = negative & static_cast<std::int32_t>(0x80000000U);
  return rounded * (F)(unit | sign) + 0.0F;  // a sum of 0 is +0
}

/// One step: t + `terms` products for kGroup columns.
template <int terms>
inline __attribute__((always_inline)) void step(const float* x, const std::int16_t* x_exponent,
                                                const float* w, const std::int16_t* w_exponent,
                                                int fraction_bits, F (&t)[2]) {
  Short top = Short{} + static_cast<std::int16_t>(-126);
  for (int k = 0; k < terms; ++k) {
    const Short e = load_exponents(w_exponent + k * kTile) + x_exponent[k];
    top = e > top ? e : top;
  }
  for (int half = 0; half < 2; ++half) {
    I exponent = widen(top, half);
    const I own = exponent_of_sum(t[half]);
    exponent = own > exponent ? own : exponent;
    const F scale = (F)((fraction_bits - kProductLift + 127 - exponent) << 23);
    I first = to_integers(t[half] * scale), second{};
    for (int k = 0; k < terms; ++k) {
      const F product = x[k] * load(w + k * kTile + half * kLanes);
      (k < terms / 2 ? first : second) += to_integers(product * scale);
    }
    t[half] = truncate_sum(first, second, exponent, fraction_bits);
  }
}

void promote(const F (&t)[2], float scale, float* sum) {
  float parts[kGroup];
  store(parts, t[0] * 0x1p-80F);
  store(parts + kLanes, t[1] * 0x1p-80F);
  for (int i = 0; i < kGroup; ++i) sum[i] = __builtin_fmaf(parts[i], scale, sum[i]);
}
static_assert(kProductLift == 80, "promote multiplies by 2^-kProductLift");

template <int terms>
void accumulate_steps(const ChunkProduct& c) {
  for (int column = 0; column < kTile; column += kGroup) {
    for (int row = 0; row < c.rows; ++row) {
      F t[2] = {};
      for (int p = 0; p < c.product_count; ++p) {
        const auto [a, b] = c.products[p];
        const int at = row * c.chunk;
        for (int k = 0; k < c.chunk; k += terms) {
          step<terms>(c.x->value[a] + at + k, c.x->exponent[a] + at + k,
                      c.w->value[b] + k * kTile + column, c.w->exponent[b] + k * kTile + column,
                      c.fraction_bits, t);
        }
      }
      promote(t, c.scale[row], c.sum + row * kTile + column);
    }
  }
}

void accumulate(const ChunkProduct& c) {
  if (c.terms == 16) return accumulate_steps<16>(c);
  if (c.terms == 8) return accumulate_steps<8>(c);
  return accumulate_steps<4>(c);
}

void chain(const ChainProduct& c) {
  for (int row = 0; row < c.rows; ++row) {
    float* __restrict sum = c.sum + row * kTile;
    for (int k = 0; k < c.inner; ++k) {
      const float x = c.x[row * kTile + k];
      const float* w = c.w + k * kTile;
      for (int i = 0; i < kTile; ++i) sum[i] = __builtin_fmaf(x, w[i], sum[i]);
    }
  }
}

}  // namespace

Kernels table() {
  return {.split = split, .accumulate = accumulate, .chain = chain};
}

}  // namespace trine::cpu::emulation::TRINE_ISA
