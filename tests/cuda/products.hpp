// Products on the device with everything that they need, from and to matrices on the host.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "trine/error.hpp"
#include "trine/gemm.hpp"

namespace trine::test {

/// On device 0 and the default stream; made once, since loading kernels takes long.
inline GemmContext& context(GemmKernels kernels = GemmKernels::best) {
  static auto* const best = new GemmContext(0, nullptr, GemmKernels::best);
  if (kernels == GemmKernels::best) return *best;
  static auto* const portable = new GemmContext(0, nullptr, GemmKernels::portable);
  return *portable;
}

/// What the emulation calls the arithmetic of these kernels on this device.
inline GemmArch arch(GemmKernels kernels) {
  return context(kernels).arch();
}

/// Skips without a device.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = no_device(); !reason.empty()) GTEST_SKIP() << reason;
  }
  void record_worst(double value) { RecordProperty("worst", std::to_string(value)); }
};

/// A method and the kernels that compute it.
struct Variant {
  GemmMethod method;
  GemmKernels kernels;
};

/// The same for each method; skips those that the device does not have.
class MethodTest : public GpuTest, public ::testing::WithParamInterface<Variant> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const GemmSupport support = gemm().supports(method(), {128, 128, 128});
    if (!support.supported) GTEST_SKIP() << support.reason;
    if (GetParam().kernels == GemmKernels::portable && gemm().capability() != 90) {
      GTEST_SKIP() << "the portable kernels are the best for this device, and tested as such";
    }
  }
  GemmMethod method() const { return GetParam().method; }
  GemmContext& gemm() const { return context(GetParam().kernels); }
};

inline std::vector<Variant> all_methods() {
  std::vector<Variant> variants;
  for (const GemmMethodInfo& info : gemm_methods()) {
    variants.push_back({info.method, GemmKernels::best});
  }
  return variants;
}

inline std::vector<Variant> with_portable_kernels(std::vector<Variant> variants) {
  for (std::size_t i = 0, count = variants.size(); i < count; ++i) {
    if (variants[i].method == GemmMethod::fp32) continue;
    variants.push_back({variants[i].method, GemmKernels::portable});
  }
  return variants;
}

/// All but fp32, which is cuBLAS's product: its order of summation is not ours to promise.
inline std::vector<Variant> tensor_core_methods() {
  std::vector<Variant> variants = all_methods();
  std::erase_if(variants, [](const Variant& v) { return v.method == GemmMethod::fp32; });
  return variants;
}

inline std::string variant_name(const ::testing::TestParamInfo<Variant>& info) {
  const std::string name(gemm_method_info(info.param.method).name);
  return info.param.kernels == GemmKernels::portable ? name + "_portable" : name;
}

/// Full of NaN, with a margin behind that must stay as it is.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : memory_(bytes > 0 ? bytes + kMargin : 0) {
    if (bytes > 0) cuda_check(cudaMemset(memory_.data(), 0xff, memory_.size()), "cudaMemset");
    cuda_check(cudaDeviceSynchronize(), "cudaMemset");
  }
  Workspace(const GemmContext& gemm, const GemmWeight& weight, std::int64_t m)
      : Workspace(gemm.workspace_bytes(weight, m)) {}

  void* data() const { return memory_.data(); }
  void expect_intact() const {
    if (memory_.size() == 0) return;
    std::array<unsigned char, kMargin> margin{};
    memory_.download(margin.data(), memory_.size() - kMargin);
    EXPECT_TRUE(std::all_of(margin.begin(), margin.end(), [](auto b) { return b == 0xff; }))
        << "written behind the workspace";
  }

 private:
  static constexpr int kMargin = 256;
  DeviceBytes memory_;
};

inline GemmWeight pack(GemmContext& gemm, GemmMethod method, const HostMatrix& w,
                       GemmActivation activation = GemmActivation::none,
                       const float* bias = nullptr) {
  return gemm.pack(method, w.values.data(), w.cols, w.rows, w.cols, bias, activation);
}

inline HostMatrix forward(GemmContext& gemm, const GemmWeight& weight, const HostMatrix& x,
                          Layout layout = {}) {
  const DeviceMatrix in(x, layout), y(x.rows, weight.n(), layout);
  const Workspace workspace(gemm, weight, x.rows);
  gemm.forward(weight, {.m = x.rows,
                        .x = in.data(),
                        .ldx = in.stride(),
                        .y = y.data(),
                        .ldy = y.stride(),
                        .workspace = workspace.data()});
  HostMatrix out = y.download();
  workspace.expect_intact();
  return out;
}

inline HostMatrix backward(GemmContext& gemm, const GemmWeight& weight, const HostMatrix& dy,
                           Layout layout = {}) {
  const DeviceMatrix in(dy, layout), dx(dy.rows, weight.k(), layout);
  const Workspace workspace(gemm, weight, dy.rows);
  gemm.backward(weight, {.m = dy.rows,
                         .dy = in.data(),
                         .ldy = in.stride(),
                         .dx = dx.data(),
                         .ldx = dx.stride(),
                         .workspace = workspace.data()});
  HostMatrix out = dx.download();
  workspace.expect_intact();
  return out;
}

inline HostMatrix emulated_forward(const Variant& variant, const HostMatrix& w, const HostMatrix& x,
                                   GemmActivation activation = GemmActivation::none) {
  const EmulatedGemm gemm(variant.method, arch(variant.kernels), w.values.data(), w.cols, w.rows,
                          w.cols, activation);
  HostMatrix y(x.rows, w.rows);
  in_parts(x.rows, [&](std::int64_t first, std::int64_t count) {
    gemm.forward(count, x.row(first), x.cols, y.row(first), y.cols, 1);
  });
  return y;
}

inline HostMatrix emulated_backward(const Variant& variant, const HostMatrix& w,
                                    const HostMatrix& dy,
                                    GemmActivation activation = GemmActivation::none) {
  const EmulatedGemm gemm(variant.method, arch(variant.kernels), w.values.data(), w.cols, w.rows,
                          w.cols, activation);
  HostMatrix dx(dy.rows, w.cols);
  in_parts(dy.rows, [&](std::int64_t first, std::int64_t count) {
    gemm.backward(count, dy.row(first), dy.cols, dx.row(first), dx.cols, 1);
  });
  return dx;
}

}  // namespace trine::test
