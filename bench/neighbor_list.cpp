// Times the neighbour list of random atoms at the density of water: neighbor_list ATOMS CUTOFF
// THREADS REPEATS Prints one JSON object: seconds are medians, the first call (which touches its
// memory) apart.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "backend.hpp"
#include "ops/neighbor_list.hpp"

namespace {

using trine::Mat3;
using trine::MemSpace;
using trine::Vec3;

constexpr double kAtomsPerVolume = 0.1;  // per Angstrom^3

double seconds_of(trine::Ops<float, MemSpace::host>& ops,
                  const trine::NeighborListArgs<MemSpace::host>& args) {
  const auto start = std::chrono::steady_clock::now();
  ops.neighbor_list(args);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: neighbor_list ATOMS CUTOFF THREADS REPEATS\n";
    return 2;
  }
  const std::int64_t atoms = std::atoll(argv[1]);
  const double cutoff = std::atof(argv[2]);
  const double side = std::cbrt(static_cast<double>(atoms) / kAtomsPerVolume);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> along(0, side);
  std::vector<Vec3> positions(static_cast<std::size_t>(atoms));
  for (Vec3& r : positions) r = {along(random), along(random), along(random)};

  const std::array<std::int64_t, 2> first_atom = {0, atoms};
  const Mat3 cell = {{{side, 0, 0}, {0, side, 0}, {0, 0, side}}};
  const std::array<bool, 3> pbc = {true, true, true};
  trine::NeighborList<MemSpace::host> list;
  const trine::NeighborListArgs<MemSpace::host> args{
      .atoms = {{positions.data(), atoms}, {first_atom.data(), 2}, {&cell, 1}, {&pbc, 1}},
      .cutoff = cutoff,
      .list = &list};
  const auto ops = trine::make_cpu<float>(std::max(1, std::atoi(argv[3])));
  const double first = seconds_of(*ops, args);
  std::vector<double> repeats;
  for (int i = 0; i < std::max(1, std::atoi(argv[4])); ++i)
    repeats.push_back(seconds_of(*ops, args));
  std::sort(repeats.begin(), repeats.end());
  std::cout << "{\"atoms\": " << atoms << ", \"pairs\": " << list.neighbor.size()
            << ", \"first_s\": " << first << ", \"median_s\": " << repeats[repeats.size() / 2]
            << "}\n";
  return 0;
}
