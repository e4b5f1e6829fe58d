// The kernels of one instruction set, gathered. Compiled once per set; see CMakeLists.txt of
// src/cpu.
#include "cpu/kernels/activation.hpp"
#include "cpu/kernels/attention.hpp"
#include "cpu/kernels/geometry.hpp"
#include "cpu/kernels/message.hpp"
#include "cpu/kernels/norm.hpp"

namespace trine::cpu::TRINE_ISA {

template <class Real>
Kernels<Real> table() {
  return {.epilogue_linear = epilogue_linear<Real>,
          .epilogue_silu = epilogue_silu<Real>,
          .epilogue_swiglu = epilogue_swiglu<Real>,
          .silu = silu<Real>,
          .silu_backward = silu_backward<Real>,
          .swiglu_backward = swiglu_backward<Real>,
          .norm = norm<Real>,
          .norm_backward = norm_backward<Real>,
          .attention = attention<Real>,
          .attention_backward = attention_backward<Real>,
          .embed = embed<Real>,
          .embed_backward = embed_backward<Real>,
          .axpby = axpby<Real>,
          .dot = dot<Real>};
}

GeometryKernels geometry_table() {
  return {.bump = bump, .squared_distances = squared_distances};
}

template Kernels<float> table<float>();
template Kernels<double> table<double>();

}  // namespace trine::cpu::TRINE_ISA
