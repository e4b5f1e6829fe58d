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

template <class S>
constexpr std::int64_t kStoredBytes = S::kWords* S::kElementBytes / 2 * kBlockBytes;  // of a block

/// A block of 64 x 64 in shared memory; a row more keeps its columns in different banks.
using Tile = float[kBlock][kBlock + 1];

/// The words of a block as they are stored. kAcross: rows of the stored block run along w's
/// columns.
template <class S, bool kAcross>
__device__ void store_block(const Tile& tile, float up, std::uint8_t* out) {
  for (int i = static_cast<int>(threadIdx.x); i < kBlock * kBlock / 2;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / (kBlock / 2), pair = i % (kBlock / 2) * 2;
    float x[2];
    for (int j = 0; j < 2; ++j) {
      const int p = (pair + j) % 16;
      const int offset =
          S::kWord == Word::tf32 ? tf32_offset_of_position(p) : offset_of_position(p);
      const int r = row / 16 * 16 + offset_of_position(row % 16), c = (pair + j) / 16 * 16 + offset;
      x[j] = kAcross ? tile[c][r] : tile[r][c];
    }
    std::uint32_t words[S::kWords][2];
    split_pair<S>(x[0], x[1], up, words);
    // Byte of the pair in a row of 128 bytes per piece; TF32 needs two pieces for 64 columns.
    const int byte = pair * S::kElementBytes, piece = byte / 128;
    const int at = row * 128 + ((byte % 128 / 16 ^ row % 8) * 16) + byte % 16;
    for (int w = 0; w < S::kWords; ++w) {
      std::uint8_t* block = out + (w * S::kElementBytes / 2 + piece) * kBlockBytes + at;
      for (int j = 0; j < S::kElementBytes / 2; ++j) {
        reinterpret_cast<std::uint32_t*>(block)[j] = words[w][j];
      }
    }
  }
}

/// Where the words of all blocks, their ratios and the exponent of the largest magnitude go.
struct Packed {
  std::uint8_t *words, *across;  ///< across: for TF32 alone, whose backward product reads others
  float* ratios;                 ///< what sums over a block are multiplied by
  std::uint32_t* largest;        ///< or null
};

/// One block of 64 x 64 per thread block. `gain` makes up for truncation where elements have more
/// than 11 bits. Inf and NaN make a block's ratio NaN.
template <class S>
__global__ void pack_blocks(Source source, float gain, Packed out) {
  const int row_block = static_cast<int>(blockIdx.y), column_block = static_cast<int>(blockIdx.x);
  const int rows = static_cast<int>(gridDim.y), columns = static_cast<int>(gridDim.x);
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  __shared__ Tile tile;
  __shared__ std::uint32_t block_bits;
  if (first == 0) block_bits = 0;
  __syncthreads();
  std::uint32_t bits = 0;
  for (int i = first; i < kBlock * kBlock; i += step) {
    const float v = source.at(row_block * kBlock + i / kBlock, column_block * kBlock + i % kBlock);
    tile[i / kBlock][i % kBlock] = v;
    bits = max(bits, __float_as_uint(fabsf(v)));
  }
  atomicMax(&block_bits, __reduce_max_sync(~0u, bits));
  __syncthreads();
  const std::uint32_t e = max(block_bits >> 23, 15u);
  const float up = scale_up(e);  // nothing is subnormal then
  bool is_short = true;
  for (int i = first; i < kBlock * kBlock; i += step) {
    is_short &= (__float_as_uint(up * tile[i / kBlock][i % kBlock]) & 0x1fffu) == 0;
  }
  const bool exact = __syncthreads_and(is_short) != 0;
  if (first == 0) {
    out.ratios[row_block * columns + column_block] = scale_down(e) * (exact ? 1.0f : gain);
    if (out.largest) atomicMax(out.largest, e);
  }
  const std::int64_t at = std::int64_t{row_block} * columns + column_block;
  store_block<S, false>(tile, up, out.words + at * kStoredBytes<S>);
  if constexpr (S::kWord == Word::tf32) {
    const std::int64_t across = std::int64_t{column_block} * rows + row_block;
    store_block<S, true>(tile, up, out.across + across * kStoredBytes<S>);
  }
}

/// Ratios relative to the largest magnitude, whose exponent is given.
__global__ void divide_ratios(float* ratios, int count, int largest) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) ratios[i] = ldexpf(ratios[i], 127 - largest);
}

/// The bias and zeros behind it.
__global__ void copy_bias(const float* bias, int n, float* out, int size) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) out[i] = i < n ? bias[i] : 0;
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
  const bool relative = scale == PackedScale::relative;
  auto* largest = reinterpret_cast<std::uint32_t*>(weight.memory + at.largest);
  auto* ratios = reinterpret_cast<float*>(weight.memory + at.ratios);
  if (relative) check_cuda(cudaMemsetAsync(largest, 0, sizeof *largest, stream), "clear memory");
  pack_blocks<S><<<grid, 256, 0, stream>>>(
      source, truncation_gain(gemm_word(weight.method), arch),
      {weight.memory, weight.memory + at.across, ratios, relative ? largest : nullptr});
  float gain = 1;
  if (relative) {
    const int e = static_cast<int>(read_largest(largest, stream));
    const int count = at.row_blocks * at.column_blocks;
    divide_ratios<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(ratios, count, e);
    gain = std::ldexp(1.0f, e - 127);
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
      at.largest = at.ratios + count * sizeof(float);
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
