// A call allocates nothing and waits for nothing: it can be captured in a CUDA graph and replayed
// on new numbers in the same memory.
#include "cuda/graph.hpp"
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr std::int64_t kN = 192, kK = 256;

class GemmGraph : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    stream_ = std::make_unique<Stream>();
    own_ = std::make_unique<GemmContext>(0, stream_->get());
  }

  /// Starts y = x w^T, and dx = dy w; matrices without gaps or with them.
  void forward(const GemmWeight& weight, const DeviceMatrix& x, const DeviceMatrix& y,
               const Workspace& workspace) {
    own_->forward(weight, {.m = x.rows(),
                           .x = x.data(),
                           .ldx = x.stride(),
                           .y = y.data(),
                           .ldy = y.stride(),
                           .workspace = workspace.data()});
  }
  void backward(const GemmWeight& weight, const DeviceMatrix& dy, const DeviceMatrix& dx,
                const Workspace& workspace) {
    own_->backward(weight, {.m = dy.rows(),
                            .dy = dy.data(),
                            .ldy = dy.stride(),
                            .dx = dx.data(),
                            .ldx = dx.stride(),
                            .workspace = workspace.data()});
  }

  void replay_is_right(std::int64_t m) {
    const HostMatrix w = normal_matrix(kN, kK, 1);
    const GemmWeight weight = pack(*own_, method(), w);
    const DeviceMatrix x(normal_matrix(m, kK, 2)), y(m, kN), dx(m, kK);
    const Workspace workspace(*own_, weight, m);
    const auto both = [&] {
      forward(weight, x, y, workspace);
      backward(weight, y, dx, workspace);
    };
    Graph graph(stream_->get());
    both();
    graph.finish();
    EXPECT_GE(graph.nodes().size(), 2u);
    for (std::uint64_t seed = 3; seed < 6; ++seed) {
      const HostMatrix input = normal_matrix(m, kK, seed);
      overwrite(x, input);
      graph.launch();
      stream_->wait();
      const HostMatrix graph_y = y.download(), graph_dx = dx.download();
      both();
      EXPECT_TRUE(equal_bits(graph_y, y.download())) << "m=" << m << ", replay " << seed;
      EXPECT_TRUE(equal_bits(graph_dx, dx.download())) << "m=" << m << ", replay " << seed;
    }
  }

  std::unique_ptr<Stream> stream_;
  std::unique_ptr<GemmContext> own_;
};

TEST_P(GemmGraph, ReplaysOnNewNumbers) {
  for (const std::int64_t m : {1, 192, 5000}) replay_is_right(m);
}

TEST_P(GemmGraph, UnalignedCallsAreCapturedToo) {
  constexpr std::int64_t kRows = 300;
  const Layout layout{3, 1};
  const GemmWeight weight = pack(*own_, method(), normal_matrix(kN, kK, 1));
  const DeviceMatrix x(normal_matrix(kRows, kK, 2), layout), y(kRows, kN, layout);
  const Workspace workspace(*own_, weight, kRows);
  Graph graph(stream_->get());
  forward(weight, x, y, workspace);
  graph.finish();
  graph.launch();
  stream_->wait();
  const HostMatrix replayed = y.download();
  forward(weight, x, y, workspace);
  EXPECT_TRUE(equal_bits(replayed, y.download()));
}

// Kernels may start while the one before them ends. Each reads here what the one before wrote, and
// overwrites what that one read.
TEST_P(GemmGraph, ProductsOfAChainKeepTheirOrder) {
  constexpr std::int64_t kWide = 1024, kNarrow = 256;
  const GemmWeight out = pack(*own_, method(), normal_matrix(kWide, kNarrow, 4));
  for (const std::int64_t m : {70, 192, 3000}) {
    const HostMatrix input = normal_matrix(m, kNarrow, 5);
    const DeviceMatrix narrow(input), wide(m, kWide);
    const Workspace workspace(*own_, out, m);
    const auto chain = [&](bool waits) {
      for (int i = 0; i < 4; ++i) {
        forward(out, narrow, wide, workspace);
        if (waits) stream_->wait();
        backward(out, wide, narrow, workspace);
        if (waits) stream_->wait();
      }
    };
    chain(true);
    const HostMatrix wanted = narrow.download();
    Graph graph(stream_->get());
    chain(false);
    graph.finish();
    for (int repeat = 0; repeat < 20; ++repeat) {
      overwrite(narrow, input);
      repeat % 2 ? chain(false) : graph.launch();
      stream_->wait();
      ASSERT_TRUE(equal_bits(narrow.download(), wanted)) << "m=" << m << ", repeat " << repeat;
    }
  }
}

// How much memory is free says nothing where other programs run. A strict capture refuses a call
// that allocates, and an allocation that joins the graph instead is a node of it. Not even the
// first call of a context may: it is captured like the others.
TEST_P(GemmGraph, CallsTakeNoMemory) {
  constexpr std::int64_t kRows = 20000;
  const GemmWeight weight = pack(*own_, method(), normal_matrix(kN, kK, 1));
  const DeviceMatrix x(normal_matrix(kRows, kK, 2)), y(kRows, kN), dx(kRows, kK);
  const Workspace workspace(*own_, weight, kRows);
  Graph graph(stream_->get());
  for (int i = 0; i < 3; ++i) {
    forward(weight, x, y, workspace);
    backward(weight, y, dx, workspace);
    EXPECT_TRUE(graph.is_intact()) << "call " << i << " did what a capture forbids";
  }
  graph.finish();
  for (const cudaGraphNodeType type : graph.nodes()) {
    EXPECT_TRUE(type != cudaGraphNodeTypeMemAlloc && type != cudaGraphNodeTypeMemFree);
  }
}

// That a capture does notice: the test above proves nothing otherwise.
TEST_F(GpuTest, CapturesRefuseToAllocate) {
  const Stream stream;
  Graph graph(stream.get());
  void* memory = nullptr;
  EXPECT_NE(cudaMalloc(&memory, 256), cudaSuccess);
  EXPECT_FALSE(graph.is_intact());
  EXPECT_NE(graph.end(), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmGraph, ::testing::ValuesIn(all_methods()), variant_name);

}  // namespace
}  // namespace trine::test
