// Positions and forces that stay where the model computes: on the GPU, in the order of a stream, if
// there is one, else in the host's memory.
//
//     device_arrays models/trine-mini.ckpt examples/water192.xyz
#include <cstdio>
#include <memory>
#include <string>
#include <trine/error.hpp>
#include <trine/model.hpp>
#include <trine/structure_io.hpp>
#include <vector>

#ifdef WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace {

#ifdef WITH_CUDA
void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw trine::Error(trine::ErrorCode::not_supported, cudaGetErrorString(status));
  }
}

/// Copies whatever is where, in the order of a stream.
void copy(double* to, const double* from, std::size_t count, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(double), cudaMemcpyDefault, stream));
}

void evaluate_on_gpu(trine::Model& model, const trine::Structure& s, std::vector<double>& forces,
                     double& energy) {
  cudaStream_t stream = nullptr;  // a program has one already, and so it has the arrays
  check(cudaStreamCreate(&stream));
  double *positions_d = nullptr, *forces_d = nullptr, *energy_d = nullptr;
  check(cudaMalloc(&positions_d, forces.size() * sizeof(double)));
  check(cudaMalloc(&forces_d, forces.size() * sizeof(double)));
  check(cudaMalloc(&energy_d, sizeof(double)));

  copy(positions_d, s.positions.front().data(), forces.size(), stream);
  model.evaluate_on_device(
      {&s, 1},
      {.positions = positions_d, .energy = energy_d, .forces = forces_d, .stream = stream});
  copy(forces.data(), forces_d, forces.size(), stream);
  copy(&energy, energy_d, 1, stream);
  check(cudaStreamSynchronize(stream));

  for (double* memory : {positions_d, forces_d, energy_d}) cudaFree(memory);
  cudaStreamDestroy(stream);
}
#endif

void evaluate(trine::Model& model, const trine::Structure& s, std::vector<double>& forces,
              double& energy) {
#ifdef WITH_CUDA
  if (model.options().device != "cpu") return evaluate_on_gpu(model, s, forces, energy);
#endif
  model.evaluate_on_device(
      {&s, 1},
      {.positions = s.positions.front().data(), .energy = &energy, .forces = forces.data()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: device_arrays MODEL STRUCTURES\n");
    return 2;
  }
  try {
    trine::EngineOptions options;
#ifndef WITH_CUDA
    options.device = "cpu";  // the arrays of this program are on the host
#endif
    trine::Model model = trine::Model::load(argv[1], options);
    for (const trine::Structure& s : trine::read_structures(argv[2])) {
      if (s.size() == 0) continue;
      std::vector<double> forces(3 * s.size());
      double energy = 0;
      evaluate(model, s, forces, energy);
      std::printf("%zu atoms on %s, energy %.6f eV, first force %10.6f %10.6f %10.6f eV/A\n",
                  s.size(), model.options().device.c_str(), energy, forces[0], forces[1],
                  forces[2]);
    }
    return 0;
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "device_arrays: %s\n", error.what());
    return 1;
  }
}
