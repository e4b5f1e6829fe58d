// Matrices of more than 2^31 elements: the places of their last rows do not fit in 32 bits.
#include <cmath>

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr std::int64_t kRows = 9'000'000, kSize = 256;
constexpr std::int64_t kDistinct =
    997;  ///< rows repeat; prime, so that they meet every place of a tile
constexpr std::size_t kRowBytes = kSize * sizeof(float);
static_assert(kRows * kSize > (std::int64_t{1} << 31));

/// `rows` again and again, all over the device's memory.
void fill(const DeviceBytes& memory, const HostMatrix& rows) {
  const HostMatrix block = repeated(rows, 50 * rows.rows);
  auto* const to = static_cast<char*>(memory.data());
  const std::size_t bytes = block.values.size() * sizeof(float);
  cuda_check(cudaMemcpy(to, block.values.data(), bytes, cudaMemcpyHostToDevice), "upload");
  for (std::size_t at = bytes; at < memory.size(); at += bytes) {
    cuda_check(cudaMemcpyAsync(to + at, to, std::min(bytes, memory.size() - at),
                               cudaMemcpyDeviceToDevice, nullptr),
               "copy");
  }
  cuda_check(cudaDeviceSynchronize(), "copy");
}

/// Rows at both ends, around element 2^31 and, as bytes, around 2^32 and 2^33; and here and there.
std::vector<std::int64_t> sampled() {
  std::vector<std::int64_t> first = {0, kRows - 512};
  for (const int power : {30, 31}) first.push_back((std::int64_t{1} << power) / kSize - 256);
  Random random(1);
  for (int i = 0; i < 20; ++i) first.push_back(random.below(kRows - 512));
  return first;
}

class GemmLarge : public MethodTest {
 protected:
  /// 512 rows at each of the sampled places are those of `wanted`.
  void expect_repeats(const DeviceBytes& memory, const HostMatrix& wanted) {
    for (const std::int64_t first : sampled()) {
      HostMatrix part(512, kSize);
      cuda_check(cudaMemcpy(part.values.data(),
                            static_cast<char*>(memory.data()) + first * std::int64_t{kRowBytes},
                            part.values.size() * sizeof(float), cudaMemcpyDeviceToHost),
                 "download");
      for (std::int64_t r = 0; r < part.rows; ++r) {
        const std::int64_t source = (first + r) % wanted.rows;
        for (std::int64_t c = 0; c < kSize; ++c) {
          ASSERT_TRUE(same(part(r, c), wanted(source, c)))
              << "row " << first + r << ", column " << c << ": " << part(r, c) << " instead of "
              << wanted(source, c);
        }
      }
    }
  }

 private:
  /// cuBLAS may sum in another order when there are more rows.
  bool same(float a, float b) const {
    if (method() == GemmMethod::fp32) return std::abs(a - b) <= 1e-3f;
    return same_bits(a, b);
  }
};

TEST_P(GemmLarge, ForwardAndBackward) {
  std::size_t available = 0, total = 0;
  cuda_check(cudaMemGetInfo(&available, &total), "ask for memory");
  const std::size_t needed = 2 * kRows * kRowBytes + (std::size_t{1} << 30);
  if (available < needed) {
    GTEST_SKIP() << "needs " << (needed >> 30) << " GiB of device memory, " << (available >> 30)
                 << " GiB are free";
  }
  const HostMatrix rows = normal_matrix(kDistinct, kSize, 1);
  const GemmWeight weight = pack(gemm(), method(), normal_matrix(kSize, kSize, 2, 0.0625));
  const HostMatrix wanted_y = forward(gemm(), weight, rows);
  const HostMatrix wanted_dx = backward(gemm(), weight, wanted_y);

  const DeviceBytes x(kRows * kRowBytes), y(kRows * kRowBytes);
  fill(x, rows);
  // Rows are aligned and nothing follows the product: no workspace is needed.
  gemm().forward(weight, {.m = kRows,
                          .x = static_cast<const float*>(x.data()),
                          .ldx = kSize,
                          .y = static_cast<float*>(y.data()),
                          .ldy = kSize});
  cuda_check(cudaDeviceSynchronize(), "forward");
  expect_repeats(y, wanted_y);
  fill(y, wanted_y);
  gemm().backward(weight, {.m = kRows,
                           .dy = static_cast<const float*>(y.data()),
                           .ldy = kSize,
                           .dx = static_cast<float*>(x.data()),
                           .ldx = kSize});
  cuda_check(cudaDeviceSynchronize(), "backward");
  expect_repeats(x, wanted_dx);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmLarge,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);

}  // namespace
}  // namespace trine::test
