#include "sim/minimizer.hpp"

#include "sim/fire.hpp"
#include "sim/lbfgs.hpp"

namespace trine::sim {

template <MemSpace S>
std::unique_ptr<Minimizer<S>> make_minimizer(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::fire:
      return std::make_unique<Fire<S>>();
    case Optimizer::lbfgs:
      return std::make_unique<Lbfgs<S>>();
    default:
      return std::make_unique<Fire2<S>>();
  }
}

template std::unique_ptr<Minimizer<MemSpace::host>> make_minimizer(Optimizer);
#ifdef TRINE_CUDA
template std::unique_ptr<Minimizer<MemSpace::device>> make_minimizer(Optimizer);
#endif

}  // namespace trine::sim
