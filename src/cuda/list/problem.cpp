#include "cuda/list/problem.hpp"

#include "base/check.hpp"

namespace trine::cuda {

void fail_with(ListProblem problem, std::int64_t atom, double times, double cutoff) {
  switch (problem) {
    case ListProblem::skewed_vectors:
      fail(ErrorCode::bad_input,
           "periodic cell vectors are far too skewed (one is {:g} times another), use an "
           "equivalent cell with shorter vectors",
           times);
    case ListProblem::dependent_vectors:
      fail(ErrorCode::bad_input,
           "periodic cell vectors are linearly dependent, give a cell with a volume or switch off "
           "periodicity");
    case ListProblem::position_not_finite:
      fail(ErrorCode::bad_input,
           "atom {} has a coordinate that is not a finite number, correct its position", atom + 1);
    case ListProblem::position_too_far:
      fail(ErrorCode::bad_input,
           "atom {} lies too many cells away from the origin for 32-bit cell shifts, move it "
           "closer to the cell",
           atom + 1);
    case ListProblem::too_many_images:
      fail(ErrorCode::bad_input,
           "the cell is too small for a cutoff of {} Angstrom (more than {} periodic images), use "
           "a larger cell",
           cutoff, kMostImages);
    default:
      fail(ErrorCode::bad_input,
           "periodic cell vectors are too skewed for 32-bit cell shifts, use an equivalent cell "
           "with shorter vectors");
  }
}

}  // namespace trine::cuda
