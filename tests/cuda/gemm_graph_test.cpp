// A call allocates nothing and waits for nothing: it can be captured in a CUDA graph and replayed
// on new numbers in the same memory.
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr std::int64_t kN = 192, kK = 256;

class Graph {
 public:
  explicit Graph(cudaStream_t stream) : stream_(stream) {
    // Strict about everything in this thread, such as cudaMalloc.
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin a capture");
  }
  Graph(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void finish() {
    cuda_check(cudaStreamEndCapture(stream_, &graph_), "end a capture");
    cuda_check(cudaGraphInstantiate(&executable_, graph_, 0), "instantiate a graph");
  }
  std::size_t nodes() const {
    std::size_t count = 0;
    cuda_check(cudaGraphGetNodes(graph_, nullptr, &count), "count nodes");
    return count;
  }
  void launch() const { cuda_check(cudaGraphLaunch(executable_, stream_), "launch a graph"); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

void overwrite(const DeviceMatrix& matrix, const HostMatrix& values) {
  cuda_check(cudaMemcpy(matrix.data(), values.values.data(), values.values.size() * sizeof(float),
                        cudaMemcpyHostToDevice),
             "upload");
  cuda_check(cudaDeviceSynchronize(), "upload");
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  cuda_check(cudaDeviceSynchronize(), "work on the device");
  cuda_check(cudaMemGetInfo(&free, &total), "ask for memory");
  return free;
}

class GemmGraph : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    stream_ = std::make_unique<Stream>();
    own_ = std::make_unique<GemmContext>(0, stream_->get());
  }

  void replay_is_right(std::int64_t m) {
    const HostMatrix w = normal_matrix(kN, kK, 1);
    const GemmWeight weight = pack(*own_, method(), w);
    const DeviceMatrix x(normal_matrix(m, kK, 2)), y(m, kN), dx(m, kK);
    const Workspace workspace(*own_, weight, m);
    const auto both = [&] {
      own_->forward(weight, {.m = m,
                             .x = x.data(),
                             .ldx = kK,
                             .y = y.data(),
                             .ldy = kN,
                             .workspace = workspace.data()});
      own_->backward(weight, {.m = m,
                              .dy = y.data(),
                              .ldy = kN,
                              .dx = dx.data(),
                              .ldx = kK,
                              .workspace = workspace.data()});
    };
    Graph graph(stream_->get());
    both();
    graph.finish();
    EXPECT_GE(graph.nodes(), 2u);
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
  const GemmForwardArgs args{.m = kRows,
                             .x = x.data(),
                             .ldx = x.stride(),
                             .y = y.data(),
                             .ldy = y.stride(),
                             .workspace = workspace.data()};
  Graph graph(stream_->get());
  own_->forward(weight, args);
  graph.finish();
  graph.launch();
  stream_->wait();
  const HostMatrix replayed = y.download();
  own_->forward(weight, args);
  EXPECT_TRUE(equal_bits(replayed, y.download()));
}

TEST_P(GemmGraph, CallsTakeNoMemory) {
  constexpr std::int64_t kRows = 20000;
  const GemmWeight weight = pack(*own_, method(), normal_matrix(kN, kK, 1));
  const DeviceMatrix x(normal_matrix(kRows, kK, 2)), y(kRows, kN);
  const Workspace workspace(*own_, weight, kRows);
  const GemmForwardArgs args{.m = kRows,
                             .x = x.data(),
                             .ldx = kK,
                             .y = y.data(),
                             .ldy = kN,
                             .workspace = workspace.data()};
  own_->forward(weight, args);  // the first launch of a kernel may load its code
  const std::size_t before = free_memory();
  for (int i = 0; i < 10; ++i) own_->forward(weight, args);
  EXPECT_EQ(free_memory(), before);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmGraph, ::testing::ValuesIn(all_methods()), variant_name);

}  // namespace
}  // namespace trine::test
