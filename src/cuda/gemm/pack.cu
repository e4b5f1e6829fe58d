#include "cuda/gemm/pack.hpp"

#include <cmath>

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
/// elements have more than 11 bits (is_short_number).
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
  const int exponent = static_cast<int>(exponents[block]) - static_cast<int>(*largest) - 14;
  ratios[block] = ldexpf(1.0f, exponent) * (exact ? 1.0f : gain);
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

template <class S>
void pack_with(PackedWeight& weight, const Source& source, GemmArch arch, cudaStream_t stream) {
  const bool halves = source.halves;
  const auto rows = static_cast<unsigned>(halves ? blocks_of((weight.n / 2 + 31) / 32 * 64)
                                                 : blocks_of(weight.n));
  const auto columns = static_cast<unsigned>(blocks_of(weight.k));
  const std::int64_t count = std::int64_t{rows} * columns;
  constexpr std::int64_t kBytes = S::kWords * S::kElementBytes / 2 * kBlockBytes;
  constexpr bool kTwoCopies = S::kWord == Word::tf32;
  DeviceArray<std::uint32_t> exponents(count + 1);
  std::uint32_t* largest = exponents.data() + count;
  check_cuda(cudaMemsetAsync(largest, 0, sizeof *largest, stream), "clear memory");
  block_exponents<<<dim3(columns, rows), 256, 0, stream>>>(source, exponents.data(), largest);
  std::uint32_t e = 0;
  check_cuda(cudaMemcpyAsync(&e, largest, sizeof e, cudaMemcpyDeviceToHost, stream),
             "read a scale");
  check_cuda(cudaStreamSynchronize(stream), "scale a weight");
  if (e == 255) {
    throw Error(ErrorCode::bad_input,
                "the weight has Inf or NaN (no product could be right), repair the model");
  }

  weight.ratios = DeviceArray<float>(count);
  weight.words = DeviceArray<std::uint8_t>(count * kBytes * (kTwoCopies ? 2 : 1));
  block_ratios<<<dim3(columns, rows), 256, 0, stream>>>(
      source, exponents.data(), largest, truncation_gain(gemm_word(weight.method), arch),
      weight.ratios.data());
  pack_blocks<S, false>
      <<<dim3(columns, rows), 256, 0, stream>>>(source, exponents.data(), weight.words.data());
  const float gain = std::ldexp(1.0f, static_cast<int>(e) - 127);
  weight.forward = {weight.words.data(),
                    kBytes * columns,
                    kBytes,
                    weight.ratios.data(),
                    static_cast<int>(columns),
                    1,
                    gain,
                    static_cast<int>(rows),
                    static_cast<int>(columns)};
  weight.backward = {
      weight.words.data(),       kBytes, kBytes * columns,          weight.ratios.data(),  1,
      static_cast<int>(columns), gain,   static_cast<int>(columns), static_cast<int>(rows)};
  if constexpr (kTwoCopies) {
    std::uint8_t* across = weight.words.data() + count * kBytes;
    pack_blocks<S, true><<<dim3(rows, columns), 256, 0, stream>>>(source, exponents.data(), across);
    weight.backward.words = across;
    weight.backward.out_stride = kBytes * rows;
    weight.backward.chunk_stride = kBytes;
  }
  check_cuda(cudaGetLastError(), "pack a weight");
  check_cuda(cudaStreamSynchronize(stream), "pack a weight");
}

}  // namespace

void pack_words(PackedWeight& weight, const float* w, std::int64_t ldw, GemmArch arch,
                cudaStream_t stream) {
  const Source source{w, ldw, static_cast<int>(weight.n), static_cast<int>(weight.k),
                      weight.activation == GemmActivation::swiglu};
  switch (weight.method) {
    case GemmMethod::tf32:
      return pack_with<Tf32>(weight, source, arch, stream);
    case GemmMethod::tf32x3:
      return pack_with<Tf32x3>(weight, source, arch, stream);
    case GemmMethod::bf16:
      return pack_with<Bf16>(weight, source, arch, stream);
    case GemmMethod::bf16x3:
      return pack_with<Bf16x3>(weight, source, arch, stream);
    case GemmMethod::bf16x6:
      return pack_with<Bf16x6>(weight, source, arch, stream);
    case GemmMethod::bf16x9:
      return pack_with<Bf16x9>(weight, source, arch, stream);
    case GemmMethod::fp16:
      return pack_with<Fp16>(weight, source, arch, stream);
    case GemmMethod::fp16x3:
      return pack_with<Fp16x3>(weight, source, arch, stream);
    case GemmMethod::fp32:
    case GemmMethod::size_:
      break;
  }
  throw Error(ErrorCode::usage, "fp32 has no words (nothing to pack), keep the plain weight");
}

void align_rows(const float* x, std::int64_t ldx, std::int64_t m, int cols, int parts, float* out,
                std::int64_t ld_out, cudaStream_t stream) {
  const std::int64_t blocks = (m * ld_out + 255) / 256;
  copy_aligned<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(
      x, ldx, m, cols, parts, out, ld_out);
  check_cuda(cudaGetLastError(), "align the rows of x");
}

}  // namespace trine::cuda
