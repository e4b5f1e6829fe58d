// Times relaxations, and how much is gained by relaxing many structures at a time.
//
//   bench_relaxation MODEL STRUCTURES DEVICE PRECISION OPTIMIZER FMAX COPIES RATTLE ATOMS_AT_A_TIME
//
// Every frame of STRUCTURES is relaxed COPIES times, its atoms moved beforehand by normal numbers
// of RATTLE Angstrom from the seeds 1, 2, ... ATOMS_AT_A_TIME: 1 is one structure at a time, 0 the
// device's own choice. Prints a line per structure as it gets done, and the throughput.
#include <chrono>
#include <cstdio>
#include <random>

#include "trine/model.hpp"
#include "trine/relaxation.hpp"
#include "trine/structure_io.hpp"

namespace {

trine::Structure rattled(trine::Structure s, double size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> number(0, 1);
  for (auto& position : s.positions) {
    for (double& x : position) x += size * number(random);
  }
  return s;
}

trine::RelaxationOptions relaxation_options(char** arguments) {
  const std::string optimizer = arguments[5];
  trine::RelaxationOptions options;
  options.optimizer = optimizer == "lbfgs"  ? trine::Optimizer::lbfgs
                      : optimizer == "fire" ? trine::Optimizer::fire
                                            : trine::Optimizer::fire2;
  options.fmax = std::stod(arguments[6]);
  options.atoms_at_a_time = std::stol(arguments[9]);
  return options;
}

void run(char** arguments) {
  trine::EngineOptions engine;
  engine.device = arguments[3];
  if (std::string(arguments[4]) == "fp64") engine.precision = trine::Precision::fp64;
  trine::Model model = trine::Model::load(arguments[1], engine);
  std::vector<trine::Structure> all;
  for (unsigned copy = 1; copy <= std::stoul(arguments[7]); ++copy) {
    for (const auto& frame : trine::read_structures(arguments[2])) {
      all.push_back(rattled(frame, std::stod(arguments[8]), copy));
    }
  }
  std::size_t next = 0;
  std::int64_t evaluations = 0;
  trine::RelaxationCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<trine::Structure> {
    if (next == all.size()) return std::nullopt;
    return all[next++];
  };
  callbacks.done = [&](const trine::RelaxationResult& r) {
    constexpr const char* kStatus[] = {"converged", "step limit", "failed"};
    evaluations += r.steps + 1;
    std::printf("structure %zu: %s, %lld steps, %.6f eV, fmax %.6f eV/A %s\n", r.index + 1,
                kStatus[static_cast<int>(r.status)], static_cast<long long>(r.steps), r.energy,
                r.fmax, r.error.c_str());
    std::fflush(stdout);
  };
  const auto start = std::chrono::steady_clock::now();
  trine::relax(model, callbacks, relaxation_options(arguments));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto structures = static_cast<double>(all.size());
  std::printf("%.3f s on %s, %.3f structures/s, %.3f ms per evaluation of a structure\n", seconds,
              model.device().c_str(), structures / seconds,
              1e3 * seconds / static_cast<double>(evaluations));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 10) {
    std::fputs(
        "usage: bench_relaxation MODEL STRUCTURES DEVICE fp32|fp64 fire2|fire|lbfgs FMAX COPIES "
        "RATTLE ATOMS_AT_A_TIME\n",
        stderr);
    return 2;
  }
  try {
    run(arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
