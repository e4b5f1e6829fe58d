// The devices under test, and what all of them have in common: the same bits on every one, on every
// call, whatever earlier calls have left in their memory. Programs that are compiled with
// TRINE_TEST_ON_GPU test a GPU, all others the CPU.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backend.hpp"
#include "ops/guarded.hpp"
#include "ops/table.hpp"
#ifdef TRINE_TEST_ON_GPU
#include "cuda/mirrored_ops.hpp"
#include "cuda/skip_without_device.hpp"
#endif

namespace trine::test {

using Reals = ::testing::Types<float, double>;

struct RealNames {
  template <class Real>
  static std::string GetName(int) {
    return sizeof(Real) == 4 ? "float" : "double";
  }
};

template <class Real>
using Device = Ops<Real, MemSpace::host>;

template <class Real>
using DeviceList = std::vector<std::unique_ptr<Device<Real>>>;

/// Devices whose results must be equal to the bit.
template <class Real>
DeviceList<Real> make_devices() {
  DeviceList<Real> made;
#ifdef TRINE_TEST_ON_GPU
  const int number = cuda_device_number("cuda");
  for (int k = 0; k < 2; ++k) made.push_back(make_mirrored(make_cuda<Real>(number)));
#else
  for (int threads : {1, 2, 3}) made.push_back(make_cpu<Real>(threads));
#endif
  return made;
}

template <class Real>
const DeviceList<Real>& devices() {
  static const auto all = make_devices<Real>();
  return all;
}

/// For operations that are the same in any precision.
inline Device<float>& first_device() {
  return *devices<float>().front();
}

/// Evaluations on NaN, so that the device's scratch memory is full of them.
template <class Real>
void spoil_scratch(Device<Real>& device) {
  const std::int64_t rows = 66, width = 40;
  const Guarded<Real> weight(random_table<Real>(width, width, 1));
  const Guarded<Real> x(rows, width, 1), y(rows, width), pre(rows, width), qkv(rows, 3 * width);
  const auto packed = device.pack({weight.matrix(), {}, LinearActivation::silu});
  device.linear({.x = x.matrix(),
                 .weight = packed.get(),
                 .addend = {},
                 .pre = pre.matrix(),
                 .residual = {},
                 .y = y.matrix()});
  device.linear_backward({y.matrix(), packed.get(), pre.matrix(), Write::overwrite, x.matrix()});
  const Guarded<Real> ones(1, width), none(1, 0);
  device.norm_backward({{Normalization::layer_norm, Real(0), ones.vector(), ones.vector()},
                        x.matrix(),
                        y.matrix(),
                        Write::overwrite,
                        y.matrix()});
  const std::int64_t atoms = 6, edges = rows - atoms;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= atoms; ++i) offsets.push_back(i * edges / atoms);
  const Guarded<Real> f(1, edges), d_f(1, edges);
  const AttentionArgs<Real, MemSpace::host> attention{
      {{offsets.data(), atoms + 1}, atoms, edges}, 2, 1.0, f.vector(), qkv.matrix(), y.matrix()};
  device.attention(attention);
  device.attention_backward({attention, y.matrix(), qkv.matrix(), d_f.vector()});
}

/// What `call(device)` returns: the same from every device, twice.
template <class Real, class Call>
Tables on_all_devices(const std::string& what, Call&& call) {
  Tables first;
  for (const auto& device : devices<Real>()) {
    spoil_scratch<Real>(*device);
    for (const char* when : {", first run on ", ", second run on "}) {
      const Tables result = call(*device);
      if (first.empty()) first = result;
      expect_same_bits(result, first, what + when + device->description());
    }
  }
  return first;
}

}  // namespace trine::test
