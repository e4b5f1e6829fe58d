// Weights in a caller's memory, packed again and again: the bits of `pack`, in stream order, inside
// CUDA graphs, and for whichever stream the context works on.
#include "cuda/graph.hpp"
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

class GemmRepack : public MethodTest {};

/// A weight that was placed in memory of its own, full of NaN, with a margin behind it.
struct Placed {
  Workspace memory;
  GemmWeight weight;

  Placed(GemmContext& gemm, GemmMethod method, std::int64_t n, std::int64_t k)
      : memory(gemm.packed_bytes(method, n, k)), weight(gemm.place(method, n, k, memory.data())) {}
};

TEST_P(GemmRepack, HasTheBitsOfPack) {
  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{192, 256}, {7, 5}, {300, 130}}) {
    Placed placed(gemm(), method(), n, k);
    const HostMatrix& bias = normal_matrix(1, n, 9);
    const DeviceMatrix device_bias(bias);
    for (const std::uint64_t seed : {1u, 2u}) {
      const HostMatrix& w = mixed_weight(n, k, seed);
      const DeviceMatrix device_w(w, Layout{5, 0});
      const bool biased = seed == 1;
      gemm().repack(placed.weight, device_w.data(), device_w.stride(),
                    biased ? device_bias.data() : nullptr);
      const GemmWeight packed =
          pack(gemm(), method(), w, GemmActivation::none, biased ? bias.row(0) : nullptr);
      const HostMatrix& x = normal_matrix(150, k, 3);
      const HostMatrix& dy = normal_matrix(150, n, 4);
      EXPECT_TRUE(equal_bits(forward(gemm(), placed.weight, x), forward(gemm(), packed, x)));
      EXPECT_TRUE(equal_bits(backward(gemm(), placed.weight, dy), backward(gemm(), packed, dy)));
    }
    placed.memory.expect_intact();
  }
}

TEST_P(GemmRepack, MayHaveMemoryOfItsOwn) {
  GemmWeight placed = gemm().place(method(), 70, 40);
  const HostMatrix &w = normal_matrix(70, 40, 1), &x = normal_matrix(30, 40, 2);
  const DeviceMatrix device_w(w);
  gemm().repack(placed, device_w.data(), device_w.stride());
  EXPECT_TRUE(
      equal_bits(forward(gemm(), placed, x), forward(gemm(), pack(gemm(), method(), w), x)));
  EXPECT_GE(placed.bytes(), gemm().packed_bytes(method(), 70, 40));
}

TEST_P(GemmRepack, InfAndNanSpreadOverTheirBlockOnly) {
  constexpr std::int64_t kN = 192, kK = 128;
  for (const float bad : {INFINITY, NAN}) {
    HostMatrix w = normal_matrix(kN, kK, 1);
    w(70, 3) = bad;
    const DeviceMatrix device_w(w);
    Placed placed(gemm(), method(), kN, kK);
    gemm().repack(placed.weight, device_w.data(), kK);
    const HostMatrix y = forward(gemm(), placed.weight, normal_matrix(100, kK, 2));
    for (std::int64_t r = 0; r < y.rows; ++r) {
      for (std::int64_t c = 0; c < kN; ++c) {
        ASSERT_EQ(std::isnan(y(r, c)), c / 64 == 1) << "(" << r << ", " << c << ")";
      }
    }
  }
}

TEST_P(GemmRepack, AGraphPacksWhatTheWeightHoldsAtEachReplay) {
  constexpr std::int64_t kN = 192, kK = 256, kRows = 500;
  const Stream stream;
  GemmContext own(0, nullptr, GetParam().kernels);
  own.use_stream(stream.get());
  const DeviceMatrix w(normal_matrix(kN, kK, 1)), x(normal_matrix(kRows, kK, 2)), y(kRows, kN);
  Placed placed(own, method(), kN, kK);
  const Workspace workspace(own, placed.weight, kRows);
  Graph graph(stream.get());
  {  // the weight comes and goes while the graph is captured, its memory stays
    GemmWeight weight = own.place(method(), kN, kK, placed.memory.data());
    own.repack(weight, w.data(), w.stride());
    own.forward(weight, {.m = kRows,
                         .x = x.data(),
                         .ldx = x.stride(),
                         .y = y.data(),
                         .ldy = y.stride(),
                         .workspace = workspace.data()});
  }
  graph.finish();
  for (const std::uint64_t seed : {3u, 4u, 5u}) {
    const HostMatrix& values = normal_matrix(kN, kK, seed);
    overwrite(w, values);
    graph.launch();
    stream.wait();
    const HostMatrix wanted =
        forward(gemm(), pack(gemm(), method(), values), normal_matrix(kRows, kK, 2));
    EXPECT_TRUE(equal_bits(y.download(), wanted)) << "replay " << seed;
  }
}

/// Packing and products that follow each other closely take turns with the same memory.
TEST_P(GemmRepack, ProductsWaitForTheWordsBefore) {
  constexpr std::int64_t kN = 256, kK = 512, kRows = 3000;
  const DeviceMatrix first(normal_matrix(kN, kK, 1)), second(normal_matrix(kN, kK, 2));
  const DeviceMatrix x(normal_matrix(kRows, kK, 3)), y(kRows, kN), z(kRows, kN);
  Placed placed(gemm(), method(), kN, kK);
  const Workspace workspace(gemm(), placed.weight, kRows);
  const auto multiply = [&](const DeviceMatrix& w, const DeviceMatrix& out) {
    gemm().repack(placed.weight, w.data(), w.stride());
    gemm().forward(placed.weight, {.m = kRows,
                                   .x = x.data(),
                                   .ldx = x.stride(),
                                   .y = out.data(),
                                   .ldy = out.stride(),
                                   .workspace = workspace.data()});
  };
  for (int repeat = 0; repeat < 20; ++repeat) multiply(first, y), multiply(second, z);
  const HostMatrix& rows = normal_matrix(kRows, kK, 3);
  const auto wanted = [&](std::uint64_t seed) {
    return forward(gemm(), pack(gemm(), method(), normal_matrix(kN, kK, seed)), rows);
  };
  EXPECT_TRUE(equal_bits(y.download(), wanted(1)));
  EXPECT_TRUE(equal_bits(z.download(), wanted(2)));
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmRepack,
                         ::testing::ValuesIn(with_portable_kernels(tensor_core_methods())),
                         variant_name);

class GemmPlace : public GpuTest {};

TEST_F(GemmPlace, RefusesWhatItCannotHold) {
  GemmContext& gemm = context();
  const Workspace memory(gemm.packed_bytes(GemmMethod::fp16x3, 64, 64));
  auto* const odd = static_cast<char*>(memory.data()) + 16;
  EXPECT_THROW(gemm.place(GemmMethod::fp32, 64, 64, memory.data()), Error);
  EXPECT_THROW(gemm.place(GemmMethod::fp16x3, 64, 64, odd), Error);
  const DeviceMatrix w(normal_matrix(64, 64, 1));
  GemmWeight packed = pack(gemm, GemmMethod::fp16x3, normal_matrix(64, 64, 1));
  EXPECT_THROW(gemm.repack(packed, w.data(), w.stride()), Error);
  GemmWeight placed = gemm.place(GemmMethod::fp16x3, 64, 64, memory.data());
  EXPECT_THROW(gemm.repack(placed, w.data(), 63), Error);
  EXPECT_THROW(gemm.repack(placed, nullptr, 64), Error);
}

}  // namespace
}  // namespace trine::test
