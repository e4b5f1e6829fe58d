#include <gtest/gtest.h>

#include <array>
#include <span>

#include "ops/devices.hpp"
#include "ops/naive_message.hpp"

namespace trine::test {
namespace {

constexpr std::array<std::int64_t, 8> kEdges = {3, 0, 17, 1, 40, 0, 2, 65};

template <class Real>
naive::ReadoutInputs make_inputs(std::int64_t outputs, std::int64_t width,
                                 std::span<const std::int64_t> edges = kEdges) {
  naive::ReadoutInputs in;
  in.offsets = {11};
  for (const std::int64_t n : edges) in.offsets.push_back(in.offsets.back() + n);
  const auto atoms = static_cast<std::int64_t>(edges.size());
  const std::int64_t count = in.offsets.back() - in.offsets[0];
  in.node_weight = random_table<double>(outputs, width, 1);
  in.edge_weight = random_table<double>(outputs, width, 2);
  in.node_bias = random_table<double>(1, outputs, 3);
  in.edge_bias = random_table<double>(1, outputs, 4);
  in.weight = random_table<Real>(1, count, 5);
  in.node = random_table<Real>(atoms, width, 6);
  in.edge = random_table<Real>(count, width, 7);
  in.node_pre = random_table<Real>(atoms, width, 10, 6);
  in.edge_pre = random_table<Real>(count, width, 11, 6);
  in.prediction = random_table<double>(atoms, outputs, 8, 100);
  in.seed = -1.75;
  in.d_weight = random_table<double>(1, count, 9);
  return in;
}

/// What the operations read, in memory.
template <class Real>
struct Inputs {
  Guarded<double> node_weight, edge_weight, node_bias, edge_bias;
  Guarded<Real> weight, node, edge, node_pre, edge_pre;
  TokenLayout<MemSpace::host> layout;

  Inputs(const naive::ReadoutInputs& in, std::int64_t gap)
      : node_weight(in.node_weight, gap),
        edge_weight(in.edge_weight, gap),
        node_bias(in.node_bias),
        edge_bias(in.edge_bias),
        weight(in.weight),
        node(in.node, gap),
        edge(in.edge, gap),
        node_pre(in.node_pre, gap),
        edge_pre(in.edge_pre, gap),
        layout{{in.offsets.data(), in.atoms() + 1}, in.atoms(), in.edge.rows} {}

  LastLayer<MemSpace::host> last() const {
    return {node_weight.matrix(), edge_weight.matrix(), node_bias.vector(), edge_bias.vector()};
  }
};

/// {prediction, features if asked}
template <class Real>
Tables forward(Device<Real>& device, const naive::ReadoutInputs& in, bool with_features = true,
               std::int64_t gap = 0) {
  const Inputs<Real> inputs(in, gap);
  const Guarded<double> prediction(in.prediction, gap);
  const Guarded<double> features(in.atoms(), with_features ? 2 * in.node.cols : 0, gap);
  device.readout({inputs.layout, inputs.last(), inputs.weight.vector(), inputs.node.matrix(),
                  inputs.edge.matrix(), prediction.matrix(), features.matrix()});
  return collect("readout", prediction, features);
}

/// Where the gradients go.
enum class Place { fresh, on_edge, on_pre };

/// {d_node, d_edge, d_weight}
template <class Real>
Tables backward(Device<Real>& device, const naive::ReadoutInputs& in, Place place = Place::fresh,
                std::int64_t gap = 0) {
  const Inputs<Real> inputs(in, gap);
  const Guarded<Real> fresh_node(in.atoms(), in.node.cols, gap);
  const Guarded<Real> fresh(in.edge.rows, in.edge.cols, gap);
  const Guarded<Real>& d_node = place == Place::on_pre ? inputs.node_pre : fresh_node;
  const Guarded<Real>& d_edge = place == Place::fresh     ? fresh
                                : place == Place::on_edge ? inputs.edge
                                                          : inputs.edge_pre;
  const Guarded<double> d_weight(in.d_weight);
  device.readout_backward({inputs.layout, inputs.last(), inputs.weight.vector(),
                           inputs.edge.matrix(), inputs.node_pre.matrix(), inputs.edge_pre.matrix(),
                           in.seed, d_node.matrix(), d_edge.matrix(), d_weight.vector()});
  return collect("readout backward", d_node, d_edge, d_weight);
}

/// Atoms 2 .. 6 of kEdges alone: edges 3 .. 61.
naive::ReadoutInputs middle_atoms(const naive::ReadoutInputs& all) {
  naive::ReadoutInputs part = all;
  part.offsets = {all.offsets.begin() + 2, all.offsets.begin() + 7};
  part.node = all.node.slice_rows(2, 4);
  part.node_pre = all.node_pre.slice_rows(2, 4);
  part.edge_pre = all.edge_pre.slice_rows(3, 58);
  part.prediction = all.prediction.slice_rows(2, 4);
  part.edge = all.edge.slice_rows(3, 58);
  for (Table* t : {&part.weight, &part.d_weight}) {
    t->values = {t->values.begin() + 3, t->values.begin() + 61};
    t->cols = 58;
  }
  return part;
}

Table silu(Table z) {
  for (double& x : z.values) x *= naive::sigmoid(x);
  return z;
}

template <class Real>
struct ReadoutTest : ::testing::Test {};
TYPED_TEST_SUITE(ReadoutTest, Reals, RealNames);

TYPED_TEST(ReadoutTest, AgreesWithPlainLoops) {
  for (const std::int64_t outputs : {1, 3, 9}) {
    for (const std::int64_t width : {1, 5, 33, 128}) {
      const auto in = make_inputs<TypeParam>(outputs, width);
      const Tables actual = on_all_devices<TypeParam>(
          "readout", [&](Device<TypeParam>& device) { return forward(device, in); });
      const double near = allowance<double>(65 * width);
      const Estimate prediction = naive::readout(in), features = naive::features(in);
      expect_within(actual[0], prediction.value, prediction.magnitude, near, "prediction");
      expect_within(actual[1], features.value, features.magnitude, near, "features");
    }
  }
}

TYPED_TEST(ReadoutTest, BackwardAgreesWithPlainLoops) {
  for (const std::int64_t width : {1, 5, 33, 128}) {
    const auto in = make_inputs<TypeParam>(1, width);
    const Tables actual = on_all_devices<TypeParam>(
        "readout backward", [&](Device<TypeParam>& device) { return backward(device, in); });
    const auto wanted = naive::readout_backward(in);
    const double eps = std::numeric_limits<TypeParam>::epsilon();
    expect_within(actual[0], wanted.d_node.value, wanted.d_node.magnitude, 8 * eps, "d_node");
    expect_within(actual[1], wanted.d_edge.value, wanted.d_edge.magnitude, 8 * eps, "d_edge");
    expect_within(actual[2], wanted.d_weight.value, wanted.d_weight.magnitude,
                  allowance<double>(width), "d_weight");
  }
}

TYPED_TEST(ReadoutTest, LayoutOfSmallMatricesChangesNoBit) {
  const auto in = make_inputs<TypeParam>(1, 33);
  auto& device = *devices<TypeParam>().front();
  expect_same_bits(forward(device, in, true, 3), forward(device, in), "gaps between rows");
  expect_same_bits(forward(device, in, false)[0], forward(device, in)[0], "without features");
  expect_same_bits(backward(device, in, Place::on_edge), backward(device, in), "on edge");
  expect_same_bits(backward(device, in, Place::on_pre), backward(device, in), "on pre");
  expect_same_bits(backward(device, in, Place::on_edge, 3), backward(device, in), "on edge, gaps");
}

TYPED_TEST(ReadoutTest, AtomsDependOnThemselvesAlone) {
  const auto in = make_inputs<TypeParam>(1, 33);
  const auto part = middle_atoms(in);
  for (const auto& device : devices<TypeParam>()) {
    const Tables all = forward(*device, in), alone = forward(*device, part);
    for (std::size_t k = 0; k < 2; ++k) {
      expect_same_bits(alone[k], all[k].slice_rows(2, 4), "forward");
    }
    const Tables d_all = backward(*device, in), d_alone = backward(*device, part);
    expect_same_bits(d_alone[1], d_all[1].slice_rows(3, 58), "d_edge");
    auto spoiled = in;
    spoiled.edge = with_rows(in.edge, 3, 17, std::nan(""));
    const Tables others = forward(*device, spoiled);
    EXPECT_TRUE(std::isnan(others[0](2, 0)));
    expect_same_bits(others[0].slice_rows(3, 5), all[0].slice_rows(3, 5), "beside NaN");
  }
}

TYPED_TEST(ReadoutTest, NoAtomsAndNoEdges) {
  auto& device = *devices<TypeParam>().front();
  EXPECT_EQ(forward(device, make_inputs<TypeParam>(3, 5, {}))[0].rows, 0);
  const std::array<std::int64_t, 2> bare = {0, 0};
  const auto in = make_inputs<TypeParam>(3, 5, bare);
  const Estimate wanted = naive::readout(in);
  expect_within(forward(device, in)[0], wanted.value, wanted.magnitude, allowance<double>(5),
                "atoms without edges");
}

TEST(ReadoutGradient, AgreesWithDifferences) {
  auto& device = *devices<double>().front();
  const std::array<std::int64_t, 3> edges = {2, 0, 3};
  auto in = make_inputs<double>(1, 4, edges);
  in.d_weight = Table(1, 5);
  const auto energy = [&](auto change) {
    auto moved = in;
    change(moved);
    return inner(Table(3, 1, in.seed), forward(device, moved)[0]);
  };
  in.node = silu(in.node_pre);
  in.edge = silu(in.edge_pre);
  const Tables g = backward(device, in);
  const double tolerance = 1e-9;
  expect_gradient([&](const Table& t) { return energy([&](auto& m) { m.node = silu(t); }); },
                  in.node_pre, g[0], tolerance, "d_node");
  expect_gradient([&](const Table& t) { return energy([&](auto& m) { m.edge = silu(t); }); },
                  in.edge_pre, g[1], tolerance, "d_edge");
  expect_gradient([&](const Table& t) { return energy([&](auto& m) { m.weight = t; }); }, in.weight,
                  g[2], tolerance, "d_weight");
}

/// Whole numbers, so that every order of a sum gives the same.
TEST(Energies, OfAtomsAndStructures) {
  const std::vector<std::int64_t> first = {0, 300, 300, 301, 1000};
  const std::vector<std::int32_t> species = [] {
    std::vector<std::int32_t> all(1000);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i % 3);
    return all;
  }();
  Table p(1, 1000), composition(1, 3);
  for (std::int64_t i = 0; i < 1000; ++i) p(0, i) = static_cast<double>(i * i % 17);
  for (std::int64_t s = 0; s < 3; ++s) composition(0, s) = static_cast<double>(100 * s - 40);
  for (bool totals_wanted : {true, false}) {
    const auto result = on_all_devices<double>("energies", [&](Device<double>& device) {
      const Guarded<double> prediction(p), constants(composition), e(1, 1000), totals(1, 4);
      device.energies({prediction.vector(),
                       2.0,
                       constants.vector(),
                       {species.data(), 1000},
                       {first.data(), 5},
                       e.vector(),
                       totals_wanted ? totals.vector() : Vector<double>{}});
      Tables tables = {e.table()};
      if (totals_wanted) tables.push_back(totals.table());
      return tables;
    });
    std::vector<double> sums(4);
    for (std::int64_t i = 0, b = 0; i < 1000; ++i) {
      while (i >= first[static_cast<std::size_t>(b + 1)]) ++b;
      const double expected = 2 * p(0, i) + composition(0, i % 3);
      EXPECT_EQ(result[0](0, i), expected) << i;
      sums[static_cast<std::size_t>(b)] += expected;
    }
    for (std::int64_t b = 0; totals_wanted && b < 4; ++b) {
      EXPECT_EQ(result[1](0, b), sums[static_cast<std::size_t>(b)]) << b;
    }
  }
}

TEST(ScaleBySpecies, RowByRow) {
  for (const std::int64_t atoms : {0, 1, 301}) {
    std::vector<std::int32_t> species(static_cast<std::size_t>(atoms));
    for (std::size_t i = 0; i < species.size(); ++i) species[i] = static_cast<std::int32_t>(i % 2);
    Table x(atoms, 3), scale(1, 2);
    for (std::int64_t k = 0; k < 3 * atoms; ++k) x(k / 3, k % 3) = static_cast<double>(k * k % 17);
    scale(0, 0) = 0.5;
    scale(0, 1) = -3;
    const auto result = on_all_devices<double>("scale_by_species", [&](Device<double>& device) {
      const Guarded<double> in(x), factors(scale), out(atoms, 3);
      device.scale_by_species(
          {in.matrix(), factors.vector(), {species.data(), atoms}, out.matrix()});
      return Tables{out.table()};
    });
    for (std::int64_t k = 0; k < 3 * atoms; ++k) {
      EXPECT_EQ(result[0](k / 3, k % 3), scale(0, k / 3 % 2) * x(k / 3, k % 3)) << k;
    }
  }
}

}  // namespace
}  // namespace trine::test
