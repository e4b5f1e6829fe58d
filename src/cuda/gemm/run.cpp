// Forward and backward calls: from the caller's arguments to one product and its epilogue.
#include <algorithm>

#include "base/check.hpp"
#include "cuda/gemm/context.hpp"
#include "cuda/gemm/launch.hpp"
#include "cuda/gemm/pack.hpp"
#include "cuda/gemm/planes.hpp"

namespace trine {
namespace {

using namespace cuda;

/// Rows that one launch takes: coordinates of the copy engine have 32 bits.
constexpr std::int64_t kRowsPerLaunch = std::int64_t{1} << 30;
/// Beyond so many rows, or with a shorter inner dimension, nothing is split beforehand.
constexpr std::int64_t kFewRows = 512, kManyChunks = 32;

bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

template <class T>
DeviceMatrix<T> matrix(T* data, std::int64_t stride) {
  return {data, stride, stride % 4 == 0 && is_aligned(data)};
}

template <class T>
void advance(DeviceMatrix<T>& matrix, std::int64_t rows) {
  if (matrix.data) matrix.data += rows * matrix.stride;
}

/// How far tiles are whole (EpilogueArgs::whole_columns), in packed columns of the product.
int whole_columns(const EpilogueArgs& args, EpilogueKind kind) {
  const auto wide = [](const auto& matrix) { return !matrix.data || matrix.wide; };
  if (!wide(args.addend) || !wide(args.pre) || !wide(args.residual) || !wide(args.y) ||
      !wide(args.before)) {
    return 0;
  }
  if (kind == EpilogueKind::linear) return args.n;
  if (kind == EpilogueKind::swiglu_backward) return args.n % 4 == 0 ? args.n : 0;
  const int half = args.n / 2;
  return half % 4 == 0 ? half / 32 * 64 : 0;
}

/// Is there nothing but a bias?
bool is_bare(const EpilogueArgs& args) {
  return !args.silu && !args.addend.data && !args.pre.data && !args.residual.data &&
         !args.before.data && !args.statistics;
}

/// The kind that names all that follows the product, if there is one and it can be had.
EpilogueKind narrow(EpilogueKind kind, const EpilogueArgs& args) {
  if (args.n % 64 != 0 || args.whole_columns < args.n || args.statistics || args.planes.words) {
    return kind;
  }
  const bool addend = args.addend.data, residual = args.residual.data, before = args.before.data;
  if (kind == EpilogueKind::swiglu) return addend || residual ? kind : EpilogueKind::swiglu_alone;
  if (kind == EpilogueKind::swiglu_backward) return EpilogueKind::swiglu_backward_alone;
  if (args.silu) {
    return residual || before ? kind : addend ? EpilogueKind::addend_silu : EpilogueKind::silu;
  }
  if (args.pre.data) return kind;
  if (before) return addend || residual ? kind : EpilogueKind::silu_backward;
  if (!residual) return kind;
  return addend ? EpilogueKind::addend_residual : EpilogueKind::residual;
}

/// The epilogue's arrays from row `rows` on.
void advance(EpilogueArgs& args, std::int64_t rows) {
  args.first_row += rows;
  advance(args.addend, rows);
  advance(args.pre, rows);
  advance(args.residual, rows);
  advance(args.y, rows);
  advance(args.before, rows);
  if (args.statistics) args.statistics += 2 * rows * ((args.n + 63) / 64);
  if (args.planes.words) args.planes = advanced(args.planes, rows);
}

/// x, or a copy of it in the workspace if its rows do not start at multiples of 16 bytes.
LeftOperand align(const float* x, std::int64_t ldx, std::int64_t m, int cols, int parts,
                  void* workspace, cudaStream_t stream) {
  LeftOperand left{x, ldx, cols, parts, cols};
  if (is_aligned(x) && ldx % 4 == 0 && (parts == 1 || cols % 4 == 0)) return left;
  check(workspace, ErrorCode::usage,
        "x needs a workspace (its rows do not start at multiples of 16 bytes), give one of "
        "workspace_bytes() or align x");
  left.x = static_cast<const float*>(workspace);
  left.part_stride = (cols + 3) / 4 * 4;
  left.stride = parts * left.part_stride;
  align_rows(x, ldx, m, cols, parts, static_cast<float*>(workspace), left.stride, stream);
  return left;
}

}  // namespace

void cuda::need_rows(const float* data, std::int64_t stride, std::int64_t columns,
                     const char* name) {
  check(
      !data || stride >= columns, ErrorCode::usage,
      "rows of {} have {} numbers but lie {} apart (they overlap), give a larger leading dimension",
      name, columns, stride);
}

std::size_t GemmContext::Impl::splitting_bytes(const PackedWeight& weight, std::int64_t m) const {
  const std::int64_t columns = std::max(weight.k, weight.n);
  if (m <= 0 || m > kFewRows || columns < kManyChunks * kBlock) return 0;
  if (!planes_support(weight.method).supported) return 0;
  return cuda::planes_bytes(describe_planes(weight.method, m, {nullptr, columns}));
}

GemmPlanes GemmContext::Impl::split_beforehand(const PackedWeight& weight, Direction direction,
                                               const Operand& x, std::int64_t m, EpilogueKind kind,
                                               void* workspace) const {
  const bool forward = direction == Direction::forward;
  const PackedOperand& w = forward ? weight.forward : weight.backward;
  if (!workspace || w.chunks < kManyChunks || splitting_bytes(weight, m) == 0) return {};
  const KernelsByTile direct = find_kernels(weight.method, family, direction, kind),
                      split = find_planes_kernels(weight.method, {true, false}, direction, kind);
  const double later = choose_tile(split, m, w, multiprocessors).microseconds;
  if (splitting_time(m, w) + later > choose_tile(direct, m, w, multiprocessors).microseconds) {
    return {};
  }
  const GemmPlanes planes{workspace, forward ? weight.k : weight.n};
  const bool gated = !forward && weight.swiglu();
  const std::int64_t part = gated ? planes.cols / 2 : 4;
  split_rows(weight.method,
             {x.x, x.ldx, m, static_cast<int>(planes.cols), gated,
              is_aligned(x.x) && x.ldx % 4 == 0 && part % 4 == 0},
             describe_planes(weight.method, m, planes), multiprocessors, stream);
  return planes;
}

void GemmContext::Impl::run(const PackedWeight& weight, Direction direction, const Operand& x,
                            std::int64_t m, EpilogueKind kind, EpilogueArgs args, void* workspace) {
  if (m == 0) return;
  const CurrentDevice current(device);
  args.bad_row = bad_row.data();
  if (weight.method == GemmMethod::fp32) {
    args.m = m;
    args.gain = 1;
    return run_plain(weight, direction, x.x, x.ldx, m, kind, args, workspace);
  }
  if (!x.planes.data && !args.planes.words) {
    const GemmPlanes planes = split_beforehand(weight, direction, x, m, kind, workspace);
    if (planes.data) return run(weight, direction, {nullptr, 0, planes}, m, kind, args, nullptr);
  }
  const bool forward = direction == Direction::forward;
  const bool halves = !forward && weight.swiglu();
  const auto inner = static_cast<int>(forward ? weight.k : halves ? weight.n / 2 : weight.n);
  const Form form{x.planes.data != nullptr, args.planes.words != nullptr};
  const SplitOperand split = describe_planes(weight.method, m, x.planes);
  PackedOperand w = forward ? weight.forward : weight.backward;
  if (form.planes_in) w.chunks = split.slices / split.slices_per_chunk;  // the rest are zeros
  args.gain = w.gain;
  args.whole_columns = whole_columns(args, kind);
  const bool hopper = family == KernelFamily::sm90;
  args.staged = hopper && kind == EpilogueKind::linear && args.y.wide && !form.planes_out;
  if (args.staged && is_bare(args)) kind = EpilogueKind::bare;
  if (hopper && !form.planes_in && weight.method == GemmMethod::fp16x3) kind = narrow(kind, args);
  if (kind != general(kind)) {
    args.staged = args.pre_staged = true;
    if (kind == EpilogueKind::swiglu_alone) args.staged_columns = args.n / 2;
    if (kind == EpilogueKind::swiglu_backward_alone) args.staged_columns = 2 * args.n;
  }
  const KernelsByTile kernels = form.planes_in || form.planes_out
                                    ? find_planes_kernels(weight.method, form, direction, kind)
                                    : find_kernels(weight.method, family, direction, kind);
  for (std::int64_t first = 0; first < m; first += args.m) {
    args.m = rows_at_once(kernels, std::min(kRowsPerLaunch, m - first), w, multiprocessors);
    const TileChoice tile = choose_tile(kernels, args.m, w, multiprocessors);
    const Kernel& kernel = kernels[static_cast<std::size_t>(tile.kind)];
    if (form.planes_in) {
      launch(kernel, advanced(split, first), args.m, w, args, multiprocessors, stream);
    } else {
      const LeftOperand left =
          align(x.x + first * x.ldx, x.ldx, args.m, inner, halves ? 2 : 1, workspace, stream);
      launch(kernel, family, left, args.m, w, args, multiprocessors, stream);
    }
    advance(args, args.m);
  }
}

void GemmContext::Impl::run_plain(const PackedWeight& weight, Direction direction, const float* x,
                                  std::int64_t ldx, std::int64_t m, EpilogueKind kind,
                                  const EpilogueArgs& args, void* workspace) {
  const bool bare = kind == EpilogueKind::linear && !args.bias && is_bare(args);
  float* z = bare ? args.y.data : static_cast<float*>(workspace);
  const std::int64_t ldz = bare ? args.y.stride : args.n;
  check(z, ErrorCode::usage,
        "fp32 needs a workspace (something follows the product), give one of workspace_bytes()");
  plain->multiply(direction, m, weight.n, weight.k, x, ldx, weight.plain.data(), z, ldz);
  if (!bare) run_epilogue(kind, z, ldz, args, stream);
}

namespace {

void check_operands(std::int64_t m, const float* x, const GemmPlanes& x_planes, const float* y,
                    const GemmPlanes& y_planes) {
  check(m >= 0, ErrorCode::usage, "the number of rows is negative ({}), give at least 0", m);
  if (m == 0) return;
  check((x != nullptr) != (x_planes.data != nullptr), ErrorCode::usage,
        "a product reads one matrix (FP32 or planes), give one of the two");
  check(y || y_planes.data, ErrorCode::usage,
        "a product needs a place for its result (FP32, planes or both), give one");
}

}  // namespace

void GemmContext::forward(const GemmWeight& weight, const GemmForwardArgs& a) {
  const auto& w = *weight.impl_;
  const std::int64_t out = w.swiglu() ? w.n / 2 : w.n;
  check_operands(a.m, a.x, a.x_planes, a.y, a.y_planes);
  impl_->check_planes(w.method, a.m, a.x_planes, w.k, "x");
  impl_->check_planes(w.method, a.m, a.y_planes, out, "y");
  need_rows(a.x, a.ldx, w.k, "x");
  need_rows(a.addend, a.ld_addend, w.n, "addend");
  need_rows(a.pre, a.ld_pre, w.n, "pre");
  need_rows(a.residual, a.ld_residual, out, "residual");
  need_rows(a.y, a.ldy, out, "y");
  check(!a.row_statistics || !w.swiglu(), ErrorCode::not_supported,
        "swiglu has no row statistics (nothing reads them), compute them from y");
  EpilogueArgs args;
  args.n = static_cast<int>(w.n);
  args.silu = w.activation == GemmActivation::silu;
  args.bias = w.bias;
  args.addend = matrix(a.addend, a.ld_addend);
  args.pre = matrix(a.pre, a.ld_pre);
  args.residual = matrix(a.residual, a.ld_residual);
  args.y = matrix(a.y, a.ldy);
  args.statistics = a.row_statistics;
  if (a.y_planes.data) args.planes = describe_planes(w.method, a.m, a.y_planes);
  impl_->run(w, Direction::forward, {a.x, a.ldx, a.x_planes}, a.m,
             w.swiglu() ? EpilogueKind::swiglu : EpilogueKind::linear, args, a.workspace);
}

void GemmContext::backward(const GemmWeight& weight, const GemmBackwardArgs& a) {
  const auto& w = *weight.impl_;
  const bool activated = a.activation != GemmActivation::none;
  const bool swiglu = a.activation == GemmActivation::swiglu;
  const std::int64_t out = swiglu ? 2 * w.k : w.k;
  check_operands(a.m, a.dy, a.dy_planes, a.dx, a.dx_planes);
  impl_->check_planes(w.method, a.m, a.dy_planes, w.n, "dy");
  impl_->check_planes(w.method, a.m, a.dx_planes, out, "dx");
  check(a.m == 0 || activated == (a.pre != nullptr), ErrorCode::usage,
        "an activation's derivative needs its pre, and nothing else does");
  check(!(a.add && activated), ErrorCode::usage, "add goes without an activation only");
  check(!a.add || a.m == 0 || a.dx, ErrorCode::usage, "add needs the dx to add to");
  need_rows(a.dy, a.ldy, w.n, "dy");
  need_rows(a.pre, a.ld_pre, out, "pre");
  need_rows(a.dx, a.ldx, out, "dx");
  EpilogueArgs args;
  args.n = static_cast<int>(w.k);
  args.before = matrix(a.pre, a.ld_pre);
  args.y = matrix(a.dx, a.ldx);
  if (a.add) args.residual = matrix(static_cast<const float*>(a.dx), a.ldx);
  if (a.dx_planes.data) args.planes = describe_planes(w.method, a.m, a.dx_planes);
  impl_->run(w, Direction::backward, {a.dy, a.ldy, a.dy_planes}, a.m,
             swiglu ? EpilogueKind::swiglu_backward : EpilogueKind::linear, args, a.workspace);
}

}  // namespace trine
