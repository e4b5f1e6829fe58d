// Which pairs become edges, how they find their reverse, and their weights.
#include "cpu/edges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/edge_chain.hpp"
#include "cpu/neighbor_list.hpp"
#include "cpu/pair_geometry.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

using test::Chain;
using test::ChainSettings;
using test::Frame;
using test::Radius;

std::vector<Frame> some_frames() {
  test::Random random(23);
  Frame crystal{{}, {{{4, 0.3, 0}, {-0.5, 3.6, 0.7}, {0.2, 0.1, 4.4}}}, {true, true, true}};
  for (int i = 0; i < 9; ++i) {
    crystal.positions.push_back(test::random_in_cell(random, crystal.cell, -2, 3));
  }
  Frame chain{{{0, 0, 0}}, {{{0, 0, 1.1}, {0, 0, 0}, {0, 0, 0}}}, {true, false, false}};
  Frame cluster = test::random_cluster(random, 30, 5, 0.5);
  cluster.positions.push_back({40, 0, 0});
  return {crystal, {}, chain, cluster};
}

template <class T>
std::vector<T> copy(const Buffer<T>& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

TEST(SelectEdges, KeepsPairsUpToTheMeanRadius) {
  for (Radius radius : {Radius::fixed, Radius::solver, Radius::grid}) {
    const Chain chain(some_frames(), {.radius = radius});
    const auto& [list, edges] = std::tie(chain.list, chain.edges);
    std::int64_t e = 0;
    for (std::int64_t i = 0; i + 1 < list.offsets.size(); ++i) {
      ASSERT_EQ(edges.offsets[i], e);
      for (std::int64_t k = list.offsets[i]; k < list.offsets[i + 1]; ++k) {
        const std::int32_t j = list.neighbor[k];
        const double cutoff =
            radius == Radius::fixed ? 5.0 : (chain.radius[i] + chain.radius[j]) / 2;
        if (!(chain.distance[k] <= cutoff)) continue;
        ASSERT_EQ(edges.pair[e], k);
        ASSERT_EQ(edges.centre[e], i);
        ASSERT_EQ(edges.neighbor[e], j);
        ASSERT_EQ(edges.pair_cutoff[e], cutoff);
        ++e;
      }
    }
    EXPECT_EQ(edges.pair.size(), e);
    EXPECT_EQ(radius == Radius::fixed, e == list.neighbor.size());
    EXPECT_GT(e, 100);
  }
}

TEST(SelectEdges, ReverseIsExactAndAnInvolution) {
  for (Radius radius : {Radius::fixed, Radius::solver, Radius::grid}) {
    const Chain chain(some_frames(), {.radius = radius});
    const auto& edges = chain.edges;
    for (std::int64_t e = 0; e < edges.pair.size(); ++e) {
      const std::int64_t r = edges.reverse[e];
      ASSERT_NE(r, e);
      ASSERT_EQ(edges.reverse[r], e);
      ASSERT_EQ(edges.centre[r], edges.neighbor[e]);
      ASSERT_EQ(edges.neighbor[r], edges.centre[e]);
      const Vec3 &v = chain.vector[edges.pair[e]], &w = chain.vector[edges.pair[r]];
      ASSERT_TRUE(v[0] == -w[0] && v[1] == -w[1] && v[2] == -w[2]);
    }
  }
}

/// Systems A and B of the specification's appendix C.
TEST(SelectEdges, MatchesTheSmallSpecifiedSystems) {
  const Frame a{{{0.1, 0.2, 0.3}, {1.7, 0.4, 0.9}, {0.6, 2.1, 1.5}, {2.4, 2.2, 3.1}},
                {{{3.6, 0, 0}, {0.4, 3.9, 0}, {-0.3, 0.5, 4.2}}},
                {true, true, true}};
  const Frame b{
      {{0, 0, 0}, {0.9, 0.3, -0.2}, {-0.4, 1, 0.5}, {0.2, -0.8, 1.6}, {3.9, 0.2, 0.1}, {20, 0, 0}},
      {},
      {}};
  struct Case {
    const Frame& frame;
    Radius method;
    double width, num_neighbors;
    std::int64_t pairs, kept;
    std::vector<double> radii;
  };
  const Case cases[] = {
      {a, Radius::fixed, 0, 0, 76, 76, {}},
      {a, Radius::solver, 1, 10, 76, 32, {3.181178328, 3.2517563, 3.156151423, 3.296168717}},
      {a, Radius::grid, 0.5, 10, 76, 30, {3.190149192, 3.136488067, 3.034281139, 3.206425891}},
      {b, Radius::fixed, 0, 0, 16, 16, {}},
      {b,
       Radius::grid,
       0.5,
       4,
       16,
       14,
       {2.586727607, 2.699189339, 2.6431057, 2.651576073, 3.547980338, 3.816641496}},
      {b,
       Radius::solver,
       1,
       4,
       16,
       14,
       {2.583539419, 2.802127235, 2.786904679, 2.873462396, 3.711913264, 4}}};
  for (const auto& c : cases) {
    const Chain chain({c.frame},
                      {c.method, CutoffFunction::bump, 4.0, 0.5, c.width, c.num_neighbors});
    EXPECT_EQ(chain.list.neighbor.size(), c.pairs);
    EXPECT_EQ(chain.edges.pair.size(), c.kept);
    for (std::size_t i = 0; i < c.radii.size(); ++i) {
      const double radius = chain.radius[static_cast<std::int64_t>(i)];
      if (!(std::abs(radius - c.radii[i]) <= 5.1e-10))
        FAIL() << radius << " instead of " << c.radii[i];
    }
  }
}

TEST(SelectEdges, DevicesAgreeInEveryBit) {
  const Chain one(some_frames(), {.radius = Radius::solver});
  for (const auto& device : test::devices<float>()) {
    const Chain other(some_frames(), {.radius = Radius::solver}, *device);
    EXPECT_EQ(copy(one.edges.pair), copy(other.edges.pair));
    EXPECT_EQ(copy(one.edges.reverse), copy(other.edges.reverse));
    EXPECT_EQ(copy(one.weight), copy(other.weight));
    EXPECT_EQ(copy(one.slope), copy(other.slope));
  }
}

/// Pairs, vectors, distances and, with the same radii, edges.
TEST(SelectEdges, EveryDeviceFindsTheCpusBits) {
  for (Radius radius : {Radius::fixed, Radius::solver, Radius::grid}) {
    const Chain chain(some_frames(), {.radius = radius});
    const auto atoms = chain.batch.view();
    NeighborList<MemSpace::host> list;
    cpu::neighbor_list({atoms, chain.settings.cutoff, &list}, 1);
    EXPECT_EQ(copy(chain.list.offsets), copy(list.offsets));
    EXPECT_EQ(copy(chain.list.neighbor), copy(list.neighbor));
    EXPECT_EQ(copy(chain.list.shift), copy(list.shift));
    Buffer<Vec3> vector(list.neighbor.size());
    Buffer<double> distance(list.neighbor.size());
    cpu::pair_geometry({atoms, &list, vector.view(), distance.view()}, 1);
    EXPECT_EQ(copy(chain.vector), copy(vector));
    EXPECT_EQ(copy(chain.distance), copy(distance));
    Edges<MemSpace::host> edges;
    cpu::select_edges({&list, distance.view(), chain.radius.view(), chain.settings.cutoff, &edges},
                      1);
    EXPECT_EQ(copy(chain.edges.offsets), copy(edges.offsets));
    EXPECT_EQ(copy(chain.edges.pair), copy(edges.pair));
    EXPECT_EQ(copy(chain.edges.centre), copy(edges.centre));
    EXPECT_EQ(copy(chain.edges.neighbor), copy(edges.neighbor));
    EXPECT_EQ(copy(chain.edges.reverse), copy(edges.reverse));
    EXPECT_EQ(copy(chain.edges.pair_cutoff), copy(edges.pair_cutoff));
  }
}

TEST(GatherEdges, TakesVectorsAndSpeciesOfTheNeighbours) {
  const Chain chain(some_frames(), {.radius = Radius::solver});
  const std::int64_t count = chain.edges.pair.size();
  std::vector<std::int32_t> species;
  for (std::int64_t i = 0; i < chain.batch.view().atoms(); ++i) {
    species.push_back(static_cast<std::int32_t>(i * 7 % 5));
  }
  for (const auto& device : test::devices<float>()) {
    std::vector<Vec3> vector(static_cast<std::size_t>(count));
    std::vector<std::int32_t> found(vector.size());
    device->gather_edges({&chain.edges,
                          chain.vector.view(),
                          test::view(species),
                          {vector.data(), count},
                          {found.data(), count}});
    for (std::int64_t e = 0; e < count; ++e) {
      const auto at = static_cast<std::size_t>(e);
      ASSERT_EQ(vector[at], chain.vector[chain.edges.pair[e]]);
      ASSERT_EQ(found[at], species[static_cast<std::size_t>(chain.edges.neighbor[e])]);
    }
  }
}

/// Vectors and species of a chain's edges, forces and strain for some gradients of their weights
/// and vectors.
std::vector<std::vector<double>> gather_and_go_back(const Chain& chain,
                                                    test::Device<float>& device) {
  const std::int64_t rows = chain.edges.pair.size(), atoms = chain.batch.view().atoms();
  Buffer<Vec3> vector(rows), d_vector(rows), forces(atoms);
  Buffer<double> d_weight(rows);
  Buffer<std::int32_t> species(atoms), edge_species(rows);
  Buffer<Mat3> strain(chain.batch.view().structures());
  std::iota(species.view().begin(), species.view().end(), 0);
  device.gather_edges({&chain.edges, chain.vector.view(), species.const_view(), vector.view(),
                       edge_species.view()});
  std::fill_n(d_weight.data(), rows, std::numeric_limits<double>::quiet_NaN());
  std::fill_n(d_vector.data(), rows, Vec3{std::numeric_limits<double>::quiet_NaN()});
  test::Random random(29);
  for (std::int64_t e = 0; e < chain.edges.offsets[atoms]; ++e) {
    d_weight[e] = test::uniform(random, -1, 1);
    d_vector[e] = test::random_vector(random, 1);
  }
  device.edge_backward({.atoms = chain.batch.view(),
                        .list = &chain.list,
                        .edges = &chain.edges,
                        .vector = chain.vector.view(),
                        .distance = chain.distance.view(),
                        .slope = chain.slope.view(),
                        .d_weight = d_weight.const_view(),
                        .d_vector = d_vector.const_view(),
                        .adaptive = chain.radius.size() > 0 ? &chain.adaptive : nullptr,
                        .forces = forces.view(),
                        .strain_gradient = strain.view()});
  std::vector<std::vector<double>> all(4);
  for (const Vec3& v : vector.view()) all[0].insert(all[0].end(), v.begin(), v.end());
  all[1].assign(edge_species.view().begin(), edge_species.view().end());
  for (const Vec3& f : forces.view()) all[2].insert(all[2].end(), f.begin(), f.end());
  for (const Mat3& m : strain.view()) {
    for (const Vec3& row : m) all[3].insert(all[3].end(), row.begin(), row.end());
  }
  return all;
}

TEST(SelectEdges, NothingComesOfRowsThatFillUp) {
  const auto filled_up = [](auto values, std::int64_t rows) {
    values.resize(static_cast<std::size_t>(rows));
    return values;
  };
  for (Radius radius : {Radius::fixed, Radius::solver, Radius::grid}) {
    const Chain plain(some_frames(), {.radius = radius});
    const std::int64_t edges = plain.edges.pair.size();
    for (const auto& device : test::devices<float>()) {
      const auto expected = gather_and_go_back(plain, *device);
      for (std::int64_t granule : {std::int64_t{7}, std::int64_t{256}, edges, 3 * edges}) {
        const Chain filled(some_frames(), {.radius = radius, .granule = granule}, *device);
        const std::int64_t rows = (edges + granule - 1) / granule * granule;
        EXPECT_EQ(copy(filled.edges.offsets), copy(plain.edges.offsets));
        EXPECT_EQ(copy(filled.edges.pair), filled_up(copy(plain.edges.pair), rows));
        EXPECT_EQ(copy(filled.edges.centre), filled_up(copy(plain.edges.centre), rows));
        EXPECT_EQ(copy(filled.edges.neighbor), filled_up(copy(plain.edges.neighbor), rows));
        EXPECT_EQ(copy(filled.edges.pair_cutoff), filled_up(copy(plain.edges.pair_cutoff), rows));
        auto reverse = copy(plain.edges.reverse);
        while (std::ssize(reverse) < rows) reverse.push_back(std::ssize(reverse));
        EXPECT_EQ(copy(filled.edges.reverse), reverse);
        EXPECT_EQ(copy(filled.weight), filled_up(copy(plain.weight), rows));
        EXPECT_EQ(copy(filled.slope), filled_up(copy(plain.slope), rows));
        const auto found = gather_and_go_back(filled, *device);
        EXPECT_EQ(found[0], filled_up(expected[0], 3 * rows));
        EXPECT_EQ(found[1], filled_up(expected[1], rows));
        EXPECT_EQ(found[2], expected[2]);
        EXPECT_EQ(found[3], expected[3]);
      }
    }
  }
  const Chain none({Frame{{{0, 0, 0}}, {}, {}}}, {.granule = 256});
  EXPECT_EQ(none.edges.pair.size(), 0);
}

TEST(Edges, RowsStayAsTheyWereWhereFewAreLeftOver) {
  const Chain plain(some_frames(), {});
  const std::int64_t edges = plain.edges.pair.size();
  ASSERT_GT(edges, 60);
  constexpr std::int64_t kGranule = 20;
  const std::int64_t rows = (edges + kGranule - 1) / kGranule * kGranule;
  for (std::int64_t before = 0; before < edges + 5 * kGranule; before += kGranule) {
    const bool stays = before >= edges && before - edges < 3 * kGranule / 2;
    const Chain again(some_frames(), {.granule = kGranule, .rows = before});
    EXPECT_EQ(again.edges.pair.size(), stays ? before : rows) << before << " before";
    EXPECT_EQ(again.edges.offsets[again.edges.offsets.size() - 1], edges);
  }
}

/// Atoms 0 and 1 at distance 1, and a pair (0, 2) beyond the cutoff of the network.
struct HandMadeList {
  NeighborList<MemSpace::host> list;
  std::vector<double> distance;
  Edges<MemSpace::host> edges;

  explicit HandMadeList(std::vector<std::tuple<std::int64_t, std::int32_t, Shift, double>> pairs) {
    list.offsets.resize(4);
    list.neighbor.resize(std::ssize(pairs));
    list.shift.resize(std::ssize(pairs));
    std::fill_n(list.offsets.data(), 4, 0);
    std::int64_t k = 0;
    for (const auto& [i, j, shift, d] : pairs) {
      list.neighbor[k] = j;
      list.shift[k++] = shift;
      distance.push_back(d);
      for (std::int64_t row = i + 1; row < 4; ++row) list.offsets[row] = k;
    }
  }
  void select(double cutoff) {
    test::first_device().select_edges({&list, test::view(distance), {}, cutoff, &edges});
  }
};

TEST(SelectEdges, TheCutoffItselfIsKept) {
  HandMadeList made({{0, 1, {}, 1.0}, {1, 0, {}, 1.0}});
  made.select(1.0);
  EXPECT_EQ(made.edges.pair.size(), 2);
  made.select(std::nextafter(1.0, 0.0));
  EXPECT_EQ(made.edges.pair.size(), 0);
}

TEST(SelectEdges, RefusesAListWithoutTheReversePair) {
  using Pairs = std::vector<std::tuple<std::int64_t, std::int32_t, Shift, double>>;
  const std::pair<Pairs, std::string> lists[] = {
      {{{0, 1, {}, 1.0}, {0, 2, {}, 9.0}},
       "pair 0 of the neighbour list (atoms 0 and 1, shift 0 0 0)"},
      {{{0, 1, {1, 0, -2}, 1.0}, {1, 0, {1, 0, 2}, 1.0}}, "atoms 0 and 1, shift 1 0 -2"},
      {{{0, 0, {0, 1, 0}, 1.0}, {0, 1, {}, 1.0}, {1, 0, {}, 1.0}}, "atoms 0 and 0, shift 0 1 0"},
      {{{0, 1, {}, 1.0}, {0, 2, {}, 1.0}, {1, 0, {}, 1.0}, {1, 2, {}, 1.0}, {2, 1, {}, 1.0}},
       "pair 1 of the neighbour list (atoms 0 and 2"},
  };
  for (const auto& [pairs, message] : lists) {
    try {
      HandMadeList(pairs).select(5.0);
      FAIL() << "accepted: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  HandMadeList far({{0, 1, {}, 1.0}, {0, 2, {}, 9.0}, {1, 0, {}, 1.0}});
  EXPECT_NO_THROW(far.select(5.0));  // what the network does not see needs no partner
}

TEST(CutoffWeights, MatchTables) {
  const double table[][4] = {{0, 1, 0, 1},
                             {0.05, 0.999996719472449, -0.000842281477618, 0.993844170298},
                             {0.1, 0.997882431723092, -0.139037496437, 0.975528258148},
                             {0.25, 0.880797077977882, -1.31938830631, 0.853553390593},
                             {0.5, 0.5, -1.57079632679, 0.5},
                             {0.75, 0.119202922022118, -1.31938830631, 0.146446609407},
                             {0.9, 0.00211756827690845, -0.139037496437, 0.0244717418524},
                             {0.95, 3.28052755066421e-06, -0.000842281477618, 0.00615582970243},
                             {0.99, 0, 0, 0.000246719817134},
                             {1, 0, 0, 0}};
  const double cutoff = 4, width = 0.5;
  for (const auto& [u, bump, bump_slope, cosine] : table) {
    const double d = cutoff - width + u * width;
    for (auto function : {CutoffFunction::bump, CutoffFunction::cosine}) {
      HandMadeList made({{0, 1, {}, d}, {1, 0, {}, d}});
      made.select(cutoff);
      double weight[2], slope[2];
      test::first_device().cutoff_weights(
          {function, width, &made.edges, test::view(made.distance), {weight, 2}, {slope, 2}});
      const bool is_bump = function == CutoffFunction::bump;
      const double expected = is_bump ? bump : cosine;
      const double expected_slope =
          is_bump ? bump_slope : -std::numbers::pi / 2 * std::sin(std::numbers::pi * u);
      for (int e : {0, 1}) {
        if (!(std::abs(weight[e] - expected) <= 1e-12)) FAIL() << u << " " << weight[e];
        if (!(std::abs(width * slope[e] - expected_slope) <= 6e-12)) FAIL() << u << " " << slope[e];
      }
    }
  }
}

}  // namespace
}  // namespace trine
