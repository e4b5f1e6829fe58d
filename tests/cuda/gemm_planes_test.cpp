// Operands that were split beforehand: nothing but bits is compared, with what the same calls give
// from FP32 operands.
#include <cmath>

#include "cuda/planes.hpp"

namespace trine::test {
namespace {

class GemmPlanesTest : public PlanesTest {
 protected:
  void expect_equal(const GemmShape& s) {
    const std::string what =
        "m=" + std::to_string(s.m) + " n=" + std::to_string(s.n) + " k=" + std::to_string(s.k);
    const GemmWeight weight = pack(gemm(), method(), mixed_weight(s.n, s.k, 7));
    const HostMatrix x = rows(s.m, s.k), dy = rows(s.m, s.n);
    EXPECT_TRUE(equal_bits(forward_from(weight, split(x), s.m), forward(gemm(), weight, x)))
        << what << ", forward";
    EXPECT_TRUE(equal_bits(backward_from(weight, split(dy), s.m), backward(gemm(), weight, dy)))
        << what << ", backward";
  }

  void expect_refused(ErrorCode code, const char* what, const auto& call) {
    try {
      call();
      ADD_FAILURE() << what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << what << ": " << error.what();
    }
  }
};

constexpr GemmShape kSmall[] = {{1, 1, 1},      {9, 64, 64},    {63, 30, 64},    {65, 96, 30},
                                {129, 30, 128}, {20, 200, 200}, {300, 320, 256}, {129, 256, 320},
                                {33, 2048, 64}, {65, 64, 2048}};
// Enough tiles for the kernels that keep the weight, and for those that stream it.
constexpr GemmShape kLarge[] = {
    {17281, 128, 256}, {9001, 256, 768}, {30001, 64, 192}, {5003, 320, 640}};

TEST_P(GemmPlanesTest, SmallProductsEqualThoseOfFp32) {
  for (const GemmShape& s : kSmall) expect_equal(s);
}
TEST_P(GemmPlanesTest, LargeProductsEqualThoseOfFp32) {
  for (const GemmShape& s : kLarge) expect_equal(s);
}

TEST_P(GemmPlanesTest, SmallGatedBackward) {
  for (const GemmShape& s : {GemmShape{65, 64, 64}, {130, 128, 96}, {33, 20, 64}, {70, 200, 128}}) {
    const GemmWeight weight =
        pack(gemm(), method(), mixed_weight(s.n, s.k, 7), GemmActivation::swiglu);
    const HostMatrix dy = rows(s.m, s.n);
    EXPECT_TRUE(
        equal_bits(backward_from(weight, split(dy, true), s.m), backward(gemm(), weight, dy)))
        << s.m << " " << s.n;
  }
}

TEST_P(GemmPlanesTest, SmallLayoutsOfSplitsDoNotMatter) {
  const HostMatrix x = mixed_rows(70, 104, 8);
  const GemmWeight weight = pack(gemm(), method(), mixed_weight(50, 104, 7));
  const GemmWeight gated = pack(gemm(), method(), mixed_weight(104, 50, 7), GemmActivation::swiglu);
  const HostMatrix y = forward(gemm(), weight, x), dx = backward(gemm(), gated, x);
  for (const Layout layout : {Layout{4, 0}, Layout{64, 4}, Layout{1, 0}, Layout{3, 1}}) {
    EXPECT_TRUE(equal_bits(forward_from(weight, split(x, false, layout), 70), y)) << layout.gap;
    EXPECT_TRUE(equal_bits(backward_from(gated, split(x, true, layout), 70), dx)) << layout.gap;
  }
}

TEST_P(GemmPlanesTest, SmallBadRowsStayAlone) {
  constexpr std::int64_t kM = 150, kN = 192, kK = 256;
  const GemmWeight weight = pack(gemm(), method(), normal_matrix(kN, kK, 1));
  const GemmWeight next = pack(gemm(), method(), normal_matrix(40, kN, 2));
  const HostMatrix x = normal_matrix(kM, kK, 3);
  HostMatrix wanted = forward(gemm(), next, forward(gemm(), weight, x)), bad = x;
  for (const std::int64_t r : {70, 71, 149}) {
    bad(r, (r * 37) % kK) = r == 70 ? INFINITY : NAN;
    std::fill_n(wanted.row(r), wanted.cols, NAN);
  }
  gemm().first_bad_row();
  const Planes in = split(bad), out = planes(kM, kN);
  GemmForwardArgs args{.m = kM};
  args.x_planes = in.get();
  args.y_planes = out.get();
  gemm().forward(weight, args);
  EXPECT_EQ(gemm().first_bad_row(), 70);
  EXPECT_TRUE(equal_bits(forward_from(next, out, kM), wanted));
  EXPECT_EQ(gemm().first_bad_row(), 70);
}

TEST_P(GemmPlanesTest, SmallNoRowsAreNoWork) {
  EXPECT_EQ(gemm().planes_bytes(method(), 0, 64), 0u);
  const GemmWeight weight = pack(gemm(), method(), normal_matrix(64, 32, 1));
  gemm().split(method(), 0, nullptr, 32, {nullptr, 32});
  gemm().forward(weight, {.m = 0});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_P(GemmPlanesTest, SmallChainsAreCaptured) {
  constexpr std::int64_t kM = 300, kN = 192, kK = 256;
  const Stream stream;
  GemmContext own(0, stream.get());
  const GemmWeight weight = pack(own, method(), normal_matrix(kN, kK, 1));
  const DeviceMatrix x(normal_matrix(kM, kK, 2)), y(kM, kN), dx(kM, kK);
  const Planes in = planes(kM, kK), out = planes(kM, kN);
  const auto chain = [&] {
    own.split(method(), kM, x.data(), kK, in.get());
    GemmForwardArgs first{.m = kM, .y = y.data(), .ldy = kN};
    first.x_planes = in.get();
    first.y_planes = out.get();
    own.forward(weight, first);
    GemmBackwardArgs second{.m = kM, .dx = dx.data(), .ldx = kK};
    second.dy_planes = out.get();
    own.backward(weight, second);
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda_check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "capture");
  chain();
  cuda_check(cudaStreamEndCapture(stream.get(), &graph), "end a capture");
  cuda_check(cudaGraphInstantiate(&executable, graph, 0), "instantiate a graph");
  cuda_check(cudaGraphLaunch(executable, stream.get()), "launch a graph");
  stream.wait();
  const HostMatrix replayed_y = y.download(), replayed_dx = dx.download();
  chain();
  stream.wait();
  EXPECT_TRUE(equal_bits(replayed_y, y.download()));
  EXPECT_TRUE(equal_bits(replayed_dx, dx.download()));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_P(GemmPlanesTest, SmallBadCalls) {
  constexpr std::int64_t kM = 5, kN = 64, kK = 32;
  const GemmWeight weight = pack(gemm(), method(), HostMatrix(kN, kK, 1));
  const DeviceMatrix x(HostMatrix(kM, kK, 1.0f)), y(kM, kN);
  const Planes in = split(HostMatrix(kM, kK, 1));
  const auto refused = [&](ErrorCode code, const char* what, const auto& spoil) {
    GemmForwardArgs args{.m = kM, .y = y.data(), .ldy = kN};
    args.x_planes = in.get();
    spoil(args);
    expect_refused(code, what, [&] { gemm().forward(weight, args); });
  };
  refused(ErrorCode::usage, "two operands", [&](auto& a) { a.x = x.data(), a.ldx = kK; });
  refused(ErrorCode::usage, "other columns", [](auto& a) { a.x_planes.cols = kN; });
  refused(ErrorCode::usage, "unaligned planes",
          [](auto& a) { a.x_planes.data = static_cast<char*>(a.x_planes.data) + 16; });
  refused(ErrorCode::usage, "no result", [](auto& a) { a.y = nullptr; });
  expect_refused(ErrorCode::usage, "a split of nothing",
                 [&] { gemm().split(method(), kM, nullptr, kK, in.get()); });
  expect_refused(ErrorCode::usage, "odd gated columns", [&] {
    gemm().split(method(), kM, x.data(), kK, {in.get().data, 31}, true);
  });
  GemmContext& portable = context(GemmKernels::portable);
  EXPECT_FALSE(portable.supports_planes(method()).supported);
  expect_refused(ErrorCode::not_supported, "portable kernels",
                 [&] { portable.split(method(), kM, x.data(), kK, in.get()); });
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmPlanesTest, ::testing::ValuesIn(tensor_core_methods()),
                         variant_name);

class GemmWithoutPlanes : public MethodTest {};

TEST_P(GemmWithoutPlanes, SmallCallsAreRefused) {
  const GemmSupport support = gemm().supports_planes(method());
  if (support.supported) GTEST_SKIP() << "has planes";
  EXPECT_FALSE(support.reason.empty());
  const GemmWeight weight = pack(gemm(), method(), HostMatrix(64, 32, 1));
  const DeviceMatrix x(HostMatrix(5, 32, 1.0f)), y(5, 64);
  GemmForwardArgs args{.m = 5, .x = x.data(), .ldx = 32, .y = y.data(), .ldy = 64};
  args.y_planes = {x.data(), 64};
  for (const auto& call :
       {+[](GemmContext&g, const GemmWeight&w, const GemmForwardArgs&a) { g.forward(w, a); },
        +[](GemmContext&g, const GemmWeight&w, const GemmForwardArgs&) {
          static_cast<void>(g.planes_bytes(w.method(), 5, 32));
        }}) {
    try {
      call(gemm(), weight, args);
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_supported) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmWithoutPlanes,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);

}  // namespace
}  // namespace trine::test
