#include "sim/integrator.hpp"

#include "base/check.hpp"
#include "sim/langevin.hpp"
#include "sim/nve.hpp"

namespace trine::sim {

template <MemSpace S>
std::unique_ptr<Integrator<S>> make_integrator(const DynamicsOptions& o,
                                               const std::vector<double>& degrees) {
  switch (o.ensemble) {
    case Ensemble::nve:
      return std::make_unique<Nve<S>>(o.time_step);
    case Ensemble::nvt_langevin:
      return std::make_unique<Langevin<S>>(o.time_step, o.temperature, o.thermostat_time);
    default:
      break;
  }
  static_cast<void>(degrees);
  fail(ErrorCode::not_supported, "ensemble {} is not there yet", ensemble_name(o.ensemble));
}

template std::unique_ptr<Integrator<MemSpace::host>> make_integrator(const DynamicsOptions&,
                                                                     const std::vector<double>&);
#ifdef TRINE_CUDA
template std::unique_ptr<Integrator<MemSpace::device>> make_integrator(const DynamicsOptions&,
                                                                       const std::vector<double>&);
#endif

}  // namespace trine::sim
