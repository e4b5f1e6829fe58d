// Evaluates and relaxes structures for a script at the other end of a pipe (ase_relaxation.py).
//
//   relaxation_server MODEL     float64 on one core of the CPU
//
// A request is a number of kind (0: evaluate; 1, 2, 3: relax by fire2, fire, lbfgs), then cell (0
// fixed, 1 isotropic, 2 full), fmax (eV/A), pressure (GPa), number of atoms, periodicity (3), cell
// (9), and per atom atomic number, 1 if it is held, and position (3): all as doubles. The answer:
// status, steps, energy, cell (9), strain gradient (9; evaluation only), and per atom position (3)
// and force (3).
#include <cstdio>
#include <vector>

#include "trine/model.hpp"
#include "trine/relaxation.hpp"

namespace {

std::vector<double> read_numbers(std::size_t count) {
  std::vector<double> numbers(count);
  if (std::fread(numbers.data(), sizeof(double), count, stdin) != count) numbers.clear();
  return numbers;
}

trine::Structure read_structure(const std::vector<double>& head) {
  trine::Structure s;
  const auto atoms = static_cast<std::size_t>(head[4]);
  for (std::size_t k = 0; k < 3; ++k) s.pbc[k] = head[5 + k] != 0;
  for (std::size_t k = 0; k < 9; ++k) s.cell[k / 3][k % 3] = head[8 + k];
  const auto numbers = read_numbers(5 * atoms);
  s.extra_columns = {{"move_mask", 'L', 1, {}}};
  for (std::size_t i = 0; i < atoms; ++i) {
    const double* atom = numbers.data() + 5 * i;
    s.species.push_back(static_cast<int>(atom[0]));
    s.extra_columns[0].tokens.push_back(atom[1] != 0 ? "F" : "T");
    s.positions.push_back({atom[2], atom[3], atom[4]});
  }
  return s;
}

trine::RelaxationResult evaluated(trine::Model& model, const trine::Structure& s,
                                  trine::Mat3& strain_gradient) {
  const trine::Result found = model.evaluate(s);
  strain_gradient = found.strain_gradient;
  trine::RelaxationResult r;
  r.structure = s;
  r.energy = found.energy;
  r.forces = found.forces;
  return r;
}

trine::RelaxationResult relaxed(trine::Model& model, const trine::Structure& s,
                                const std::vector<double>& head) {
  trine::RelaxationOptions options;
  options.optimizer = static_cast<trine::Optimizer>(static_cast<int>(head[0]) - 1);
  options.cell = static_cast<trine::CellMotion>(static_cast<int>(head[1]));
  options.fmax = head[2];
  options.pressure = head[3];
  options.max_steps = 2000;
  return trine::relax(model, {s}, options).front();
}

void answer(const trine::RelaxationResult& r, const trine::Mat3& strain_gradient) {
  std::vector<double> out = {static_cast<double>(r.status), static_cast<double>(r.steps), r.energy};
  for (const auto& row : r.structure.cell) out.insert(out.end(), row.begin(), row.end());
  for (const auto& row : strain_gradient) out.insert(out.end(), row.begin(), row.end());
  for (std::size_t i = 0; i < r.forces.size(); ++i) {
    for (const auto* v : {&r.structure.positions[i], &r.forces[i]}) {
      out.insert(out.end(), v->begin(), v->end());
    }
  }
  std::fwrite(out.data(), sizeof(double), out.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

int main(int, char** arguments) {
  trine::EngineOptions engine;
  engine.device = "cpu";
  engine.precision = trine::Precision::fp64;
  engine.threads = 1;
  trine::Model model = trine::Model::load(arguments[1], engine);
  while (true) {
    const auto head = read_numbers(17);
    if (head.empty()) return 0;
    const trine::Structure s = read_structure(head);
    trine::Mat3 strain_gradient{};
    const bool is_evaluation = head[0] == 0;
    answer(is_evaluation ? evaluated(model, s, strain_gradient) : relaxed(model, s, head),
           strain_gradient);
  }
}
