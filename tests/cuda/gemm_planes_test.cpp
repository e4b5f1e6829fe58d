// Operands that were split beforehand: nothing but bits is compared, with what the same calls give
// from FP32 operands.
#include <cmath>
#include <optional>

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

/// A matrix in planes, full of 0xff until something fills it, with a margin behind.
class Planes {
 public:
  Planes(const GemmContext& gemm, GemmMethod method, std::int64_t m, std::int64_t cols)
      : cols_(cols), memory_(gemm.planes_bytes(method, m, cols)) {}
  GemmPlanes get() const { return {memory_.data(), cols_}; }
  void expect_intact() const { memory_.expect_intact(); }

 private:
  std::int64_t cols_;
  Workspace memory_;
};

class GemmPlanesTest : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    const GemmSupport support = gemm().supports_planes(method());
    if (!support.supported) GTEST_SKIP() << support.reason;
  }

  Planes planes(std::int64_t m, std::int64_t cols) { return {gemm(), method(), m, cols}; }

  Planes split(const HostMatrix& x, bool gated = false, Layout layout = {}) {
    const DeviceMatrix in(x, layout);
    Planes out = planes(x.rows, x.cols);
    gemm().split(method(), x.rows, in.data(), in.stride(), out.get(), gated);
    cuda_check(cudaDeviceSynchronize(), "split");
    out.expect_intact();
    return out;
  }

  HostMatrix forward_from(const GemmWeight& weight, const Planes& x, std::int64_t m) {
    const DeviceMatrix y(m, weight.n());
    GemmForwardArgs args{.m = m, .y = y.data(), .ldy = y.stride()};
    args.x_planes = x.get();
    gemm().forward(weight, args);
    return y.download();
  }
  HostMatrix backward_from(const GemmWeight& weight, const Planes& dy, std::int64_t m) {
    const DeviceMatrix dx(m, weight.k());
    GemmBackwardArgs args{.m = m, .dx = dx.data(), .ldx = dx.stride()};
    args.dy_planes = dy.get();
    gemm().backward(weight, args);
    return dx.download();
  }

  static HostMatrix rows(std::int64_t m, std::int64_t cols) {
    return repeated(mixed_rows(m > 300 ? 101 : m, cols, 9), m);
  }

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

  /// What a call leaves: y (or dx), pre, statistics.
  struct Results {
    HostMatrix y, pre, statistics;
  };
  enum class Out { plain, planes, both };

  /// A forward call with everything, from FP32 or from planes, into FP32 or planes or both.
  Results run_all(const GemmWeight& weight, const HostMatrix& x, bool x_split, Out out,
                  std::int64_t y_cols, const Planes* y_planes) {
    const std::int64_t m = x.rows, n = weight.n();
    const DeviceMatrix in(x), addend(normal_matrix(m, n, 3)), residual(normal_matrix(m, y_cols, 4));
    const DeviceMatrix pre(m, n), y(m, y_cols), statistics(m, 2 * ((y_cols + 63) / 64));
    std::optional<Planes> x_planes;
    GemmForwardArgs args{.m = m,
                         .addend = addend.data(),
                         .ld_addend = n,
                         .pre = pre.data(),
                         .ld_pre = n,
                         .residual = residual.data(),
                         .ld_residual = y_cols};
    if (y_cols == n) args.row_statistics = statistics.data();
    const Workspace workspace(gemm(), weight, m);
    args.workspace = workspace.data();
    if (x_split) {
      x_planes.emplace(split(x));
      args.x_planes = x_planes->get();
    } else {
      args.x = in.data(), args.ldx = in.stride();
    }
    if (out != Out::planes) args.y = y.data(), args.ldy = y.stride();
    if (out != Out::plain) args.y_planes = y_planes->get();
    gemm().forward(weight, args);
    Results results{y.download(), pre.download(), statistics.download()};
    if (y_planes) y_planes->expect_intact();
    return results;
  }

  void chain_is_right(const GemmShape& s, GemmActivation activation) {
    const std::int64_t y_cols = activation == GemmActivation::swiglu ? s.n / 2 : s.n;
    const HostMatrix x = rows(s.m, s.k), bias = normal_matrix(1, s.n, 5);
    const GemmWeight first =
        pack(gemm(), method(), normal_matrix(s.n, s.k, 1), activation, bias.values.data());
    const GemmWeight second = pack(gemm(), method(), normal_matrix(72, y_cols, 2));
    const Results plain = run_all(first, x, false, Out::plain, y_cols, nullptr);
    const HostMatrix wanted = forward(gemm(), second, plain.y);
    for (const bool x_split : {false, true}) {
      for (const Out out : {Out::planes, Out::both}) {
        const std::string what = "activation " + std::to_string(static_cast<int>(activation)) +
                                 " m=" + std::to_string(s.m) + " n=" + std::to_string(s.n) +
                                 " k=" + std::to_string(s.k) + (x_split ? " from planes" : "") +
                                 (out == Out::both ? " into both" : "");
        const Planes y = planes(s.m, y_cols);
        const Results got = run_all(first, x, x_split, out, y_cols, &y);
        EXPECT_TRUE(equal_bits(got.pre, plain.pre)) << what;
        EXPECT_TRUE(equal_bits(got.statistics, plain.statistics)) << what;
        EXPECT_TRUE(out == Out::planes || equal_bits(got.y, plain.y)) << what;
        EXPECT_TRUE(equal_bits(forward_from(second, y, s.m), wanted)) << what;
      }
    }
  }

  /// dx in planes, read by the backward product of `second`, whose result x was.
  void backward_chain_is_right(std::int64_t m, std::int64_t n, std::int64_t k,
                               GemmActivation activation, bool add) {
    const bool swiglu = activation == GemmActivation::swiglu;
    const std::int64_t width = swiglu ? 2 * k : k;
    const GemmWeight first = pack(gemm(), method(), normal_matrix(n, k, 1));
    const GemmWeight second = pack(gemm(), method(), normal_matrix(width, 40, 2), activation);
    const HostMatrix dy = rows(m, n);
    const DeviceMatrix in(dy), pre(normal_matrix(m, width, 3));
    const Workspace workspace(gemm(), first, m);
    const auto run = [&](bool from_planes, Out out, const Planes* dx_planes) {
      const DeviceMatrix dx(normal_matrix(m, width, 4));
      GemmBackwardArgs args{.m = m, .activation = activation, .add = add};
      args.workspace = workspace.data();
      if (activation != GemmActivation::none) args.pre = pre.data(), args.ld_pre = width;
      const Planes dy_planes = split(dy);
      if (from_planes) {
        args.dy_planes = dy_planes.get();
      } else {
        args.dy = in.data(), args.ldy = n;
      }
      if (out != Out::planes || add) args.dx = dx.data(), args.ldx = width;
      if (dx_planes) args.dx_planes = dx_planes->get();
      gemm().backward(first, args);
      return dx.download();
    };
    const HostMatrix plain = run(false, Out::plain, nullptr);
    const HostMatrix wanted = backward(gemm(), second, plain);
    EXPECT_TRUE(equal_bits(backward_from(second, split(plain, swiglu), m), wanted)) << "split";
    for (const bool from_planes : {false, true}) {
      for (const Out out : {Out::planes, Out::both}) {
        const std::string what = "activation " + std::to_string(static_cast<int>(activation)) +
                                 " m=" + std::to_string(m) + " n=" + std::to_string(n) +
                                 " k=" + std::to_string(k) + (from_planes ? " from planes" : "") +
                                 (out == Out::both ? " into both" : "");
        const Planes dx_planes = planes(m, width);
        const HostMatrix dx = run(from_planes, out, &dx_planes);
        dx_planes.expect_intact();
        EXPECT_TRUE((out == Out::planes && !add) || equal_bits(dx, plain)) << what;
        EXPECT_TRUE(equal_bits(backward_from(second, dx_planes, m), wanted)) << what;
      }
    }
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

TEST_P(GemmPlanesTest, SmallChains) {
  for (const GemmShape& s : {GemmShape{70, 128, 64}, {33, 40, 96}, {65, 130, 50}, {1, 2, 3}}) {
    chain_is_right(s, GemmActivation::none);
    chain_is_right(s, GemmActivation::silu);
    chain_is_right(s, GemmActivation::swiglu);
  }
}
TEST_P(GemmPlanesTest, LargeChains) {
  for (const GemmShape& s : {GemmShape{13000, 512, 256}, {4200, 512, 320}, {3001, 1024, 128}}) {
    chain_is_right(s, GemmActivation::silu);
    chain_is_right(s, GemmActivation::swiglu);
  }
}

TEST_P(GemmPlanesTest, SmallBackwardChains) {
  for (const GemmShape& s : {GemmShape{70, 128, 64}, {33, 40, 96}, {65, 130, 50}, {1, 2, 3}}) {
    backward_chain_is_right(s.m, s.n, s.k, GemmActivation::none, false);
    backward_chain_is_right(s.m, s.n, s.k, GemmActivation::none, true);
    backward_chain_is_right(s.m, s.n, s.k, GemmActivation::silu, false);
    backward_chain_is_right(s.m, s.n, s.k, GemmActivation::swiglu, false);
  }
}
TEST_P(GemmPlanesTest, LargeBackwardChains) {
  backward_chain_is_right(13000, 256, 512, GemmActivation::swiglu, false);
  backward_chain_is_right(13000, 320, 512, GemmActivation::none, true);
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
