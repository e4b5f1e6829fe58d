#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "ops/devices.hpp"
#include "ops/naive_attention.hpp"

namespace trine::test {
namespace {

constexpr std::array<std::int64_t, 9> kEdges = {17, 0, 1, 40, 2, 100, 0, 5, 47};
constexpr std::array kWeights = {0.3, 1.0, 0.0, 1e-20, 1e-15, 0.7};
constexpr std::array kOrdinaryWeights = {0.3, 1.0, 0.002, 2e-5, 1e-4, 0.7};

/// Atoms with these numbers of edges; `start` is the first offset.
template <class Real>
naive::AttentionInputs make_inputs(std::span<const std::int64_t> edges, std::int64_t heads,
                                   std::int64_t head_width, std::int64_t start = 7,
                                   std::span<const double> weights = kWeights) {
  naive::AttentionInputs in;
  in.offsets = {start};
  for (const std::int64_t n : edges) in.offsets.push_back(in.offsets.back() + n);
  const std::int64_t count = in.offsets.back() - start, tokens = in.atoms() + count;
  in.heads = heads;
  in.temperature = 0.7;
  in.least_weight = rounded<Real>(1e-15);
  in.weight = Table(1, count);
  for (std::int64_t e = 0; e < count; ++e) {
    in.weight(0, e) = rounded<Real>(weights[static_cast<std::size_t>(e) % weights.size()]);
  }
  in.qkv = random_table<Real>(tokens, 3 * heads * head_width, 1, 2);
  in.d_out = random_table<Real>(tokens, heads * head_width, 2);
  in.d_weight = random_table<Real>(1, count, 3);
  return in;
}

/// {out, d_qkv, d_weight}
template <class Real>
Tables evaluate(Device<Real>& device, const naive::AttentionInputs& in) {
  const Guarded<Real> weight(in.weight), qkv(in.qkv), d_out(in.d_out), d_weight(in.d_weight);
  const Guarded<Real> out(in.qkv.rows, in.width()), d_qkv(in.qkv.rows, in.qkv.cols);
  AttentionArgs<Real, MemSpace::host> forward{
      .layout = {{in.offsets.data(), in.atoms() + 1}, in.atoms(), in.edges()},
      .heads = in.heads,
      .temperature = in.temperature,
      .weight = weight.vector(),
      .qkv = qkv.matrix(),
      .out = out.matrix()};
  device.attention(forward);
  forward.out = {};
  device.attention_backward({forward, d_out.matrix(), d_qkv.matrix(), d_weight.vector()});
  return collect("attention", out, d_qkv, d_weight);
}

/// Node and edge rows of atoms [first, first + count) of a token matrix.
Table token_rows(const naive::AttentionInputs& all, const Table& t, std::int64_t first,
                 std::int64_t count) {
  Table nodes = t.slice_rows(first, count);
  const std::int64_t from = all.offsets[std::size_t(first)] - all.offsets[0];
  const std::int64_t to = all.offsets[std::size_t(first + count)] - all.offsets[0];
  const Table edges = t.slice_rows(all.atoms() + from, to - from);
  nodes.values.insert(nodes.values.end(), edges.values.begin(), edges.values.end());
  nodes.rows += edges.rows;
  return nodes;
}

Table edge_columns(const naive::AttentionInputs& all, const Table& t, std::int64_t first,
                   std::int64_t count) {
  const std::int64_t from = all.offsets[std::size_t(first)] - all.offsets[0];
  const std::int64_t to = all.offsets[std::size_t(first + count)] - all.offsets[0];
  Table part(1, to - from);
  std::copy(t.values.begin() + from, t.values.begin() + to, part.values.begin());
  return part;
}

naive::AttentionInputs some_atoms(const naive::AttentionInputs& all, std::int64_t first,
                                  std::int64_t count) {
  naive::AttentionInputs part = all;
  part.offsets = {all.offsets.begin() + first, all.offsets.begin() + first + count + 1};
  for (Table* t : {&part.qkv, &part.d_out}) *t = token_rows(all, *t, first, count);
  for (Table* t : {&part.weight, &part.d_weight}) *t = edge_columns(all, *t, first, count);
  return part;
}

template <class Real>
struct AttentionTest : ::testing::Test {};
TYPED_TEST_SUITE(AttentionTest, Reals, RealNames);

template <class Real>
void expect_plain_loops(const naive::AttentionInputs& in, const std::string& what) {
  const Tables actual =
      on_all_devices<Real>(what, [&](Device<Real>& device) { return evaluate(device, in); });
  const double near = allowance<Real>(100);
  const Estimate out = naive::attention(in);
  const auto gradient = naive::attention_backward(in);
  expect_within(actual[0], out.value, out.magnitude, near, what + ", out");
  expect_within(actual[1], gradient.d_qkv.value, gradient.d_qkv.magnitude, near, what + ", d_qkv");
  expect_within(actual[2], gradient.d_weight.value, gradient.d_weight.magnitude, near,
                what + ", d_weight");
}

TYPED_TEST(AttentionTest, RaggedAtomsAgreeWithPlainLoops) {
  for (const std::int64_t width : {1, 3, 16, 20, 32, 64, 80}) {
    for (const std::int64_t heads : {1, 3}) {
      const std::string what =
          "heads " + std::to_string(heads) + ", width " + std::to_string(width);
      expect_plain_loops<TypeParam>(make_inputs<TypeParam>(kEdges, heads, width), what);
      expect_plain_loops<TypeParam>(
          make_inputs<TypeParam>(kEdges, heads, width, 7, kOrdinaryWeights), what + ", ordinary");
    }
  }
}

/// As many heads and atoms as a model has, around the sizes at which a GPU takes tokens in blocks.
TYPED_TEST(AttentionTest, ManyAtomsAgreeWithPlainLoops) {
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < 300; ++i) edges.push_back(36 + i * 7 % 18);
  for (const std::int64_t width : {16, 32, 64}) {
    expect_plain_loops<TypeParam>(make_inputs<TypeParam>(edges, 8, width, 7, kOrdinaryWeights),
                                  "8 heads, width " + std::to_string(width));
  }
}

TYPED_TEST(AttentionTest, SmallWeightsHaveNoGradient) {
  const auto in = make_inputs<TypeParam>(kEdges, 2, 16);
  const Table d_weight = evaluate(*devices<TypeParam>().front(), in)[2];
  for (std::int64_t e = 0; e < in.edges(); ++e) {
    const bool below = in.weight(0, e) < in.least_weight;
    EXPECT_EQ(d_weight(0, e) == in.d_weight(0, e), below) << "f = " << in.weight(0, e);
  }
}

TYPED_TEST(AttentionTest, LargeScoresStayFinite) {
  auto in = make_inputs<TypeParam>(kEdges, 2, 16);
  for (double& x : in.qkv.values) x *= 64;  // scores of several thousand: one key takes it all
  const Tables actual = evaluate(*devices<TypeParam>().front(), in);
  double largest = 0;
  for (const double x : in.qkv.values) largest = std::max(largest, std::abs(x));
  for (const Table& t : actual) {
    for (const double x : t.values) ASSERT_TRUE(std::isfinite(x));
  }
  for (const double x : actual[0].values) ASSERT_LE(std::abs(x), largest * (1 + 1e-5));
}

TYPED_TEST(AttentionTest, AtomsDependOnThemselvesAlone) {
  const auto in = make_inputs<TypeParam>(kEdges, 2, 20);
  for (const auto& device : devices<TypeParam>()) {
    const Tables all = evaluate(*device, in);
    for (const auto& [first, count] : {std::pair{1, 5}, {3, 1}, {6, 1}, {0, 9}}) {
      const Tables alone = evaluate(*device, some_atoms(in, first, count));
      expect_same_bits(alone[0], token_rows(in, all[0], first, count), "out");
      expect_same_bits(alone[1], token_rows(in, all[1], first, count), "d_qkv");
      expect_same_bits(alone[2], edge_columns(in, all[2], first, count), "d_weight");
    }
    auto spoiled = in;
    spoiled.qkv = with_rows(in.qkv, 3, 1, std::nan(""));
    const Tables others = evaluate(*device, spoiled);
    EXPECT_TRUE(std::isnan(others[0](3, 0)));
    for (const auto& [first, count] : {std::pair{0, 3}, {4, 5}}) {
      expect_same_bits(token_rows(in, others[0], first, count),
                       token_rows(in, all[0], first, count), "out beside NaN");
      expect_same_bits(token_rows(in, others[1], first, count),
                       token_rows(in, all[1], first, count), "d_qkv beside NaN");
    }
  }
}

TYPED_TEST(AttentionTest, NoAtomsAndNoEdges) {
  const auto none = make_inputs<TypeParam>({}, 2, 16);
  EXPECT_EQ(evaluate(*devices<TypeParam>().front(), none)[0].rows, 0);
  const std::array<std::int64_t, 3> bare = {0, 0, 0};
  const auto in = make_inputs<TypeParam>(bare, 2, 16);
  const Tables actual = evaluate(*devices<TypeParam>().front(), in);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t c = 0; c < 32; ++c) EXPECT_EQ(actual[0](i, c), in.qkv(i, 64 + c));
  }
}

TEST(AttentionGradient, AgreesWithDifferences) {
  auto& device = *devices<double>().front();
  const std::array<std::int64_t, 3> edges = {2, 0, 5};
  auto in = make_inputs<double>(edges, 2, 3, 0);
  in.weight = random_table<double>(1, in.edges(), 9);
  for (double& f : in.weight.values) f = 0.55 + 0.4 * f;
  std::fill(in.d_weight.values.begin(), in.d_weight.values.end(), 0.0);
  const auto energy = [&](const Table& qkv, const Table& weight) {
    auto moved = in;
    moved.qkv = qkv;
    moved.weight = weight;
    return inner(in.d_out, evaluate(device, moved)[0]);
  };
  const Tables actual = evaluate(device, in);
  expect_gradient([&](const Table& qkv) { return energy(qkv, in.weight); }, in.qkv, actual[1], 1e-9,
                  "d_qkv");
  expect_gradient([&](const Table& weight) { return energy(in.qkv, weight); }, in.weight, actual[2],
                  1e-9, "d_weight");
}

}  // namespace
}  // namespace trine::test
