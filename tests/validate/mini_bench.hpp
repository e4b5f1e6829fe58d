// What experiments are tried with: the small model, a few atoms.
#pragma once

#include <string>
#include <vector>

#include "models/test_options.hpp"
#include "reference.hpp"
#include "trine/experiments.hpp"
#include "trine/structure_io.hpp"

namespace trine::test {

/// Of a model that outlives it, on one thread of a CPU: structures are too small for more.
inline Bench bench_of(const Checkpoint& checkpoint) {
  Bench bench;
  bench.checkpoint = &checkpoint;
  bench.engine = test_options();
  bench.engine.threads = 1;
  return bench;
}

/// Of the model that comes with trine. Both are made once in a program.
inline Bench mini_bench() {
  static const Checkpoint checkpoint = Checkpoint::read(models_folder() + "/trine-mini.ckpt");
  return bench_of(checkpoint);
}

/// Random weights, with which everything takes less time, the emulation above all.
inline const Checkpoint& small_checkpoint() {
  static const Checkpoint solver = Checkpoint::read(model_path("solver"));
  return solver;
}
inline Bench small_bench() {
  return bench_of(small_checkpoint());
}

/// Of the molecules of liquid water.
inline Structure water_drop(std::size_t atoms = 12) {
  Structure drop = read_structures(models_folder() + "/../examples/water192.xyz").front();
  drop.species.resize(atoms);
  drop.positions.resize(atoms);
  drop.pbc = {};
  drop.cell = {};
  return drop;
}

inline Structure stored(const std::string& name) {
  return read_structures(reference_folder() + "/structures/" + name + ".xyz").front();
}

inline std::vector<Arithmetic> arithmetics(const std::vector<std::string>& names) {
  std::vector<Arithmetic> all;
  for (const std::string& name : names) all.push_back(arithmetic_named(name));
  return all;
}

/// No method of products has such a site: a model in it cannot be made.
inline Arithmetic impossible() {
  Arithmetic a{"impossible", Precision::fp32, {}};
  a.products.sites.emplace_back("no.such.layer", GemmMethod::fp16x3);
  return a;
}

}  // namespace trine::test
