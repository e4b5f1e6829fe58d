#include "cuda/gemm/pack.hpp"

#include <cmath>

#include "cuda/gemm/kernels.hpp"
#include "cuda/gemm/words.cuh"
#include "ops/gemm_method.hpp"

namespace trine::cuda {
namespace {

/// w as the packing reads it: packed rows and columns, zero outside.
struct Source {
  const float* w;
  std::int64_t ld;
  int n, k;
  bool halves;  ///< packed rows are 32 of v, 32 of g in turn

  __device__ float at(int row, int column) const {
    if (halves) {
      const int half = n / 2, v = row / 64 * 32 + row % 32;
      if (v >= half) return 0;
      row = row % 64 < 32 ? v : half + v;
    }
    return row < n && column < k ? w[row * ld + column] : 0;
  }
};

/// Exponent of the largest magnitude of every block of 64 x 64, and the largest of them.
__global__ void block_exponents(Source source, std::uint32_t* exponents, std::uint32_t* largest) {
  std::uint32_t bits = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kBlock * kBlock;
       i += static_cast<int>(blockDim.x)) {
    const float v = source.at(static_cast<int>(blockIdx.y) * kBlock + i / kBlock,
                              static_cast<int>(blockIdx.x) * kBlock + i % kBlock);
    bits = max(bits, __float_as_uint(fabsf(v)));
  }
  __shared__ std::uint32_t block_bits;
  if (threadIdx.x == 0) block_bits = 0;
  __syncthreads();
  atomicMax(&block_bits, bits);
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::uint32_t e = max(block_bits >> 23, 15u);
    exponents[blockIdx.y * gridDim.x + blockIdx.x] = e;
    atomicMax(largest, e);
  }
}

/// What sums over each block of 64 x 64 are multiplied by; `gain` makes up for truncation where
/// elements have more than 11 bits (is_short_number). Without `largest` they are relative to 1.
__global__ void block_ratios(Source source, const std::uint32_t* exponents,
                             const std::uint32_t* largest, float gain, float* ratios) {
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  const float up = scale_up(exponents[block]);  // nothing is subnormal then
  bool is_short = true;
  for (int i = static_cast<int>(threadIdx.x); i < kBlock * kBlock;
       i += static_cast<int>(blockDim.x)) {
    const float v = up * source.at(static_cast<int>(blockIdx.y) * kBlock + i / kBlock,
                                   static_cast<int>(blockIdx.x) * kBlock + i % kBlock);
    is_short &= (__float_as_uint(v) & 0x1fffu) == 0;
  }
  const bool exact = __syncthreads_and(is_short) != 0;
  if (threadIdx.x > 0) return;
  const int unit = largest ? static_cast<int>(*largest) : 127;
  const int exponent = static_cast<int>(exponents[block]) - unit - 14;
  const float ratio =
      exponents[block] == 255 ? __uint_as_float(0x7fc00000u) : ldexpf(1.0f, exponent);
  ratios[block] = ratio * (exact ? 1.0f : gain);
}

/// The bias and zeros behind it.
__global__ void copy_bias(const float* bias, int n, float* out, int size) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) out[i] = i < n ? bias[i] : 0;
}

/// One block of 64 x 64 per thread block. kAcross: rows of the stored block run along w's columns.
template <class S, bool kAcross>
__global__ void pack_blocks(Source source, const std::uint32_t* exponents, std::uint8_t* out) {
  const int out_block = static_cast<int>(blockIdx.y), chunk = static_cast<int>(blockIdx.x);
  constexpr int kPieces = S::kWords * S::kElementBytes / 2;
  const int row_block = kAcross ? chunk : out_block, column_block = kAcross ? out_block : chunk;
  const int exponent_columns = static_cast<int>(kAcross ? gridDim.y : gridDim.x);
  const float up = scale_up(exponents[row_block * exponent_columns + column_block]);
  std::uint8_t* blocks =
      out + (std::int64_t{out_block} * gridDim.x + chunk) * (kPieces * kBlockBytes);
  for (int i = static_cast<int>(threadIdx.x); i < kBlock * kBlock / 2;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / (kBlock / 2), pair = i % (kBlock / 2) * 2;
    float x[2];
    for (int j = 0; j < 2; ++j) {
      const int p = (pair + j) % 16;
      const int offset =
          S::kWord == Word::tf32 ? tf32_offset_of_position(p) : offset_of_position(p);
      const int r = row / 16 * 16 + offset_of_position(row % 16), c = (pair + j) / 16 * 16 + offset;
      x[j] = kAcross ? source.at(row_block * kBlock + c, column_block * kBlock + r)
                     : source.at(row_block * kBlock + r, column_block * kBlock + c);
    }
    std::uint32_t words[S::kWords][2];
    split_pair<S>(x[0], x[1], up, words);
    // Byte of the pair in a row of 128 bytes per piece; TF32 needs two pieces for 64 columns.
    const int byte = pair * S::kElementBytes, piece = byte / 128;
    const int at = row * 128 + ((byte % 128 / 16 ^ row % 8) * 16) + byte % 16;
    for (int w = 0; w < S::kWords; ++w) {
      std::uint8_t* block = blocks + (w * S::kElementBytes / 2 + piece) * kBlockBytes + at;
      for (int j = 0; j < S::kElementBytes / 2; ++j) {
        reinterpret_cast<std::uint32_t*>(block)[j] = words[w][j];
      }
    }
  }
}

__global__ void copy_aligned(const float* x, std::int64_t ldx, std::int64_t m, int cols, int parts,
                             float* out, std::int64_t ld_out) {
  const std::int64_t padded = ld_out / parts;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < m * ld_out; i += std::int64_t{gridDim.x} * blockDim.x) {
    const std::int64_t row = i / ld_out, part = i % ld_out / padded, c = i % padded;
    out[i] = c < cols ? x[row * ldx + part * cols + c] : 0;
  }
}

std::int64_t blocks_of(std::int64_t size) {
  return (size + 127) / 128 * 2;  // whole tiles of 128
}

std::int64_t bias_size(std::int64_t n) {
  return (n + kWidestTile - 1) / kWidestTile * kWidestTile;
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

template <class S>
constexpr std::int64_t kStoredBytes = S::kWords* S::kElementBytes / 2 * kBlockBytes;  // of a block

/// Calls `use` with the Scheme of a method that has words.
template <class Use>
auto with_scheme(GemmMethod method, Use use) {
  switch (method) {
    case GemmMethod::tf32:
      return use(Tf32{});
    case GemmMethod::tf32x3:
      return use(Tf32x3{});
    case GemmMethod::bf16:
      return use(Bf16{});
    case GemmMethod::bf16x3:
      return use(Bf16x3{});
    case GemmMethod::bf16x6:
      return use(Bf16x6{});
    case GemmMethod::bf16x9:
      return use(Bf16x9{});
    case GemmMethod::fp16:
      return use(Fp16{});
    case GemmMethod::fp16x3:
      return use(Fp16x3{});
    case GemmMethod::fp32:
    case GemmMethod::size_:
      break;
  }
  throw Error(ErrorCode::usage, "fp32 has no words (nothing to pack), keep the plain weight");
}

/// Both directions of a weight whose memory is `memory`.
template <class S>
void describe(PackedWeight& weight, float gain) {
  const PackedLayout& at = weight.layout;
  const int rows = at.row_blocks, columns = at.column_blocks;
  const auto* ratios = reinterpret_cast<const float*>(weight.memory + at.ratios);
  constexpr std::int64_t kBytes = kStoredBytes<S>;
  weight.forward = {weight.memory, kBytes * columns, kBytes, ratios, columns, 1, gain,
                    rows,          columns};
  weight.backward = {weight.memory, kBytes, kBytes * columns, ratios, 1,
                     columns,       gain,   columns,          rows};
  if (at.across == 0) return;
  weight.backward.words = weight.memory + at.across;
  weight.backward.out_stride = kBytes * rows;
  weight.backward.chunk_stride = kBytes;
}

/// The exponent field of the weight's largest magnitude.
std::uint32_t read_largest(const std::uint32_t* largest, cudaStream_t stream) {
  std::uint32_t e = 0;
  check_cuda(cudaMemcpyAsync(&e, largest, sizeof e, cudaMemcpyDeviceToHost, stream),
             "read a scale");
  check_cuda(cudaStreamSynchronize(stream), "scale a weight");
  if (e == 255) {
    throw Error(ErrorCode::bad_input,
                "the weight has Inf or NaN (no product could be right), repair the model");
  }
  return e;
}

template <class S>
void pack_with(PackedWeight& weight, const Source& source, PackedScale scale, GemmArch arch,
               cudaStream_t stream) {
  const PackedLayout& at = weight.layout;
  const dim3 grid(static_cast<unsigned>(at.column_blocks), static_cast<unsigned>(at.row_blocks));
  auto* exponents = reinterpret_cast<std::uint32_t*>(weight.memory + at.exponents);
  auto* largest = reinterpret_cast<std::uint32_t*>(weight.memory + at.largest);
  auto* ratios = reinterpret_cast<float*>(weight.memory + at.ratios);
  check_cuda(cudaMemsetAsync(largest, 0, sizeof *largest, stream), "clear memory");
  block_exponents<<<grid, 256, 0, stream>>>(source, exponents, largest);
  const bool relative = scale == PackedScale::relative;
  const float gain =
      relative ? std::ldexp(1.0f, static_cast<int>(read_largest(largest, stream)) - 127) : 1.0f;
  block_ratios<<<grid, 256, 0, stream>>>(source, exponents, relative ? largest : nullptr,
                                         truncation_gain(gemm_word(weight.method), arch), ratios);
  pack_blocks<S, false><<<grid, 256, 0, stream>>>(source, exponents, weight.memory);
  if constexpr (S::kWord == Word::tf32) {
    pack_blocks<S, true>
        <<<dim3(grid.y, grid.x), 256, 0, stream>>>(source, exponents, weight.memory + at.across);
  }
  check_cuda(cudaGetLastError(), "pack a weight");
  describe<S>(weight, gain);
}

}  // namespace

PackedLayout packed_layout(GemmMethod method, GemmActivation activation, std::int64_t n,
                           std::int64_t k) {
  PackedLayout at;
  if (method != GemmMethod::fp32) {
    with_scheme(method, [&](auto scheme) {
      using S = decltype(scheme);
      const bool halves = activation == GemmActivation::swiglu;
      at.row_blocks = static_cast<int>(blocks_of(halves ? (n / 2 + 31) / 32 * 64 : n));
      at.column_blocks = static_cast<int>(blocks_of(k));
      const auto count =
          static_cast<std::size_t>(at.row_blocks) * static_cast<std::size_t>(at.column_blocks);
      at.words = count * static_cast<std::size_t>(kStoredBytes<S>);
      if constexpr (S::kWord == Word::tf32) at.across = at.words;
      at.ratios = at.words + at.across;
      at.exponents = at.ratios + round_up(count * sizeof(float));
      at.largest = at.exponents + count * sizeof(std::uint32_t);
      at.bias = round_up(at.largest + sizeof(std::uint32_t));
    });
  }
  at.end = at.bias + static_cast<std::size_t>(bias_size(n)) * sizeof(float);
  return at;
}

void pack_words(PackedWeight& weight, const float* w, std::int64_t ldw, PackedScale scale,
                GemmArch arch, cudaStream_t stream) {
  const Source source{w, ldw, static_cast<int>(weight.n), static_cast<int>(weight.k),
                      weight.activation == GemmActivation::swiglu};
  with_scheme(weight.method, [&](auto scheme) {
    pack_with<decltype(scheme)>(weight, source, scale, arch, stream);
  });
}

void pack_bias(PackedWeight& weight, const float* bias, cudaStream_t stream) {
  weight.bias = bias ? reinterpret_cast<float*>(weight.memory + weight.layout.bias) : nullptr;
  if (!bias) return;
  const auto size = static_cast<int>(bias_size(weight.n));
  copy_bias<<<static_cast<unsigned>((size + 255) / 256), 256, 0, stream>>>(
      bias, static_cast<int>(weight.n), weight.bias, size);
  check_cuda(cudaGetLastError(), "pack a bias");
}

void align_rows(const float* x, std::int64_t ldx, std::int64_t m, int cols, int parts, float* out,
                std::int64_t ld_out, cudaStream_t stream) {
  const std::int64_t blocks = (m * ld_out + 255) / 256;
  copy_aligned<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(
      x, ldx, m, cols, parts, out, ld_out);
  check_cuda(cudaGetLastError(), "align the rows of x");
}

}  // namespace trine::cuda
