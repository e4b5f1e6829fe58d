// The neighbour list against a search over all pairs and images.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/frames.hpp"
#include "cpu/pair_geometry.hpp"
#include "ops/devices.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

using test::Batch;
using test::Frame;
using test::pick;
using test::Random;
using test::uniform;
using List = NeighborList<MemSpace::host>;
using Pair = std::tuple<std::int64_t, std::int64_t, Shift>;  // centre, neighbour, shift

std::unique_ptr<List> find(const Batch& batch, double cutoff,
                           test::Device<float>& device = test::first_device()) {
  auto list = std::make_unique<List>();
  device.neighbor_list({batch.view(), cutoff, list.get()});
  return list;
}

std::vector<Pair> pairs_of(const List& list) {
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i + 1 < list.offsets.size(); ++i) {
    for (std::int64_t k = list.offsets[i]; k < list.offsets[i + 1]; ++k) {
      pairs.emplace_back(i, list.neighbor[k], list.shift[k]);
    }
  }
  return pairs;
}

/// Dual vectors of the periodic rows (zero for open ones): whole shifts change dual[k] . r by
/// integers.
Mat3 dual_rows(const Frame& frame) {
  Mat3 dual{};
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < 3; ++k) {
    if (frame.pbc[k]) rows.push_back(k);
  }
  for (std::size_t k :
       rows) {  // the part of row k that is orthogonal to all others, by Gram-Schmidt
    std::vector<Vec3> others;
    const auto remove = [&](Vec3 v) {
      for (int twice = 0; twice < 2; ++twice) {
        for (const Vec3& o : others) {
          const double dot = v[0] * o[0] + v[1] * o[1] + v[2] * o[2];
          for (std::size_t c = 0; c < 3; ++c) v[c] -= dot * o[c];
        }
      }
      return v;
    };
    for (std::size_t m : rows) {
      if (m == k) continue;
      const Vec3 v = remove(frame.cell[m]);
      const double length = std::hypot(v[0], v[1], v[2]);
      others.push_back({v[0] / length, v[1] / length, v[2] / length});
    }
    const Vec3 v = remove(frame.cell[k]);
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    dual[k] = {v[0] / square, v[1] / square, v[2] / square};
  }
  return dual;
}

std::vector<Pair> search_everything(const Frame& frame, double cutoff) {
  const Mat3 dual = dual_rows(frame);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < frame.positions.size(); ++i) {
    for (std::size_t j = 0; j < frame.positions.size(); ++j) {
      const Vec3 &ri = frame.positions[i], &rj = frame.positions[j];
      std::array<std::int32_t, 3> low{}, high{};
      for (std::size_t k = 0; k < 3; ++k) {
        if (!frame.pbc[k]) continue;
        const Vec3& g = dual[k];
        const double s = g[0] * (rj[0] - ri[0]) + g[1] * (rj[1] - ri[1]) + g[2] * (rj[2] - ri[2]);
        const double reach = 1.0001 * cutoff * std::hypot(g[0], g[1], g[2]) + 1e-6;
        low[k] = static_cast<std::int32_t>(std::ceil(-s - reach));
        high[k] = static_cast<std::int32_t>(std::floor(-s + reach));
      }
      Shift s;
      for (s[0] = low[0]; s[0] <= high[0]; ++s[0]) {
        for (s[1] = low[1]; s[1] <= high[1]; ++s[1]) {
          for (s[2] = low[2]; s[2] <= high[2]; ++s[2]) {
            const Vec3 v = cpu::pair_vector(ri, rj, s, frame.cell);
            const bool itself = i == j && s == Shift{};
            if (!itself && cpu::squared_norm(v) <= cutoff * cutoff) pairs.emplace_back(i, j, s);
          }
        }
      }
    }
  }
  return pairs;
}

/// A frame with about `neighbours` pairs per atom, of every shape that a user might bring.
Frame random_frame(Random& random, double cutoff) {
  Frame frame;
  const int atoms = pick(random, 1, 40);
  const double density = uniform(random, 5, 60) / (4.2 * cutoff * cutoff * cutoff);
  const double length = std::cbrt(atoms / density) * uniform(random, 0.5, 1.5);
  for (std::size_t k = 0; k < 3; ++k) {
    frame.pbc[k] = pick(random, 0, 2) > 0;
    frame.cell[k] = test::random_vector(random, 0.3 * length);
    frame.cell[k][k] += length;
  }
  if (pick(random, 0, 1)) std::swap(frame.cell[0], frame.cell[1]);
  for (int skew = pick(random, 0, 3); skew > 0; --skew) {
    const auto a = static_cast<std::size_t>(pick(random, 0, 2));
    const double times = pick(random, -4, 4);
    for (std::size_t c = 0; c < 3; ++c) frame.cell[a][c] += times * frame.cell[(a + 1) % 3][c];
  }
  const double outside = std::array{0.0, 1.0, 1000.0}[static_cast<std::size_t>(pick(random, 0, 2))];
  for (int i = 0; i < atoms; ++i) {
    frame.positions.push_back(test::random_in_cell(random, frame.cell, -outside, 1 + outside));
    if (pick(random, 0, 9) == 0) frame.positions.push_back(frame.positions.back());
  }
  const bool zero_rows = pick(random, 0, 1);
  for (std::size_t k = 0; k < 3; ++k) {
    if (!frame.pbc[k] && zero_rows) frame.cell[k] = {};
  }
  return frame;
}

std::vector<Frame> special_frames(Random& random) {
  std::vector<Frame> frames(2);  // two empty structures first
  frames.push_back({{{0.1, 0.2, 0.3}}, {}, {}});
  frames.push_back(
      {{{0.1, 0.2, 0.3}}, {{{0.7, 0, 0}, {0.1, 0.8, 0}, {0, -0.2, 0.9}}}, {true, true, true}});
  frames.push_back({{{5, 5, 5}}, {{{0, 0, 0.4}, {0, 0, 0}, {0, 0, 0}}}, {true, false, false}});
  frames.push_back({});
  // flat: three short vectors that nearly cancel, every angle 120 degrees
  const double h = std::sqrt(0.75);
  frames.push_back({{{0, 0, 0}, {1, 1, 1}},
                    {{{9, 0, 0.5}, {-4.5, 9 * h, 0.5}, {-4.5, -9 * h, 0.5}}},
                    {true, true, true}});
  Frame dilute{{}, {{{500, 0, 0}, {0, 600, 0}, {80, 0, 700}}}, {true, false, true}};
  for (int cluster = 0; cluster < 4; ++cluster) {
    const Vec3 centre = test::random_in_cell(random, dilute.cell, 0, 1);
    for (int i = 0; i < 12; ++i) {
      const Vec3 d = test::random_vector(random, 4);
      dilute.positions.push_back({centre[0] + d[0], centre[1] + d[1], centre[2] + d[2]});
    }
  }
  frames.push_back(dilute);
  Frame slanted = dilute;  // an equivalent cell with vectors many cells long
  for (std::size_t c = 0; c < 3; ++c) slanted.cell[2][c] += 1234 * slanted.cell[0][c];
  frames.push_back(slanted);
  return frames;
}

TEST(NeighborList, MatchesSearchOverEverything) {
  Random random(7);
  std::vector<std::pair<Frame, double>> cases;
  for (const Frame& frame : special_frames(random)) cases.emplace_back(frame, 4.3);
  for (int n = 0; n < 400; ++n) {
    const double cutoff = uniform(random, 1, 6);
    cases.emplace_back(random_frame(random, cutoff), cutoff);
  }
  std::size_t total = 0;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& [frame, cutoff] = cases[n];
    const auto expected = search_everything(frame, cutoff);
    ASSERT_EQ(pairs_of(*find(Batch({frame}), cutoff)), expected) << "case " << n;
    total += expected.size();
  }
  EXPECT_GT(total, 100000U);  // the cases do have neighbours
}

TEST(NeighborList, ManyBoxesInEveryDirection) {
  Random random(3);
  Frame frame{{}, {{{22, 0, 0}, {3, 19, 0}, {-2, 5, 24}}}, {true, true, false}};
  for (int i = 0; i < 900; ++i) {
    frame.positions.push_back(test::random_in_cell(random, frame.cell, -0.4, 1.3));
  }
  EXPECT_EQ(pairs_of(*find(Batch({frame}), 3.5, *test::devices<float>().back())),
            search_everything(frame, 3.5));
}

TEST(NeighborList, SmallCellsKeepPairsExactlyAtTheCutoff) {
  // simple cubic, a = 1.5: 6 + 12 + 8 + 6 neighbours up to 2 a
  Frame frame{{{0.75, 0.75, 0.75}}, {{{1.5, 0, 0}, {0, 1.5, 0}, {0, 0, 1.5}}}, {true, true, true}};
  EXPECT_EQ(find(Batch({frame}), 3.0)->neighbor.size(), 32);
  EXPECT_EQ(find(Batch({frame}), std::nextafter(3.0, 0.0))->neighbor.size(), 26);
  frame.pbc = {};
  frame.positions = {{0, 0, 0}, {3, 0, 0}, {0, 3, 4}};
  EXPECT_EQ(find(Batch({frame}), 5.0)->neighbor.size(), 4);
}

TEST(NeighborList, CutoffDecidesAlikeInBothDirections) {
  // distances that equal the cutoff up to rounding, seen from coordinates of very different size
  Random random(11);
  std::size_t kept = 0;
  for (int n = 0; n < 200; ++n) {
    Frame frame{{}, {{{5.1, 0.3, 0}, {-0.7, 6.3, 0.9}, {0.2, 0.4, 4.7}}}, {true, true, true}};
    const double cutoff = 3.7;
    for (int i = 0; i < 4; ++i) {
      const Vec3 r = test::random_in_cell(random, frame.cell, -50, 50);
      const double angle = uniform(random, 0, 6.28);
      frame.positions.push_back(r);
      frame.positions.push_back(
          {r[0] + cutoff * std::cos(angle), r[1] + cutoff * std::sin(angle), r[2]});
    }
    const auto pairs = pairs_of(*find(Batch({frame}), cutoff));
    ASSERT_EQ(pairs, search_everything(frame, cutoff));
    for (const auto& [i, j, s] : pairs) {
      const Pair reverse{j, i, {-s[0], -s[1], -s[2]}};
      ASSERT_TRUE(std::binary_search(pairs.begin(), pairs.end(), reverse));
      kept += i / 2 == j / 2 && i != j;
    }
  }
  EXPECT_GT(kept, 100U);
}

TEST(NeighborList, BatchAndThreadsChangeNothing) {
  Random random(5);
  auto frames = special_frames(random);
  for (int n = 0; n < 30; ++n) frames.push_back(random_frame(random, 4.0));
  frames.emplace_back();
  std::vector<Pair> expected;
  std::int64_t first = 0;
  for (const Frame& frame : frames) {
    for (const auto& [i, j, s] : pairs_of(*find(Batch({frame}), 4.0))) {
      expected.emplace_back(first + i, first + j, s);
    }
    first += static_cast<std::int64_t>(frame.positions.size());
  }
  for (const auto& device : test::devices<float>()) {
    EXPECT_EQ(pairs_of(*find(Batch(frames), 4.0, *device)), expected) << device->description();
  }
}

/// Structures that change from call to call, as in a simulation.
class Trajectory {
 public:
  explicit Trajectory(std::vector<Frame> frames) : frames_(std::move(frames)) {}

  Frame& operator[](std::size_t n) { return frames_[n]; }
  std::vector<Frame>& frames() { return frames_; }

  void move_all(Random& random, double size) {
    for (Frame& frame : frames_) {
      for (Vec3& r : frame.positions) {
        const Vec3 d = test::random_vector(random, size);
        for (std::size_t c = 0; c < 3; ++c) r[c] += d[c];
      }
    }
  }

  /// Every device's list against a search over everything.
  void check(double cutoff, const std::string& what) const {
    std::vector<Pair> expected;
    std::int64_t first = 0;
    for (const Frame& frame : frames_) {
      for (const auto& [i, j, s] : search_everything(frame, cutoff)) {
        expected.emplace_back(first + i, first + j, s);
      }
      first += static_cast<std::int64_t>(frame.positions.size());
    }
    for (const auto& device : test::devices<float>()) {
      ASSERT_EQ(pairs_of(*find(Batch(frames_), cutoff, *device)), expected)
          << what << ", cutoff " << cutoff << ", " << device->description();
    }
  }

 private:
  std::vector<Frame> frames_;
};

Trajectory random_trajectory(Random& random) {
  std::vector<Frame> frames;
  for (int n = 0; n < 3; ++n) frames.push_back(random_frame(random, 3.6));
  frames.insert(frames.begin() + 1, Frame{});
  frames.push_back({{{0.1, 0.2, 0.3}, {1.4, 0.9, 0.4}},
                    {{{2.1, 0, 0}, {0.1, 1.9, 0}, {0, -0.2, 2.4}}},
                    {true, true, true}});
  return Trajectory(frames);
}

TEST(NeighborList, FollowsSmallMoves) {
  Random random(17);
  for (int n = 0; n < 8; ++n) {
    Trajectory trajectory = random_trajectory(random);
    for (int step = 0; step < 40; ++step) {
      trajectory.check(3.6, "trajectory " + std::to_string(n) + ", step " + std::to_string(step));
      trajectory.move_all(random, 0.1);
    }
  }
}

TEST(NeighborList, FollowsAtomsThatFlyApart) {
  // one after the other, so that all but one are at rest
  Random random(19);
  Trajectory trajectory({{{}, {{{9, 0, 0}, {1, 8, 0}, {0, 2, 10}}}, {true, true, true}}});
  auto& positions = trajectory[0].positions;
  for (int i = 0; i < 6; ++i) {
    positions.push_back(test::random_in_cell(random, trajectory[0].cell, 0, 1));
  }
  for (Vec3& r : positions) {
    const Vec3 velocity = test::random_vector(random, 0.2);
    for (int step = 0; step < 60; ++step) {
      trajectory.check(4.0, "step " + std::to_string(step));
      for (std::size_t c = 0; c < 3; ++c) r[c] += velocity[c];
    }
  }
}

struct Change {
  const char* what;
  std::function<void(Trajectory&)> make;
};

const Change kChanges[] = {
    {"nothing", [](Trajectory&) {}},
    {"an atom moved far", [](Trajectory& t) { t[0].positions.front()[1] += 1.7; }},
    {"an atom moved by a cell vector",
     [](Trajectory& t) {
       for (std::size_t c = 0; c < 3; ++c) t[4].positions[1][c] += t[4].cell[2][c];
     }},
    {"another cell", [](Trajectory& t) { t[4].cell[1][1] += 0.01; }},
    {"an open direction", [](Trajectory& t) { t[4].pbc[2] = false; }},
    {"a periodic direction", [](Trajectory& t) { t[4].pbc[2] = true; }},
    {"an atom more",
     [](Trajectory& t) {
       t[4].positions.push_back({0.7, 0.3, 1.2});
     }},
    {"an atom less", [](Trajectory& t) { t[4].positions.pop_back(); }},
    {"a structure more", [](Trajectory& t) { t.frames().emplace_back(); }},
    {"a structure less", [](Trajectory& t) { t.frames().pop_back(); }},
    {"an atom of another structure",
     [](Trajectory& t) {
       t[1].positions.push_back(t[0].positions.back());
       t[0].positions.pop_back();
     }},
    {"all in other places",
     [](Trajectory& t) {
       Random random(23);
       t.move_all(random, 5);
     }},
};

TEST(NeighborList, FollowsEveryOtherChange) {
  Random random(21);
  Trajectory trajectory = random_trajectory(random);
  for (const Change& change : kChanges) {
    change.make(trajectory);
    for (int step = 0; step < 4; ++step) {
      const std::string what = std::string(change.what) + ", step " + std::to_string(step);
      trajectory.check(3.6, what);
      trajectory.check(2.5, what);
      trajectory.move_all(random, 0.05);
    }
  }
}

TEST(NeighborList, FollowsAfterARefusal) {
  Random random(25);
  Trajectory trajectory = random_trajectory(random);
  for (int before : {0, 1, 2, 4}) {
    for (int step = 0; step < before; ++step) {
      trajectory.move_all(random, 0.05);
      trajectory.check(3.6, "before");
    }
    auto broken = trajectory;
    broken[0].positions.front()[2] = std::numeric_limits<double>::quiet_NaN();
    for (const auto& device : test::devices<float>()) {
      EXPECT_THROW(find(Batch(broken.frames()), 3.6, *device), Error);
    }
    for (int step = 0; step < 4; ++step) {
      trajectory.check(3.6, "after");
      trajectory.move_all(random, 0.05);
    }
  }
}

TEST(NeighborList, NothingIsFine) {
  EXPECT_EQ(find(Batch({}), 3.0)->offsets.size(), 1);
  EXPECT_EQ(find(Batch({Frame{}, Frame{}}), 3.0)->neighbor.size(), 0);
}

TEST(PairGeometry, ReverseVectorsAreExactNegatives) {
  Random random(13);
  std::vector<Frame> frames;
  for (int n = 0; n < 40; ++n) frames.push_back(random_frame(random, 4.0));
  const Batch batch(frames);
  const auto list = find(batch, 4.0);
  const std::int64_t pairs = list->neighbor.size();
  Buffer<Vec3> vector(pairs), again(pairs);
  Buffer<double> distance(pairs);
  test::first_device().pair_geometry({batch.view(), list.get(), vector.view(), distance.view()});
  test::devices<float>().back()->pair_geometry(
      {batch.view(), list.get(), again.view(), distance.view()});
  std::map<Pair, std::int64_t> index;
  for (const Pair& pair : pairs_of(*list)) index.emplace(pair, std::ssize(index));
  for (const auto& [pair, k] : index) {
    const auto& [i, j, s] = pair;
    const std::int64_t r = index.at({j, i, {-s[0], -s[1], -s[2]}});
    const Vec3 &v = vector[k], &w = vector[r];
    ASSERT_TRUE(v[0] == -w[0] && v[1] == -w[1] && v[2] == -w[2]);
    ASSERT_EQ(v, again[k]);
    ASSERT_EQ(distance[k], distance[r]);
    ASSERT_EQ(distance[k], std::sqrt(cpu::squared_norm(v)) + 1e-15);
  }
}

TEST(PairGeometry, FindsTheClosestPair) {
  const auto closest = [](const Batch& batch, double cutoff, test::Device<float>& device) {
    const auto list = find(batch, cutoff);
    Buffer<Vec3> vector(list->neighbor.size());
    Buffer<double> distance(list->neighbor.size());
    Buffer<ClosestPair> found(1);
    device.pair_geometry({batch.view(), list.get(), vector.view(), distance.view(), found.view()});
    const auto first = std::min_element(distance.view().begin(), distance.view().end());
    if (first != distance.view().end()) {
      EXPECT_EQ(found[0].pair, first - distance.view().begin());
      EXPECT_EQ(found[0].distance, *first);
    }
    return found[0].pair;
  };
  Random random(14);
  std::vector<Frame> frames;
  for (int n = 0; n < 40; ++n) frames.push_back(random_frame(random, 4.0));
  for (const auto& device : test::devices<float>()) {
    EXPECT_GE(closest(Batch(frames), 4.0, *device), 0);
    EXPECT_EQ(closest(Batch({Frame{}}), 3.0, *device), -1);
  }
}

struct Refusal {
  const char* what;
  Frame frame;
  double cutoff;
  const char* message;
};

TEST(NeighborList, RefusesWhatCannotBeDone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Mat3 cube{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const std::array<bool, 3> all{true, true, true};
  const Refusal refusals[] = {
      {"no cutoff", {{{0, 0, 0}}, {}, {}}, 0.0, "cutoff"},
      {"cutoff not a number", {{{0, 0, 0}}, {}, {}}, nan, "cutoff"},
      {"coordinate not a number", {{{0, 0, 0}, {0, nan, 0}}, cube, all}, 3.0, "atom 2"},
      {"planar cell", {{{0, 0, 0}}, {{{1, 0, 0}, {0, 1, 0}, {2, 3, 0}}}, all}, 3.0, "dependent"},
      {"cell of zeros", {{{0, 0, 0}}, {}, all}, 3.0, "dependent"},
      {"cell not a number", {{{0, 0, 0}}, {{{nan, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, all}, 3.0, "cell"},
      {"far outside", {{{1e12, 0, 0}}, cube, all}, 3.0, "atom 1"},
      {"images without end", {{{0, 0, 0}}, cube, all}, 1000.0, "too small"},
  };
  for (const auto& refusal : refusals) {
    try {
      find(Batch({refusal.frame}), refusal.cutoff);
      FAIL() << refusal.what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << refusal.what;
      EXPECT_NE(std::string(error.what()).find(refusal.message), std::string::npos) << error.what();
    }
  }
}

TEST(NeighborList, RefusesMoreAtomsThanIndices) {
  List list;
  NeighborListArgs<MemSpace::host> args{{}, 3.0, &list};
  args.atoms.positions.size = std::int64_t{1} << 31;
  EXPECT_THROW(test::first_device().neighbor_list(args), Error);
}

}  // namespace
}  // namespace trine
