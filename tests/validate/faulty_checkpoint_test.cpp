// Planted faults do what they say, and nothing else: by how much they are wrong is what those who
// must notice them can rely on.
#include "validate/faulty_checkpoint.hpp"

#include <map>

#include "reference.hpp"

namespace trine::test {
namespace {

using M = GemmMethod;

const std::string kModel = "trine-mini";

Structure molecule() {
  return reference_structure("ethanol_boxed");
}

EngineOptions options_with(M method, Precision precision = Precision::fp32) {
  EngineOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.precision = precision;
  options.products = method;
  return options;
}

Result evaluate(const Checkpoint& checkpoint, const EngineOptions& options,
                const Structure& structure = molecule()) {
  Model model = checkpoint.load(options);
  return model.evaluate(structure);
}

/// eV/Angstrom, rms of the components' differences.
double difference(const Result& a, const Result& b) {
  const auto x = flat(a.forces), y = flat(b.forces);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

const Checkpoint& sound() {
  static const Checkpoint checkpoint = Checkpoint::read(model_path(kModel));
  return checkpoint;
}

/// Errors against fp64.
class FaultyProducts : public ::testing::Test {
 protected:
  double error(const Checkpoint& checkpoint, M method) const {
    return difference(evaluate(checkpoint, options_with(method)), right_);
  }
  double sound_error(M method) const {
    static std::map<M, double> known;  // for all tests
    const auto found = known.find(method);
    if (found != known.end()) return found->second;
    return known[method] = error(sound(), method);
  }
  static const Result& exact() {
    static const Result result = evaluate(sound(), options_with(M::fp32, Precision::fp64));
    return result;
  }

  const Result& right_ = exact();
  const double fp32_ = sound_error(M::fp32);
};

TEST_F(FaultyProducts, WithoutOneOfASplit) {
  const auto faulty = faulty_checkpoint(model_path(kModel), Fault::dropped_product);
  for (const M method : {M::fp16x3, M::tf32x3, M::bf16x6}) {
    const double found = error(faulty, method);
    RecordProperty(std::string(gemm_method_info(method).name), std::to_string(found / fp32_));
    EXPECT_GT(found, 100 * fp32_) << gemm_method_info(method).name;
    EXPECT_LT(found, sound_error(M::bf16)) << "one word has more errors than two halves";
    EXPECT_LT(sound_error(method), 2 * fp32_);
  }
  EXPECT_EQ(error(faulty, M::bf16), sound_error(M::bf16)) << "has a single product";
}

TEST_F(FaultyProducts, WithoutPromotion) {
  const auto faulty = faulty_checkpoint(model_path(kModel), Fault::no_promotion);
  for (const M method : {M::fp16x3, M::bf16x6}) {
    const double found = error(faulty, method);
    RecordProperty(std::string(gemm_method_info(method).name), std::to_string(found / fp32_));
    EXPECT_GT(found, 3 * fp32_) << gemm_method_info(method).name;
    EXPECT_LT(found, 100 * fp32_) << gemm_method_info(method).name;
  }
}

TEST_F(FaultyProducts, WithABlockTwiceAsLarge) {
  const auto faulty = faulty_checkpoint(model_path(kModel), Fault::doubled_block, M::fp16x3);
  EXPECT_GT(error(faulty, M::fp16x3), 1e-2);
  EXPECT_EQ(error(faulty, M::bf16x6), sound_error(M::bf16x6)) << "is another method";
  Model model = faulty.load(options_with(M::fp32));
  GemmPolicy other, same;
  other.sites = {{"gnn.1.transformer.0.mlp_out", M::fp16x3}};
  same.sites = {{kDoubledSite, M::fp16x3}};
  faulty.set_products(model, other);
  EXPECT_LT(difference(model.evaluate(molecule()), right_), 2 * fp32_) << "is another layer";
  faulty.set_products(model, same);
  EXPECT_GT(difference(model.evaluate(molecule()), right_), 1e-2);
}

TEST_F(FaultyProducts, AreNotInFp32AndFp64) {
  for (const Fault fault : {Fault::dropped_product, Fault::no_promotion, Fault::doubled_block}) {
    const auto faulty = faulty_checkpoint(model_path(kModel), fault);
    EXPECT_EQ(error(faulty, M::fp32), fp32_);
    EXPECT_EQ(evaluate(faulty, options_with(M::fp32, Precision::fp64)).forces, right_.forces);
  }
}

TEST(FaultyEdges, GiveForcesThatAreNoDerivatives) {
  const auto faulty = faulty_checkpoint(model_path(kModel), Fault::wrong_reverse);
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    const auto options = options_with(M::fp32, precision);
    EXPECT_GT(difference(evaluate(faulty, options), evaluate(sound(), options)), 1e-4);
  }
  const auto options = options_with(M::fp32, Precision::fp64);
  const double step = 2e-5;
  // Of the forces on four atoms, against the energy's central difference, whose own error is about
  // 1e3 eV/Angstrom^3 step^2 / 6.
  const auto mismatch = [&](const Checkpoint& checkpoint) {
    Model model = checkpoint.load(options);
    const auto forces = model.evaluate(molecule()).forces;
    double most = 0;
    for (std::size_t atom = 0; atom < 4; ++atom) {
      Structure low = molecule(), high = molecule();
      low.positions[atom][0] -= step;
      high.positions[atom][0] += step;
      const double rise = model.evaluate(high).energy - model.evaluate(low).energy;
      most = std::max(most, std::abs(forces[atom][0] + rise / (2 * step)));
    }
    return most;
  };
  EXPECT_LT(mismatch(sound()), 1e-6);
  EXPECT_GT(mismatch(faulty), 1e-4);
}

}  // namespace
}  // namespace trine::test
