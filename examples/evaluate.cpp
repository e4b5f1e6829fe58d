// Loads a model, evaluates one structure, then all structures of a file in one call.
//
//     evaluate models/trine-mini.ckpt examples/water192.xyz
#include <cstdio>
#include <trine/error.hpp>
#include <trine/model.hpp>
#include <trine/structure_io.hpp>
#include <vector>

namespace {

/// A water molecule in vacuum, made by hand. Lengths are in Angstrom.
trine::Structure water_molecule() {
  trine::Structure water;
  water.species = {8, 1, 1};
  water.positions = {{0.000, 0.000, 0.119}, {0.000, 0.763, -0.477}, {0.000, -0.763, -0.477}};
  return water;
}

void print(const trine::Structure& structure, const trine::Result& result) {
  std::printf("%zu atoms, energy %.6f eV\n", structure.size(), result.energy);
  for (std::size_t i = 0; i < structure.size() && i < 3; ++i) {
    const trine::Vec3& force = result.forces[i];
    std::printf("  %-2s  energy %12.6f eV  force %10.6f %10.6f %10.6f eV/A\n",
                trine::element_symbol(structure.species[i]).c_str(), result.energies[i], force[0],
                force[1], force[2]);
  }
  if (result.stress) {
    const trine::Mat3& stress = *result.stress;
    std::printf("  pressure %.6f eV/A^3\n", -(stress[0][0] + stress[1][1] + stress[2][2]) / 3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: evaluate MODEL STRUCTURES\n");
    return 2;
  }
  try {
    trine::Model model = trine::Model::load(argv[1], {.precision = trine::Precision::fp32});

    const trine::Structure water = water_molecule();
    print(water, model.evaluate(water));

    const std::vector<trine::Structure> frames = trine::read_structures(argv[2]);
    const std::vector<trine::Result> results = model.evaluate(frames);
    for (std::size_t i = 0; i < frames.size(); ++i) print(frames[i], results[i]);
    return 0;
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "evaluate: %s\n", error.what());
    return 1;
  }
}
