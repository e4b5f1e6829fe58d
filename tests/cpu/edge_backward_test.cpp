// Forces and strain gradient of a made-up energy against finite differences of the whole chain.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cpu/edge_chain.hpp"
#include "cpu/pair_geometry.hpp"

namespace trine {
namespace {

using test::Chain;
using test::ChainSettings;
using test::Frame;
using test::Radius;

/// Numbers that belong to a pair whatever its place in the list; different for both directions.
struct Coefficients {
  double a;
  Vec3 b;
};

Coefficients coefficients(std::int64_t i, std::int64_t j, const Shift& s) {
  const double phase = 1.3 * double(i) + 2.1 * double(j) + 0.7 * s[0] + 0.4 * s[1] - 0.9 * s[2];
  return {std::sin(phase), {std::cos(phase), std::sin(2 * phase), std::cos(3 * phase)}};
}

struct Answer {
  std::vector<double> energies;  ///< per structure
  std::vector<Vec3> forces;
  std::vector<Mat3> strain;
};

/// E = sum_e f_e (a_e + b_e . v_e): smooth where an edge appears, and no two edges alike.
Answer evaluate(const std::vector<Frame>& frames, const ChainSettings& settings,
                test::Device<float>& device = test::first_device()) {
  const Chain chain(frames, settings, device);
  const auto atoms = chain.batch.view();
  const auto& edges = chain.edges;
  Answer answer;
  answer.energies.assign(frames.size(), 0.0);
  answer.forces.resize(static_cast<std::size_t>(atoms.atoms()));
  answer.strain.resize(frames.size());
  std::vector<double> d_weight;
  std::vector<Vec3> d_vector;
  for (std::int64_t e = 0; e < edges.pair.size(); ++e) {
    const std::int64_t k = edges.pair[e];
    const std::int64_t b = cpu::structure_of(atoms.first_atom, edges.centre[e]);
    const std::int64_t first = atoms.first_atom[b];
    const auto c =
        coefficients(edges.centre[e] - first, edges.neighbor[e] - first, chain.list.shift[k]);
    const Vec3& v = chain.vector[k];
    const double f = chain.weight[e];
    d_weight.push_back(c.a + c.b[0] * v[0] + c.b[1] * v[1] + c.b[2] * v[2]);
    d_vector.push_back({f * c.b[0], f * c.b[1], f * c.b[2]});
    answer.energies[static_cast<std::size_t>(b)] += f * d_weight.back();
  }
  device.edge_backward({.atoms = atoms,
                        .list = &chain.list,
                        .edges = &chain.edges,
                        .vector = chain.vector.view(),
                        .distance = chain.distance.view(),
                        .slope = chain.slope.view(),
                        .d_weight = {d_weight.data(), std::ssize(d_weight)},
                        .d_vector = {d_vector.data(), std::ssize(d_vector)},
                        .adaptive = settings.radius == Radius::fixed ? nullptr : &chain.adaptive,
                        .forces = {answer.forces.data(), std::ssize(answer.forces)},
                        .strain_gradient = {answer.strain.data(), std::ssize(answer.strain)}});
  return answer;
}

/// Fourth-order central difference of `energy` at 0.
template <class Energy>
double derivative(Energy&& energy) {
  const double h = 3e-5;
  return (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
}

Vec3 strained(const Vec3& r, std::size_t a, std::size_t b, double strain) {
  Vec3 moved = r;
  moved[b] += strain * r[a];
  return moved;
}

Frame strained(const Frame& frame, std::size_t a, std::size_t b, double strain) {
  Frame moved = frame;
  for (Vec3& r : moved.positions) r = strained(r, a, b, strain);
  for (Vec3& row : moved.cell) row = strained(row, a, b, strain);
  return moved;
}

void expect_gradient(const Frame& frame, const ChainSettings& settings, const std::string& name) {
  const Answer answer = evaluate({frame}, settings);
  const auto energy = [&](const Frame& f) { return evaluate({f}, settings).energies[0]; };
  double scale = 1e-3;
  for (const Vec3& f : answer.forces)
    scale = std::max({scale, std::abs(f[0]), std::abs(f[1]), std::abs(f[2])});
  for (std::size_t i = 0; i < frame.positions.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double numeric = -derivative([&](double h) {
        Frame moved = frame;
        moved.positions[i][c] += h;
        return energy(moved);
      });
      const double error = std::abs(answer.forces[i][c] - numeric);
      if (!(error <= 1e-7 * scale))
        FAIL() << name << ": force " << i << c << " is off by " << error;
    }
  }
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      const double numeric = derivative([&](double h) { return energy(strained(frame, a, b, h)); });
      const double error = std::abs(answer.strain[0][a][b] - numeric);
      const double largest = std::max(std::abs(numeric), scale);
      if (!(error <= 1e-7 * largest))
        FAIL() << name << ": strain " << a << b << " is off by " << error;
    }
  }
}

std::vector<std::pair<std::string, Frame>> some_frames() {
  test::Random random(29);
  Frame crystal{{}, {{{4.2, 0.3, 0}, {-0.5, 3.9, 0.7}, {0.2, 0.1, 4.4}}}, {true, true, true}};
  const Vec3 sites[] = {
      {0.1, 0.2, 0.3}, {1.8, 0.4, 0.9}, {0.6, 2.2, 1.7}, {2.6, 2.4, 3.2}, {-9.1, 0.6, 7.0}};
  crystal.positions.assign(std::begin(sites), std::end(sites));
  Frame cluster = test::random_cluster(random, 14, 3, 0.9);
  cluster.positions.push_back({60, 0, 0});
  Frame slab = test::random_cluster(random, 6, 2, 0.9);
  slab.cell = {{{4.4, 0.2, 0.1}, {0.4, 5.1, -0.3}, {7, 8, 9}}};
  slab.pbc = {true, true, false};
  slab.cell[2] = {};
  const Frame one{{{0.3, 0.1, 0.2}},
                  {{{1.317, 0, 0.121}, {0.236, 0, 1.413}, {0, 1.229, 0.107}}},
                  {true, true, true}};
  return {{"crystal", crystal}, {"cluster", cluster}, {"slab", slab}, {"one atom", one}};
}

std::vector<ChainSettings> some_settings() {
  using enum CutoffFunction;
  return {{Radius::fixed, bump, 4.1, 0.5, 1, 0},   {Radius::fixed, cosine, 4.1, 1.0, 1, 0},
          {Radius::solver, bump, 4.5, 0.5, 1, 8},  {Radius::solver, cosine, 4.5, 1.2, 0.6, 12},
          {Radius::grid, bump, 4.5, 0.6, 0.5, 10}, {Radius::grid, cosine, 4.0, 1.0, 1.0, 6}};
}

TEST(EdgeBackward, MatchesDifferences) {
  for (const auto& [name, frame] : some_frames()) {
    for (std::size_t s = 0; s < some_settings().size(); ++s) {
      expect_gradient(frame, some_settings()[s], name + ", settings " + std::to_string(s));
    }
  }
}

TEST(EdgeBackward, ForcesAddUpToNothing) {
  for (const auto& [name, frame] : some_frames()) {
    for (const auto& settings : some_settings()) {
      Vec3 total{};
      for (const Vec3& f : evaluate({frame}, settings).forces) {
        for (std::size_t c = 0; c < 3; ++c) total[c] += f[c];
      }
      for (double t : total) EXPECT_LE(std::abs(t), 1e-11) << name;
    }
  }
}

TEST(EdgeBackward, OneAtomHasNoForceButStrain) {
  const auto answer = evaluate({some_frames()[3].second}, some_settings()[2]);
  EXPECT_EQ(answer.forces[0], Vec3{});
  EXPECT_GT(std::abs(answer.strain[0][0][0]), 1e-3);
}

TEST(EdgeBackward, CoincidentAtomsHaveNoDirection) {
  Frame frame{{{0, 0, 0}, {0, 0, 0}, {9, 0, 0}}, {}, {}};
  for (const auto& settings : some_settings()) {
    const Chain chain({frame}, settings);
    ASSERT_EQ(chain.edges.pair.size(), 2);
    EXPECT_EQ(chain.distance[0], 1e-15);
    const std::vector<double> d_weight(2, 0.7);
    const std::vector<Vec3> d_vector(2);
    std::vector<Vec3> forces(3);
    Mat3 strain;
    test::first_device().edge_backward(
        {chain.batch.view(),
         &chain.list,
         &chain.edges,
         chain.vector.view(),
         chain.distance.view(),
         chain.slope.view(),
         {d_weight.data(), 2},
         {d_vector.data(), 2},
         settings.radius == Radius::fixed ? nullptr : &chain.adaptive,
         {forces.data(), 3},
         {&strain, 1}});
    for (const Vec3& f : forces) EXPECT_EQ(f, Vec3{});
    EXPECT_EQ(strain, Mat3{});
  }
}

TEST(EdgeBackward, SmallFramesGiveTheSameInABatch) {
  std::vector<Frame> frames(1);
  for (const auto& [name, frame] : some_frames()) {
    frames.push_back(frame);
    frames.emplace_back();
  }
  for (const auto& settings : some_settings()) {
    Answer alone;
    for (const Frame& frame : frames) {
      const Answer one = evaluate({frame}, settings);
      alone.forces.insert(alone.forces.end(), one.forces.begin(), one.forces.end());
      alone.strain.push_back(one.strain[0]);
    }
    for (const auto& device : test::devices<float>()) {
      const Answer batch = evaluate(frames, settings, *device);
      EXPECT_EQ(batch.forces, alone.forces);
      EXPECT_EQ(batch.strain, alone.strain);
    }
  }
}

}  // namespace
}  // namespace trine
