// Contract: linear layers with what surrounds them, forward and input gradient.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tensor/view.hpp"
#include "trine/gemm.hpp"

namespace trine {

/// What follows the product inside a linear layer.
enum class LinearActivation {
  none,
  silu,    ///< y = z sigmoid(z)
  swiglu,  ///< z = [v | g]: y = v sigmoid(g), half as wide as z
};

/// Whether an operation replaces its output or adds to it.
enum class Write { overwrite, add };

/// Weights of a layer as the checkpoint has them: host memory, row-major.
template <class Real>
struct LinearWeights {
  Matrix<const Real> weight;  ///< (out, in)
  Vector<const Real> bias;    ///< (out) or empty
  LinearActivation activation = LinearActivation::none;
  GemmMethod method = GemmMethod::fp32;  ///< of both directions; fp32 if Real is double
  std::string site{};                    ///< what the model calls the layer (GemmSite::name)
};

/// The same weights in the device's own order. Made once by `Ops::pack`, read by every call.
template <class Real, MemSpace S>
class PackedLinear {
 public:
  virtual ~PackedLinear() = default;

  std::int64_t in() const { return in_; }    ///< columns of x
  std::int64_t pre() const { return pre_; }  ///< columns of z = x W^T + b
  std::int64_t out() const { return out_; }  ///< columns of y
  LinearActivation activation() const { return activation_; }
  GemmMethod method() const { return method_; }
  const std::string& site() const { return site_; }

 protected:
  explicit PackedLinear(const LinearWeights<Real>& w)
      : in_(w.weight.cols),
        pre_(w.weight.rows),
        out_(w.activation == LinearActivation::swiglu ? w.weight.rows / 2 : w.weight.rows),
        activation_(w.activation),
        method_(w.method),
        site_(w.site) {}

 private:
  std::int64_t in_, pre_, out_;
  LinearActivation activation_;
  GemmMethod method_;
  std::string site_;
};

/// z = x W^T + b + addend;  y = activation(z) + residual[0] + residual[1].
/// Row r of y depends on row r of the inputs alone, whatever M is.
template <class Real, MemSpace S>
struct LinearArgs {
  Matrix<const Real, S> x;  ///< (M, in)
  const PackedLinear<Real, S>* weight = nullptr;
  Matrix<const Real, S> addend;  ///< (M, pre) or empty; not with swiglu
  /// (M, pre) out, or empty: z, kept for the backward pass, in a column order private to the
  /// device and the same for all methods. May alias `addend`.
  Matrix<Real, S> pre;
  std::array<Matrix<const Real, S>, 2> residual;  ///< (M, out) or empty
  Matrix<Real, S> y;                              ///< (M, out) out; may alias a residual
};

/// The activation that made a product's x, and what it was applied to.
template <class Real, MemSpace S>
struct Through {
  LinearActivation activation = LinearActivation::none;
  Matrix<const Real, S> pre;  ///< (M, in), with swiglu (M, 2 in), as a forward call kept it
};

/// dz = dy . dactivation/dz, or dy itself where `pre` is empty;  dx (+)= dz W.
/// With `through`, dx = (dz W) . dthrough: the gradient of what the layer before calls z, in the
/// column order of its pre.
template <class Real, MemSpace S>
struct LinearBackwardArgs {
  Matrix<const Real, S> dy;  ///< (M, out); (M, pre) where it is the gradient of z
  const PackedLinear<Real, S>* weight = nullptr;
  /// (M, pre) as kept by the forward call; empty without activation, or if dy is dz.
  Matrix<const Real, S> pre;
  Write write = Write::overwrite;  ///< `add` only without `through`
  Matrix<Real, S> dx;  ///< (M, in) or as through.pre, which it may alias; must not alias dy
  Through<Real, S> through{};
};

}  // namespace trine
