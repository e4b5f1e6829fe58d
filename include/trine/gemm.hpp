// Matrix products with FP32 accuracy on Tensor Cores: y = x w^T and its input gradient dx = dy w.
//
// Usable without the rest of trine. x, y and everything else that a call reads or writes are raw
// device pointers, row-major; a leading dimension (ld) counts elements from one row to the next.
// The weight w is packed once. Calls are asynchronous on the context's stream, allocate nothing and
// can be captured in a CUDA graph. A row of the result depends on that row of x and on w alone: not
// on the number of rows, its position, the tile that computed it, or the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trine {

/// How an FP32 product is computed. xN: as N products of low-precision words.
enum class GemmMethod { fp32, tf32, tf32x3, bf16, bf16x3, bf16x6, bf16x9, fp16, fp16x3, size_ };

/// Generations of Tensor Cores, by how they accumulate.
enum class GemmArch { sm_80, sm_90, sm_100, size_ };

struct GemmMethodInfo {
  GemmMethod method;
  std::string_view name;     ///< as on the command line
  std::string_view word;     ///< type of the words, "FP32" if the operands stay whole
  int words;                 ///< per operand
  int products;              ///< of words, per product of operands
  int bits;                  ///< of an operand's significand that the words keep
  bool fp32_class;           ///< errors no larger than those of a plain FP32 product
  std::string_view meaning;  ///< one line for people
};

/// All methods, in the order of the enumeration.
std::span<const GemmMethodInfo> gemm_methods();
const GemmMethodInfo& gemm_method_info(GemmMethod method);
std::optional<GemmMethod> parse_gemm_method(std::string_view name);

/// Elements of K that are accumulated on the Tensor Core before the sum moves to an FP32 register.
/// Also the width of the blocks of a row of x that share a power of two. 0 for fp32.
int gemm_promotion_interval(GemmMethod method, GemmArch arch);

/// A-priori bound on |y - x w^T| / (u |x| |w|^T) with u = 2^-24 for inner dimension `k`, without
/// the term for elements far below their block's largest (docs/gemm.md derives both).
double gemm_error_bound(GemmMethod method, GemmArch arch, std::int64_t k);

/// y is (m, n), x is (m, k), w is (n, k).
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
};

struct GemmSupport {
  bool supported = false;
  std::string reason;  ///< why not, or what runs instead of Tensor Core kernels of trine's own
};

/// Does this build have `method` for a device of compute capability `capability` (e.g. 90)? With
/// FP32 operands: for GemmPlanes ask GemmContext::supports_planes.
GemmSupport gemm_support(GemmMethod method, int capability, const GemmShape& shape);

/// What follows the product; part of the packed weight because swiglu orders its rows.
enum class GemmActivation {
  none,
  silu,    ///< y = z sigmoid(z)
  swiglu,  ///< z = [v | g]: y = v sigmoid(g), half as wide as z
};

/// A matrix whose rows are already split into the words of a method, in device memory: what a
/// product may take instead of x and give instead of y, so that a matrix that several products read
/// is split once. Its contents are good for one method and number of rows (docs/gemm.md). Planes
/// that a call reads and writes must not overlap.
struct GemmPlanes {
  void* data = nullptr;   ///< of `GemmContext::planes_bytes` bytes, 256-aligned; null: none
  std::int64_t cols = 0;  ///< of the matrix
};

class GemmWeight;

/// y = activation(z) + residual,  z = x w^T + bias + addend.
struct GemmForwardArgs {
  std::int64_t m = 0;
  const float* x = nullptr;  ///< (m, k)
  std::int64_t ldx = 0;
  const float* addend = nullptr;  ///< (m, n) or null
  std::int64_t ld_addend = 0;
  float* pre = nullptr;  ///< (m, n) out or null: z, for the backward pass; may alias addend
  std::int64_t ld_pre = 0;
  const float* residual = nullptr;  ///< (m, out) or null
  std::int64_t ld_residual = 0;
  float* y = nullptr;  ///< (m, out) out; may alias residual
  std::int64_t ldy = 0;
  float* row_statistics = nullptr;  ///< (m, ceil(out/64), 2) out or null: sum of squares and
                                    ///< largest magnitude of each 64 columns of y
  void* workspace = nullptr;        ///< of `GemmContext::workspace_bytes` bytes, 256-aligned
  GemmPlanes x_planes{};            ///< (m, k), instead of x
  GemmPlanes y_planes{};            ///< (m, out) out; y may then be null
};

/// dx = (dy w) . f'(pre) (+ dx): f is the activation that made this product's x, or none.
/// silu: pre and dx are (m, k). swiglu: pre = [v | g] and dx = [dv | dg] are (m, 2 k). dx may be
/// pre itself, with the same leading dimension.
struct GemmBackwardArgs {
  std::int64_t m = 0;
  const float* dy = nullptr;  ///< (m, n)
  std::int64_t ldy = 0;
  GemmActivation activation = GemmActivation::none;
  const float* pre = nullptr;
  std::int64_t ld_pre = 0;
  bool add = false;     ///< add to dx; only without an activation
  float* dx = nullptr;  ///< out
  std::int64_t ldx = 0;
  void* workspace = nullptr;
  /// (m, n), instead of dy; split as `gated` if the weight is a swiglu one.
  GemmPlanes dy_planes{};
  /// Out, as wide as dx, which may then be null unless it is added to. With swiglu they are gated:
  /// for the backward product of the weight that made pre.
  GemmPlanes dx_planes{};
};

/// Which kernels a context uses.
enum class GemmKernels {
  best,      ///< the fastest for the device
  portable,  ///< those that run on every device from compute capability 8.0 on
};

/// A device, a stream, and the kernels for it. One thread at a time.
class GemmContext {
 public:
  /// `stream` is a cudaStream_t, null for the default one. Throws Error(not_supported) if this
  /// build has no CUDA or the device cannot be used.
  GemmContext(int device, void* stream, GemmKernels kernels = GemmKernels::best);
  GemmContext(GemmContext&&) noexcept;
  ~GemmContext();

  std::string device_name() const;
  int capability() const;  ///< e.g. 90
  /// Whose emulation (`EmulatedGemm`) computes the bits of these kernels on this device.
  GemmArch arch() const;
  GemmSupport supports(GemmMethod method, const GemmShape& shape) const;
  /// The fastest method of FP32 accuracy for this shape, from measurements (docs/gemm.md).
  GemmMethod choose(const GemmShape& shape) const;

  /// Packs w (n, k), in device or host memory, with its bias (n) or null. Waits for the stream.
  /// Non-finite weights are an Error(bad_input).
  GemmWeight pack(GemmMethod method, const float* w, std::int64_t ldw, std::int64_t n,
                  std::int64_t k, const float* bias = nullptr,
                  GemmActivation activation = GemmActivation::none);

  /// For weights that change, or that a program gives anew with every call: `place` makes a weight
  /// (n, k) whose words will lie in `memory`, of packed_bytes bytes, 256-aligned, on the device,
  /// which must outlive it, or, without any, in memory of its own; every `repack` fills it from w
  /// (n, k) and bias (n), or none, in device memory. repack allocates nothing, does not wait, and
  /// can be captured. Products have the bits that they have with `pack`, as long as |x| |w| is
  /// above 2^-98. Inf and NaN in w are not looked for: the columns of a result that share a block
  /// of 64 x 64 numbers of w with them become NaN. Not for fp32, which does not pack:
  /// Error(not_supported).
  std::size_t packed_bytes(GemmMethod method, std::int64_t n, std::int64_t k) const;
  GemmWeight place(GemmMethod method, std::int64_t n, std::int64_t k, void* memory = nullptr);
  void repack(GemmWeight& weight, const float* w, std::int64_t ldw, const float* bias = nullptr);

  /// Later calls work on `stream`, a cudaStream_t of this device.
  void use_stream(void* stream);

  /// Bytes of workspace that any call with `m` rows may need. Calls do without unless x has rows
  /// that do not start at multiples of 16 bytes, or the method is fp32 and something follows the
  /// product; with it, products of few rows and a long inner dimension may be faster.
  std::size_t workspace_bytes(const GemmWeight& weight, std::int64_t m) const;

  /// Does this context have products of `method` with planes? If not, calls with planes are an
  /// Error(not_supported).
  GemmSupport supports_planes(GemmMethod method) const;
  /// Size of (m, cols) in planes.
  std::size_t planes_bytes(GemmMethod method, std::int64_t m, std::int64_t cols) const;
  /// Splits x (m, planes.cols). `gated`: x is [v | g] and goes into the order that the backward
  /// product of a swiglu weight takes.
  void split(GemmMethod method, std::int64_t m, const float* x, std::int64_t ldx,
             const GemmPlanes& planes, bool gated = false);

  void forward(const GemmWeight& weight, const GemmForwardArgs& args);
  void backward(const GemmWeight& weight, const GemmBackwardArgs& args);

  /// The smallest row whose product was NaN since the last call of this function, -1 if there was
  /// none. Inf or NaN in a row of x makes the whole row of the product NaN, and leaves the other
  /// rows alone; with fp32 they spread as IEEE arithmetic has it. Waits for the stream.
  std::int64_t first_bad_row();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A weight in the order and words of one method, for both directions. Lives on the device.
class GemmWeight {
 public:
  GemmWeight(GemmWeight&&) noexcept;
  GemmWeight& operator=(GemmWeight&&) noexcept;
  ~GemmWeight();
  GemmMethod method() const;
  std::int64_t n() const;
  std::int64_t k() const;
  std::size_t bytes() const;  ///< of device memory

 private:
  friend class GemmContext;
  struct Impl;
  explicit GemmWeight(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The same arithmetic on a CPU, as the Tensor Cores of `arch` do it, bit for bit.
class EmulatedGemm {
 public:
  /// w (n, k) in host memory.
  EmulatedGemm(GemmMethod method, GemmArch arch, const float* w, std::int64_t ldw, std::int64_t n,
               std::int64_t k, GemmActivation activation = GemmActivation::none);
  EmulatedGemm(EmulatedGemm&&) noexcept;
  ~EmulatedGemm();

  /// y (m, n) = x (m, k) w^T. Rows with Inf or NaN become NaN.
  void forward(std::int64_t m, const float* x, std::int64_t ldx, float* y, std::int64_t ldy,
               int threads) const;
  /// dx (m, k) = dy (m, n) w.
  void backward(std::int64_t m, const float* dy, std::int64_t ldy, float* dx, std::int64_t ldx,
                int threads) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine
