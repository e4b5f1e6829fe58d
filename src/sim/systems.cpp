#include "sim/systems.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "motion/direct_forces.hpp"
#include "motion/set.hpp"
#include "sim/numbers.hpp"

namespace trine::sim {
namespace {

void size_variables(std::vector<SystemState>& states, Variables v) {
  for (SystemState& s : states) {
    s.variables.resize(static_cast<std::size_t>(v.of_system));
    s.atom_variables.resize(s.structure.size() * static_cast<std::size_t>(v.of_atom));
    s.direct_forces.resize(v.direct_forces ? s.structure.size() : 0);
  }
}

std::vector<double> numbers_of(std::vector<SystemState>& states, Variables variables) {
  size_variables(states, variables);
  std::vector<double> numbers;
  visit_numbers(states, [&](double x) { numbers.push_back(x); });
  return numbers;
}

}  // namespace

template <MemSpace S>
template <class T>
void Systems<S>::fill(Buffer<T, S>& array, const std::vector<T>& values) {
  // At least one element, so that arrays of a run without atoms have an address.
  array.resize(std::max<std::int64_t>(1, static_cast<std::int64_t>(values.size())));
  if (values.empty()) return;
  upload(values, array.view().slice(0, static_cast<std::int64_t>(values.size())));
}

template <MemSpace S>
Systems<S>::Systems(int gpu, std::vector<SystemState> states, Variables variables,
                    std::int64_t steps_done)
    : queue_(gpu), states_(std::move(states)) {
  const auto device = queue_.use();
  std::vector<std::int64_t> first = {0};
  std::vector<std::int32_t> system;
  std::vector<std::uint64_t> seed;
  std::vector<std::uint8_t> moves;
  std::vector<double> mass;
  for (const SystemState& s : states_) {
    const std::size_t n = s.structure.size();
    system.insert(system.end(), n, static_cast<std::int32_t>(first.size() - 1));
    first.push_back(first.back() + static_cast<std::int64_t>(n));
    seed.push_back(s.seed);
    moves.insert(moves.end(), s.moves.begin(), s.moves.end());
    mass.insert(mass.end(), s.masses.begin(), s.masses.end());
    structures_.push_back(s.structure);
  }
  fill(first_, first);
  fill(step_, std::vector<std::int64_t>{steps_done});
  fill(system_, system);
  fill(seed_, seed);
  fill(moves_, moves);
  fill(mass_, mass);
  fill(numbers_, numbers_of(states_, variables));
  remembered_.resize(numbers_.size());
  remembered_step_.resize(1);
  atoms_ = {.atoms = first.back(),
            .systems = static_cast<std::int64_t>(states_.size()),
            .first = first_.data(),
            .system = system_.data(),
            .seed = seed_.data(),
            .mass = mass_.data(),
            .moves = moves_.data(),
            .step = step_.data()};
  place_numbers(variables);
}

template <MemSpace S>
void Systems<S>::place_numbers(Variables variables) {
  double* next = numbers_.data();
  const auto take = [&](std::int64_t size) {
    double* const array = next;
    next += size;
    return array;
  };
  motion::Atoms& a = atoms_;
  for (double** array : {&a.position, &a.velocity, &a.force}) *array = take(3 * a.atoms);
  a.cell = take(9 * a.systems);
  a.energy = take(a.systems);
  a.strain_gradient = take(9 * a.systems);
  a.system_values = variables.of_system;
  a.atom_values = variables.of_atom;
  a.variables = take(a.systems * a.system_values);
  a.atom_variables = take(a.atoms * a.atom_values);
  if (!variables.direct_forces) return;
  a.direct_force = take(3 * a.atoms);
  force_sums_.resize(motion::DirectForce::kCount * a.systems);
}

template <MemSpace S>
void Systems<S>::remember() {
  const auto device = queue_.use();
  motion::for_each(queue_, numbers_.size(), motion::Copy{numbers_.data(), remembered_.data()});
  motion::for_each(queue_, 1, motion::SetStep{step_.data(), remembered_step_.data()});
}

template <MemSpace S>
void Systems<S>::go_back() {
  const auto device = queue_.use();
  motion::for_each(queue_, numbers_.size(), motion::Copy{remembered_.data(), numbers_.data()});
  motion::for_each(queue_, 1, motion::SetStep{remembered_step_.data(), step_.data()});
}

template <MemSpace S>
std::string Systems<S>::name(std::size_t b) const {
  const std::string& source = structures_[b].source;
  return source.empty() ? fmt::format("system {}", b + 1) : source;
}

template <MemSpace S>
DeviceArrays Systems<S>::arrays() const {
  return {.positions = atoms_.position,
          .cells = atoms_.cell,
          .energy = atoms_.energy,
          .forces = atoms_.force,
          .strain_gradient = atoms_.strain_gradient,
          .direct_forces = atoms_.direct_force,
          .stream = queue_.stream()};
}

template <MemSpace S>
void Systems<S>::evaluate(Potential& potential) {
  potential.evaluate_on_device(structures_, arrays());
  if (atoms_.direct_force) subtract_mean_force();
}

template <MemSpace S>
void Systems<S>::evaluate(Potential& potential, std::size_t b) {
  std::size_t before = 0;
  for (std::size_t k = 0; k < b; ++k) before += structures_[k].size();
  DeviceArrays one = arrays();
  one.positions += 3 * before;
  one.cells += 9 * b;
  one.energy += b;
  one.forces += 3 * before;
  one.strain_gradient += 9 * b;
  one.direct_forces = nullptr;
  potential.evaluate_on_device(structures().subspan(b, 1), one);
}

template <MemSpace S>
void Systems<S>::evaluate_ahead(Potential& potential, int* halted, AheadPart part) {
  potential.evaluate_ahead(structures_, arrays(), halted, part);
}

template <MemSpace S>
void Systems<S>::evaluate_conservative(Potential& potential) {
  DeviceArrays wanted = arrays();
  wanted.direct_forces = nullptr;
  potential.evaluate_on_device(structures_, wanted);
}

template <MemSpace S>
void Systems<S>::evaluate_direct(Potential& potential) {
  potential.evaluate_on_device(structures_, {.positions = atoms_.position,
                                             .cells = atoms_.cell,
                                             .direct_forces = atoms_.direct_force,
                                             .stream = queue_.stream()});
  subtract_mean_force();
}

template <MemSpace S>
void Systems<S>::subtract_mean_force() {
  motion::sum_by_system(queue_, atoms_, motion::DirectForce{atoms_}, force_sums_.data());
  motion::for_each(queue_, atoms_.atoms, motion::SubtractMeanForce{atoms_, force_sums_.data()});
}

template <MemSpace S>
std::vector<double> Systems<S>::read(const double* array, std::int64_t size) const {
  const auto device = queue_.use();
  return download(Vector<const double, S>{array, size});
}

template <MemSpace S>
std::int64_t Systems<S>::steps_done() const {
  const auto device = queue_.use();
  return download(Vector<const std::int64_t, S>{step_.data(), 1}).front();
}

template <MemSpace S>
std::vector<SystemState> Systems<S>::states() const {
  const std::vector<double> numbers = read(numbers_.data(), numbers_.size());
  std::vector<SystemState> now = states_;
  auto next = numbers.begin();
  visit_numbers(now, [&](double& x) { x = *next++; });
  return now;
}

template class Systems<MemSpace::host>;
#ifdef TRINE_CUDA
template class Systems<MemSpace::device>;
#endif

}  // namespace trine::sim
