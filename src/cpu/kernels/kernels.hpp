// Inner loops of the CPU engine on raw rows, one table of functions per instruction set.
#pragma once

#include <cstdint>

#include "ops/kinds.hpp"

namespace trine::cpu {

/// What a GEMM tile goes through before it is written. Sizes in elements; null pointers mean
/// "none".
template <class Real>
struct TileEpilogue {
  const Real* tile;  ///< (rows, columns) the product, dense
  std::int64_t rows;
  std::int64_t columns;
  const Real* bias;    ///< (columns)
  const Real* addend;  ///< added with the bias
  std::int64_t addend_stride;
  Real* pre;  ///< product + bias + addend, kept for the backward pass
  std::int64_t pre_stride;
  const Real* residual[2];  ///< added last
  std::int64_t residual_stride[2];
  Real* y;
  std::int64_t y_stride;
};

/// Rows to normalise: y = norm(x) * weight (+ bias).
template <class Real>
struct NormRow {
  Normalization kind;
  Real epsilon;
  std::int64_t width;
  const Real* weight;
  const Real* bias;  ///< null for RMSNorm
};

/// One atom's tokens: row 0 is the node, rows 1.. are its edges, which are contiguous in memory.
template <class Real>
struct AttentionAtom {
  std::int64_t edges;
  std::int64_t heads;
  std::int64_t width;      ///< d_pet, all heads
  Real scale;              ///< 1 / (sqrt(head width) * temperature)
  const Real* weight;      ///< (edges) cutoff factors f
  const Real* qkv_node;    ///< (3 width)
  const Real* qkv_edges;   ///< (edges, 3 width)
  Real* out_node;          ///< (width)
  Real* out_edges;         ///< (edges, width)
  const Real* d_out_node;  ///< backward only, from here on
  const Real* d_out_edges;
  Real* d_qkv_node;
  Real* d_qkv_edges;
  Real* d_weight;  ///< (edges) accumulated
  Real* scratch;   ///< attention_scratch(edges + 1, head width) elements
};

template <class Real>
struct Kernels {
  /// y = tile + bias + addend + residuals; `pre` is not used.
  void (*epilogue_linear)(const TileEpilogue<Real>&);
  /// z = tile + bias + addend; pre = z; y = z sigmoid(z) + residuals.
  void (*epilogue_silu)(const TileEpilogue<Real>&);
  /// The tile's columns are [v | g]; pre = [v | g]; y = v sigmoid(g) + residuals, half as wide.
  void (*epilogue_swiglu)(const TileEpilogue<Real>&);
  /// y = pre sigmoid(pre)
  void (*silu)(std::int64_t n, const Real* pre, Real* y);
  /// dz = dy d(silu)/dz at z = pre
  void (*silu_backward)(std::int64_t n, const Real* pre, const Real* dy, Real* dz);
  /// pre = [v | g] of `half` columns each; dz = [dv | dg]
  void (*swiglu_backward)(std::int64_t half, const Real* pre, const Real* dy, Real* dz);
  void (*norm)(const NormRow<Real>&, const Real* x, Real* y);
  /// dx += gradient
  void (*norm_backward)(const NormRow<Real>&, const Real* x, const Real* dy, Real* dx);
  void (*attention)(const AttentionAtom<Real>&);
  void (*attention_backward)(const AttentionAtom<Real>&);
  /// pre = W4 . v4 + row, with W4 stored as 4 rows of n
  void (*embed)(std::int64_t n, const Real* w4, const Real* v4, const Real* row, Real* pre);
  /// out[4] = W4 . dz
  void (*embed_backward)(std::int64_t n, const Real* w4, const Real* dz, Real* out);
  /// y = a x + b y
  void (*axpby)(std::int64_t n, Real a, const Real* x, Real b, Real* y);
  /// sum of x y
  Real (*dot)(std::int64_t n, const Real* x, const Real* y);
};

/// Inner loops of the geometry, always in double.
struct GeometryKernels {
  /// Smooth step from 1 (u <= 0) to 0 (u >= 1) and its derivative db/du (pet-spec 2.2).
  void (*bump)(std::int64_t n, const double* u, double* value, double* slope);
  /// out[k] = |(x[k], y[k], z[k]) - point|^2
  void (*squared_distances)(std::int64_t n, const double* x, const double* y, const double* z,
                            const double* point, double* out);
};

/// Elements of scratch that `attention` and `attention_backward` need for `tokens` tokens.
std::int64_t attention_scratch(std::int64_t tokens, std::int64_t head_width);

enum class InstructionSet { baseline, avx2, avx512 };

/// The tables for one instruction set; null where this build or this processor lacks it.
template <class Real>
const Kernels<Real>* kernels_of(InstructionSet set);
const GeometryKernels* geometry_kernels_of(InstructionSet set);

/// The tables for the widest instruction set of this processor.
template <class Real>
const Kernels<Real>& kernels();
const GeometryKernels& geometry_kernels();

/// Its name: "AVX-512", "AVX2" or "baseline".
const char* instruction_set();

}  // namespace trine::cpu
