#include <gtest/gtest.h>

#include <array>

#include "ops/devices.hpp"
#include "ops/naive_message.hpp"

namespace trine::test {
namespace {

template <class Real>
naive::EmbeddingInputs make_embedding(std::int64_t edges, std::int64_t columns) {
  naive::EmbeddingInputs in;
  in.vector = random_table<double>(edges, 3, 1, 4);
  if (edges > 9) in.vector = with_rows(in.vector, 9, 1, 0.0);
  for (std::int64_t e = 0; e < edges; ++e) in.species.push_back(static_cast<int>(e * 7 % 5));
  in.weight = random_table<Real>(4, columns, 2);
  in.table = random_table<Real>(5, columns, 3);
  in.d_pre = random_table<Real>(edges, columns, 4);
  in.d_vector = random_table<double>(edges, 3, 5);
  return in;
}

naive::EmbeddingInputs some_edges(const naive::EmbeddingInputs& all, std::int64_t first,
                                  std::int64_t count) {
  naive::EmbeddingInputs part = all;
  for (Table* t : {&part.vector, &part.d_pre, &part.d_vector}) *t = t->slice_rows(first, count);
  part.species = {all.species.begin() + first, all.species.begin() + first + count};
  return part;
}

/// {pre, y, d_vector}
template <class Real>
Tables embed(Device<Real>& device, const naive::EmbeddingInputs& in, std::int64_t gap = 0) {
  const std::int64_t edges = in.vector.rows, columns = in.table.cols;
  const Guarded<double> vector(in.vector), d_vector(in.d_vector);
  const Guarded<Real> weight(in.weight), table(in.table, gap), d_pre(in.d_pre, gap);
  const Guarded<Real> pre(edges, columns, gap), y(edges, columns, gap), alone(edges, columns);
  device.edge_embedding({vector.vectors(), view(in.species), weight.matrix(), table.matrix(),
                         pre.matrix(), y.matrix()});
  device.edge_embedding(
      {vector.vectors(), view(in.species), weight.matrix(), table.matrix(), alone.matrix(), {}});
  expect_same_bits(alone.table(), pre.table(), "pre without y");
  device.edge_embedding_backward(
      {vector.vectors(), weight.matrix(), d_pre.matrix(), d_vector.vectors()});
  return collect("edge embedding", pre, y, d_vector);
}

template <class Real>
struct EdgeEmbeddingTest : ::testing::Test {};
TYPED_TEST_SUITE(EdgeEmbeddingTest, Reals, RealNames);

TYPED_TEST(EdgeEmbeddingTest, AgreesWithPlainLoops) {
  for (const std::int64_t edges : {0, 1, 70}) {
    for (const std::int64_t columns : {1, 3, 16, 33, 128, 150}) {
      const auto in = make_embedding<TypeParam>(edges, columns);
      const Tables actual = on_all_devices<TypeParam>(
          "edge embedding", [&](Device<TypeParam>& device) { return embed(device, in); });
      const Estimate pre = naive::edge_embedding(in), y = naive::silu(pre),
                     d = naive::edge_embedding_backward(in);
      const double near = allowance<TypeParam>(4);
      expect_within(actual[0], pre.value, pre.magnitude, near, "pre");
      expect_within(actual[1], y.value, y.magnitude, near, "y");
      expect_within(actual[2], d.value, d.magnitude, near + allowance<TypeParam>(columns),
                    "d_vector");
    }
  }
}

TYPED_TEST(EdgeEmbeddingTest, SmallPartsDependOnThemselvesAlone) {
  const auto in = make_embedding<TypeParam>(70, 33);
  for (const auto& device : devices<TypeParam>()) {
    const Tables all = embed(*device, in), alone = embed(*device, some_edges(in, 5, 60));
    expect_same_bits(embed(*device, in, 3), all, "gaps between rows");
    for (std::size_t k = 0; k < all.size(); ++k) {
      expect_same_bits(alone[k], all[k].slice_rows(5, 60), "edges alone");
    }
  }
}

TEST(EdgeEmbeddingGradient, AgreesWithDifferences) {
  auto& device = *devices<double>().front();
  auto in = make_embedding<double>(6, 5);
  in.d_vector = Table(6, 3);
  const auto energy = [&](const Table& vector) {
    auto moved = in;
    moved.vector = vector;
    return inner(in.d_pre, embed(device, moved)[0]);
  };
  expect_gradient(energy, in.vector, embed(device, in)[2], 1e-9, "d_vector");
}

}  // namespace
}  // namespace trine::test
