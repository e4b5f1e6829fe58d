// Evaluations among the work of a caller's stream: what is before them is read, what is behind them
// comes later, and nobody waits in between.
#include <cuda_runtime.h>

#include <chrono>
#include <thread>

#include "cuda/callers_memory.hpp"
#include "cuda/skip_without_device.hpp"
#include "reference.hpp"

namespace trine::test {
namespace {

/// Makes whoever does not wait for the stream be early.
void delay(cudaStream_t stream) {
  check(cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
}

Model load() {
  EngineOptions options;
  options.device = "cuda";
  return Model::load(model_path("trine-mini"), options);
}

struct Step {
  std::vector<Structure> structures;
  OnHost positions, forces, energy;

  explicit Step(std::vector<Structure> now)
      : structures(std::move(now)),
        positions(3 * (structures[0].size() + structures[1].size())),
        forces(positions.bytes() / sizeof(double)),
        energy(2) {
    double* next = positions.data();
    for (const Structure& s : structures) {
      for (const double x : flat(s.positions)) *next++ = x;
    }
  }
};

/// Two structures whose atoms wander, the second time far enough for a new list.
std::vector<Step> make_steps() {
  std::vector<Structure> now = {reference_structure("water192"), reference_structure("h2o")};
  std::vector<Step> steps;
  for (int k = 0; k < 6; ++k) {
    steps.emplace_back(now);
    for (Structure& s : now) {
      for (std::size_t i = 0; i < s.size(); ++i) {
        s.positions[i][i % 3] += (k == 1 ? 0.3 : 0.01) * (i % 2 == 0 ? 1 : -1);
      }
    }
  }
  return steps;
}

/// All steps on one stream, with positions and results in the same arrays, which are spoiled after
/// each of them.
void run(Model& model, std::vector<Step>& steps, cudaStream_t stream) {
  const OnDevice positions(steps[0].positions.bytes() / sizeof(double)),
      forces(positions.bytes() / sizeof(double)), energy(2);
  for (Step& step : steps) {
    delay(stream);
    copy(positions, step.positions, stream);
    model.evaluate_on_device(steps[0].structures, {.positions = positions.data(),
                                                   .energy = energy.data(),
                                                   .forces = forces.data(),
                                                   .stream = stream});
    copy(step.forces, forces, stream);
    copy(step.energy, energy, stream);
    for (const OnDevice* memory : {&positions, &forces, &energy}) spoil(*memory, stream);
  }
  check(cudaStreamSynchronize(stream));
}

void expect_right(const std::vector<Step>& steps) {
  Model model = load();
  for (const Step& step : steps) {
    const auto results = model.evaluate(std::span<const Structure>(step.structures));
    std::vector<double> forces = flat(results[0].forces), more = flat(results[1].forces);
    forces.insert(forces.end(), more.begin(), more.end());
    EXPECT_EQ(step.forces.values(), forces);
    EXPECT_EQ(step.energy.values(), (std::vector<double>{results[0].energy, results[1].energy}));
  }
}

TEST(CallerStreams, KeepTheOrderOfTheirWork) {
  cudaStream_t independent = nullptr;
  check(cudaStreamCreateWithFlags(&independent, cudaStreamNonBlocking));
  for (cudaStream_t stream : {independent, cudaStream_t{nullptr}, cudaStreamPerThread}) {
    Model model = load();
    auto steps = make_steps();
    run(model, steps, stream);
    expect_right(steps);
  }
  check(cudaStreamDestroy(independent));
}

TEST(CallerStreams, AModelGoesFromOneToAnotherAndToTheHost) {
  cudaStream_t streams[2] = {};
  for (auto& s : streams) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  Model model = load();
  auto steps = make_steps();
  const auto host = model.evaluate(std::span<const Structure>(steps[3].structures));
  for (cudaStream_t stream : streams) {
    run(model, steps, stream);
    expect_right(steps);
    const auto again = model.evaluate(std::span<const Structure>(steps[3].structures));
    EXPECT_EQ(flat(again[0].forces), flat(host[0].forces));
  }
  for (auto& s : streams) check(cudaStreamDestroy(s));
}

TEST(CallerStreams, ThatRecordAreRefused) {
  Model model = load();
  const std::vector<Structure> structures = {reference_structure("h2o")};
  const OnDevice forces(9);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  try {
    model.evaluate_on_device(structures, {.forces = forces.data(), .stream = stream});
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::usage);
    EXPECT_NE(std::string(e.what()).find("is recording a graph"), std::string::npos) << e.what();
  }
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphDestroy(graph));
  model.evaluate_on_device(structures, {.forces = forces.data(), .stream = stream});
  OnHost found(9);
  copy(found, forces, stream);
  check(cudaStreamSynchronize(stream));
  EXPECT_EQ(found.values(), flat(model.evaluate(structures[0]).forces));
  check(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace trine::test
