#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "cuda/benchmark/checker.hpp"
#include "cuda/benchmark/nvml.hpp"
#include "cuda/benchmark/timer.hpp"
#include "cuda/gemm/blas_library.hpp"
#include "trine/gemm_benchmark.hpp"

namespace trine {

using benchmark::Checker;
using benchmark::cuda_check;
using benchmark::DeviceArray;
using benchmark::Distribution;
using benchmark::Nvml;
using benchmark::Stream;
using benchmark::Timer;

namespace {

std::string bus_id_of(int device) {
  std::array<char, 64> text{};
  cuda_check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
             "finding the device");
  return text.data();
}

std::string dotted(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void check_case(const GemmBenchmarkCase& product) {
  const auto& [m, n, k] = product.shape;
  check(m > 0 && n > 0 && k > 0, ErrorCode::usage,
        "a product of {} x {} x {} cannot be timed (it is empty), give three numbers above 0", m, n,
        k);
}

/// Memory that all methods share, since they take turns. The check of every method comes before the
/// first graph, so that it does not grow, and move, once a graph knows its address.
class Workspace {
 public:
  void* at_least(std::size_t bytes) {
    if (!memory_ || static_cast<std::size_t>(memory_->size()) < bytes) {
      memory_.reset();
      memory_ = std::make_unique<DeviceArray<std::byte>>(static_cast<std::int64_t>(bytes));
    }
    return memory_->data();
  }

 private:
  std::unique_ptr<DeviceArray<std::byte>> memory_;
};

/// One method, bound to the operands of a checker.
class Product {
 public:
  Product(GemmContext& context, GemmMethod method, const Checker& operands, Workspace& workspace)
      : context_(context),
        operands_(operands),
        weight_(context.pack(method, operands.w(), operands.product().shape.k,
                             operands.product().shape.n, operands.product().shape.k)),
        workspace_(workspace),
        workspace_bytes_(std::max<std::size_t>(1, context.workspace_bytes(weight_, rows()))) {}

  void launch() {
    const GemmBenchmarkCase& p = operands_.product();
    if (p.direction == GemmDirection::forward) {
      GemmForwardArgs args;
      args.m = rows();
      args.x = operands_.x();
      args.ldx = p.inner();
      args.y = operands_.y();
      args.ldy = p.outputs();
      args.workspace = workspace_.at_least(workspace_bytes_);
      context_.forward(weight_, args);
    } else {
      GemmBackwardArgs args;
      args.m = rows();
      args.dy = operands_.x();
      args.ldy = p.inner();
      args.dx = operands_.y();
      args.ldx = p.outputs();
      args.workspace = workspace_.at_least(workspace_bytes_);
      context_.backward(weight_, args);
    }
  }

 private:
  std::int64_t rows() const { return operands_.product().shape.m; }

  GemmContext& context_;
  const Checker& operands_;
  GemmWeight weight_;
  Workspace& workspace_;
  std::size_t workspace_bytes_;
};

/// Calls body(); an error of it becomes the figure's reason.
template <class Body>
void attempt(GemmBenchmarkFigure& figure, Body&& body) {
  if (!figure.reason.empty()) return;
  try {
    body();
  } catch (const Error& error) {
    figure.reason = error.what();
  }
}

}  // namespace

struct GemmBenchmark::Impl {
  explicit Impl(const GemmBenchmarkOptions& wanted);
  std::vector<GemmBenchmarkFigure> start_figures(const GemmBenchmarkCase& product) const;
  void check_errors(Checker& operands, std::vector<GemmBenchmarkFigure>& figures);
  void measure_times(Checker& operands, std::vector<GemmBenchmarkFigure>& figures);

  GemmBenchmarkOptions options;
  Stream stream;
  GemmContext context;
  Nvml nvml;
  Workspace workspace;
};

GemmBenchmark::Impl::Impl(const GemmBenchmarkOptions& wanted)
    : options(wanted),
      stream((cuda_check(cudaSetDevice(wanted.device), "choosing the device"),
              benchmark::make_stream())),
      context(wanted.device, stream.get()),
      nvml(bus_id_of(wanted.device)) {
  check(options.seconds > 0 && options.windows > 0 && options.check_rows > 0, ErrorCode::usage,
        "nothing to measure ({} seconds, {} windows, {} rows), give numbers above 0",
        options.seconds, options.windows, options.check_rows);
  auto& methods = options.methods;
  methods.erase(std::remove(methods.begin(), methods.end(), GemmMethod::fp32), methods.end());
  methods.insert(methods.begin(), GemmMethod::fp32);
}

std::vector<GemmBenchmarkFigure> GemmBenchmark::Impl::start_figures(
    const GemmBenchmarkCase& product) const {
  std::vector<GemmBenchmarkFigure> figures;
  for (const GemmMethod method : options.methods) {
    auto& figure = figures.emplace_back();
    figure.method = method;
    figure.bound = gemm_error_bound(method, context.arch(), product.inner());
    const GemmSupport support = context.supports(method, product.shape);
    if (!support.supported) figure.reason = support.reason;
  }
  return figures;
}

void GemmBenchmark::Impl::check_errors(Checker& operands,
                                       std::vector<GemmBenchmarkFigure>& figures) {
  for (const auto distribution : {Distribution::same_sign, Distribution::normal}) {
    operands.set_operands(distribution, options.seed);
    const bool normal = distribution == Distribution::normal;
    for (auto& figure : figures) {
      attempt(figure, [&] {
        Product product(context, figure.method, operands, workspace);
        (normal ? figure.normal : figure.same_sign) = operands.check([&] { product.launch(); });
      });
    }
  }
}

void GemmBenchmark::Impl::measure_times(Checker& operands,
                                        std::vector<GemmBenchmarkFigure>& figures) {
  const double window = options.seconds / options.windows;
  std::vector<std::unique_ptr<Product>> products(figures.size());
  std::vector<std::unique_ptr<Timer>> timers(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    attempt(figures[i], [&] {
      products[i] = std::make_unique<Product>(context, figures[i].method, operands, workspace);
      timers[i] = std::make_unique<Timer>([product = products[i].get()] { product->launch(); },
                                          window, options.graph, stream.get());
    });
  }
  for (int round = 0; round < options.windows; ++round) {
    for (std::size_t i = 0; i < figures.size(); ++i) {
      attempt(figures[i], [&] { timers[i]->run_window(nvml); });
    }
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    attempt(figures[i], [&] { timers[i]->report(figures[i]); });
  }
}

GemmBenchmark::GemmBenchmark(const GemmBenchmarkOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
GemmBenchmark::GemmBenchmark(GemmBenchmark&&) noexcept = default;
GemmBenchmark::~GemmBenchmark() = default;

std::string GemmBenchmark::device_name() const {
  return impl_->context.device_name();
}

int GemmBenchmark::capability() const {
  return impl_->context.capability();
}

std::string GemmBenchmark::driver() const {
  if (const auto version = impl_->nvml.driver()) return *version;
  int version = 0;
  cuda_check(cudaDriverGetVersion(&version), "reading the driver's version");
  return "for CUDA " + dotted(version);
}

std::string GemmBenchmark::toolkit() const {
  int runtime = 0, major = 0, minor = 0;
  cuda_check(cudaRuntimeGetVersion(&runtime), "reading the runtime's version");
  cuda::blas().cublasGetProperty(MAJOR_VERSION, &major);
  cuda::blas().cublasGetProperty(MINOR_VERSION, &minor);
  return fmt::format("CUDA {}, cuBLAS {}.{}", dotted(runtime), major, minor);
}

std::optional<int> GemmBenchmark::sm_clock_mhz() const {
  return impl_->nvml.sm_clock_mhz();
}

GemmMethod GemmBenchmark::choose(const GemmShape& shape) const {
  return impl_->context.choose(shape);
}

std::vector<GemmBenchmarkFigure> GemmBenchmark::run(const GemmBenchmarkCase& product) {
  check_case(product);
  Checker operands(product, impl_->options.check_rows, impl_->stream.get());
  auto figures = impl_->start_figures(product);
  impl_->check_errors(operands, figures);
  impl_->measure_times(operands, figures);
  return figures;
}

}  // namespace trine
