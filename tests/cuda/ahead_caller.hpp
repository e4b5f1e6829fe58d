// A caller of evaluations ahead, with structures that it moves, for tests.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/callers_memory.hpp"
#include "cuda/skip_without_device.hpp"
#include "reference.hpp"

namespace trine::test {

using Structures = std::vector<Structure>;

inline Model load(const std::string& model, Precision precision = Precision::fp32) {
  EngineOptions options;
  options.device = "cuda";
  options.precision = precision;
  return Model::load(model_path(model), options);
}

inline std::size_t count_atoms(const Structures& structures) {
  std::size_t count = 0;
  for (const Structure& s : structures) count += s.size();
  return count;
}

inline std::vector<double> positions_of(const Structures& structures) {
  std::vector<double> values;
  for (const Structure& s : structures) {
    for (const double x : flat(s.positions)) values.push_back(x);
  }
  return values;
}

/// What an evaluation gives, end to end.
struct Numbers {
  std::vector<double> energy, energies, forces, strain;
  std::int64_t pairs = 0, edges = 0;

  Numbers() = default;
  explicit Numbers(const std::vector<Result>& results) {
    const auto add = [](std::vector<double>& to, const std::vector<double>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    for (const Result& r : results) {
      energy.push_back(r.energy);
      add(energies, r.energies);
      add(forces, flat(r.forces));
      add(strain, flat(r.strain_gradient));
      pairs += r.list_edges;
      for (const std::int64_t n : r.num_neighbors) edges += n;
    }
  }
};

inline void expect_same(const std::vector<double>& found, const std::vector<double>& wanted,
                        const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  std::size_t different = 0, first = 0;
  for (std::size_t n = found.size(); n-- > 0;) {
    if (found[n] == wanted[n]) continue;
    ++different;
    first = n;
  }
  EXPECT_EQ(different, 0U) << "of " << found.size() << " numbers of " << what << "; number "
                           << first << " is " << found[first] << " instead of " << wanted[first];
}

inline void expect_same(const Numbers& found, const Numbers& wanted, const std::string& when) {
  expect_same(found.energy, wanted.energy, "energy " + when);
  expect_same(found.energies, wanted.energies, "energies " + when);
  expect_same(found.forces, wanted.forces, "forces " + when);
  expect_same(found.strain, wanted.strain, "strain gradients " + when);
}

/// A caller with arrays on the device, a stream, and positions that it changes.
class Caller {
 public:
  Caller(Model model, Structures structures)
      : now(std::move(structures)),
        model_(std::move(model)),
        atoms_(count_atoms(now)),
        sent_(3 * atoms_),
        positions_(3 * atoms_),
        cells_(9 * now.size()),
        energy_(now.size()),
        energies_(atoms_),
        forces_(3 * atoms_),
        strain_(9 * now.size()),
        halted_(1),
        host_halted_(1) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    set_halted(0);
  }
  ~Caller() { check(cudaStreamDestroy(stream_)); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  Structures now;
  bool with_cells = false;

  Model& model() { return model_; }
  cudaStream_t stream() const { return stream_; }
  int* halted_on_device() const { return reinterpret_cast<int*>(halted_.data()); }

  /// In memory of the host, from where `fetch` takes them.
  void put_positions() {
    const auto values = positions_of(now);
    std::copy(values.begin(), values.end(), sent_.data());
  }
  void fetch() { copy(positions_, sent_, stream_); }
  void ordinary() {
    send();
    model_.evaluate_on_device(now, arrays());
  }
  void start_ahead() { model_.evaluate_ahead(now, arrays(), halted_on_device()); }
  /// Whether that did not halt.
  bool ahead() {
    send();
    start_ahead();
    return halted() == 0;
  }
  /// Until a list is kept; three calls should do.
  void settle() {
    for (int k = 0; k < 3; ++k) ordinary();
    ASSERT_TRUE(model_.can_evaluate_ahead());
  }

  void set_halted(int value) {
    wait();
    *reinterpret_cast<int*>(host_halted_.data()) = value;
    copy(halted_, host_halted_, stream_);
    wait();
  }
  int halted() {
    copy(host_halted_, halted_, stream_);
    wait();
    return *reinterpret_cast<int*>(host_halted_.data());
  }
  Numbers numbers() {
    Numbers n;
    n.energy = read(energy_);
    n.energies = read(energies_);
    n.forces = read(forces_);
    n.strain = read(strain_);
    return n;
  }
  void spoil_results() {
    for (const OnDevice* m : {&energy_, &energies_, &forces_, &strain_}) spoil(*m, stream_);
  }
  void wait() { check(cudaStreamSynchronize(stream_)); }

  DeviceArrays arrays() const {
    return {.positions = positions_.data(),
            .cells = with_cells ? cells_.data() : nullptr,
            .energy = energy_.data(),
            .energies = energies_.data(),
            .forces = forces_.data(),
            .strain_gradient = strain_.data(),
            .stream = stream_};
  }

 private:
  void send() {
    wait();
    put_positions();
    fetch();
    std::vector<double> rows;
    for (const Structure& s : now) {
      for (const double x : flat(s.cell)) rows.push_back(x);
    }
    check(cudaMemcpyAsync(cells_.data(), rows.data(), cells_.bytes(), cudaMemcpyDefault, stream_));
    wait();
    spoil_results();
  }
  std::vector<double> read(const OnDevice& from) {
    const OnHost to(from.bytes() / sizeof(double));
    copy(to, from, stream_);
    wait();
    return to.values();
  }

  Model model_;
  std::size_t atoms_;
  OnHost sent_;
  OnDevice positions_, cells_, energy_, energies_, forces_, strain_, halted_;
  OnHost host_halted_;
  cudaStream_t stream_ = nullptr;
};

inline Numbers evaluate(Model& model, const Structures& structures) {
  return Numbers(model.evaluate(std::span<const Structure>(structures)));
}

/// Steps of a random walk.
class Walk {
 public:
  explicit Walk(double step) : normal_(0, step) {}
  void move(Structures& structures) {
    for (Structure& s : structures) {
      for (Vec3& r : s.positions) {
        for (double& x : r) x += normal_(random_);
      }
    }
  }

 private:
  std::mt19937 random_{5};
  std::normal_distribution<double> normal_;
};

inline double furthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t n = 0; n < a.size(); n += 3) {
    most = std::max(most, std::hypot(a[n] - b[n], a[n + 1] - b[n + 1], a[n + 2] - b[n + 2]));
  }
  return most;
}

inline Structures one() {
  return {reference_structure("water192")};
}
inline Structures two() {
  return {reference_structure("water192"), reference_structure("ethanol_boxed")};
}
/// More atoms than a block adds up the pairs of.
inline Structures many() {
  return Structures(12, reference_structure("water192"));
}

}  // namespace trine::test
