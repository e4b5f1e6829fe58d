// A potential of the host, seen by runs as one of the device that a test is for.
#pragma once

#include <vector>

#include "models/test_options.hpp"
#include "tensor/transfer.hpp"
#include "trine/potential.hpp"

namespace trine::test {

#ifdef TRINE_TEST_ON_GPU

/// Takes positions and cells from a GPU, and brings the results back.
class OnTestDevice final : public Potential {
 public:
  explicit OnTestDevice(Potential& host) : host_(host) {}

  int gpu() const override { return 0; }

  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override {
    std::int64_t atoms = 0;
    const auto systems = static_cast<std::int64_t>(structures.size());
    for (const Structure& s : structures) atoms += static_cast<std::int64_t>(s.size());
    const auto positions = fetch(arrays.positions, 3 * atoms);
    const auto cells = fetch(arrays.cells, 9 * systems);
    std::vector<double> energy(structures.size()), forces(positions.size()), strain(cells.size());
    host_.evaluate_on_device(structures, {.positions = positions.data(),
                                          .cells = cells.data(),
                                          .energy = energy.data(),
                                          .forces = forces.data(),
                                          .strain_gradient = strain.data()});
    send(energy, arrays.energy);
    send(forces, arrays.forces);
    send(strain, arrays.strain_gradient);
  }

 private:
  static std::vector<double> fetch(const double* from, std::int64_t size) {
    return download(Vector<const double, MemSpace::device>{from, size});
  }
  static void send(const std::vector<double>& from, double* to) {
    if (!to) return;
    upload(from, Vector<double, MemSpace::device>{to, static_cast<std::int64_t>(from.size())});
  }

  Potential& host_;
};

#else

/// It is one of the host.
class OnTestDevice final : public Potential {
 public:
  explicit OnTestDevice(Potential& host) : host_(host) {}

  int gpu() const override { return -1; }
  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override {
    host_.evaluate_on_device(structures, arrays);
  }

 private:
  Potential& host_;
};

#endif

}  // namespace trine::test
