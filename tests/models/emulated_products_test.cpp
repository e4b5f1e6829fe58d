// A model whose products are computed as Tensor Cores compute them, on the CPU: methods of FP32
// accuracy are worth FP32, the others are not.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "models/test_options.hpp"
#include "paths.hpp"
#include "trine/error.hpp"
#include "trine/model.hpp"
#include "trine/structure_io.hpp"

namespace trine {
namespace {

const std::string kModel = test::models_folder() + "/trine-mini.ckpt";

/// A drop of water.
Structure drop() {
  Structure s = read_structures(test::models_folder() + "/../examples/water192.xyz").front();
  constexpr std::size_t kAtoms = 15;
  Structure small;
  small.species.assign(s.species.begin(), s.species.begin() + kAtoms);
  small.positions.assign(s.positions.begin(), s.positions.begin() + kAtoms);
  return small;
}

EngineOptions with(Precision precision, const GemmPolicy& products = {}) {
  EngineOptions options = test::test_options();
  options.precision = precision;
  options.products = products;
  options.threads = 2;
  return options;
}

Result evaluate(const EngineOptions& options) {
  return Model::load(kModel, options).evaluate(drop());
}

double rms_of_forces(const Result& a, const Result& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) squares += std::pow(a.forces[i][k] - b.forces[i][k], 2);
  }
  return std::sqrt(squares / static_cast<double>(3 * a.forces.size()));
}

double rms_of_energies(const Result& a, const Result& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.energies.size(); ++i) {
    squares += std::pow(a.energies[i] - b.energies[i], 2);
  }
  return std::sqrt(squares / static_cast<double>(a.energies.size()));
}

TEST(EmulatedProducts, ErrorsOfAModel) {
  const Result exact = evaluate(with(Precision::fp64));
  const Result fp32 = evaluate(with(Precision::fp32));
  const double forces = rms_of_forces(fp32, exact), energies = rms_of_energies(fp32, exact);
  ASSERT_GT(forces, 0);
  ASSERT_GT(energies, 0);
  for (const auto& info : gemm_methods()) {
    if (info.method == GemmMethod::fp32 || info.method == GemmMethod::bf16x3) continue;
    SCOPED_TRACE(info.name);
    const Result r = evaluate(with(Precision::fp32, info.method));
    const double force_ratio = rms_of_forces(r, exact) / forces;
    const double energy_ratio = rms_of_energies(r, exact) / energies;
    RecordProperty(std::string(info.name), std::to_string(force_ratio));
    if (info.fp32_class) {
      if (!(force_ratio <= 2)) ADD_FAILURE() << "forces: " << force_ratio << " times FP32's error";
      if (!(energy_ratio <= 2)) ADD_FAILURE() << "energies: " << energy_ratio << " times";
    } else {
      if (!(force_ratio > 10)) ADD_FAILURE() << "forces: only " << force_ratio << " times";
      if (!(energy_ratio > 10)) ADD_FAILURE() << "energies: only " << energy_ratio << " times";
    }
  }
}

/// Each layer by another method than the one before it, whose pre-activation it may read.
TEST(EmulatedProducts, MixedMethodsAreWorthFp32) {
  const Result exact = evaluate(with(Precision::fp64)), fp32 = evaluate(with(Precision::fp32));
  constexpr std::array kMethods = {GemmMethod::fp32, GemmMethod::fp16x3, GemmMethod::tf32x3};
  const auto sites = Model::load(kModel, with(Precision::fp32)).gemm_sites();
  for (std::size_t first = 0; first < kMethods.size(); ++first) {
    GemmPolicy mixed;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      mixed.sites.emplace_back(sites[i].name, kMethods[(first + i) % kMethods.size()]);
    }
    const Result r = evaluate(with(Precision::fp32, mixed));
    const double force_ratio = rms_of_forces(r, exact) / rms_of_forces(fp32, exact);
    const double energy_ratio = rms_of_energies(r, exact) / rms_of_energies(fp32, exact);
    RecordProperty("mixed_" + std::to_string(first), std::to_string(force_ratio));
    RecordProperty("mixed_energy_" + std::to_string(first), std::to_string(energy_ratio));
    if (!(force_ratio <= 2)) ADD_FAILURE() << "forces: " << force_ratio << " times FP32's error";
    if (!(energy_ratio <= 2)) ADD_FAILURE() << "energies: " << energy_ratio << " times";
  }
}

TEST(EmulatedProducts, ThreadsChangeNothing) {
  EngineOptions one = with(Precision::fp32, GemmMethod::fp16x3), three = one;
  one.threads = 1;
  three.threads = 3;
  const Result a = evaluate(one), b = evaluate(three);
  EXPECT_EQ(a.energy, b.energy);
  EXPECT_EQ(a.forces, b.forces);
}

TEST(EmulatedProducts, AreOfFp32Operands) {
  try {
    Model::load(kModel, with(Precision::fp64, GemmMethod::fp16x3));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_supported);
  }
}

}  // namespace
}  // namespace trine
