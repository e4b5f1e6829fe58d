#include "sim/integrator.hpp"

#include "sim/cell_rescaling.hpp"
#include "sim/csvr.hpp"
#include "sim/langevin.hpp"
#include "sim/nose_hoover.hpp"
#include "sim/nve.hpp"

namespace trine::sim {

template <MemSpace S>
std::unique_ptr<Integrator<S>> make_integrator(const DynamicsOptions& o,
                                               const std::vector<double>& degrees) {
  switch (o.ensemble) {
    case Ensemble::nvt_langevin:
      return std::make_unique<Langevin<S>>(o.time_step, o.temperature, o.thermostat_time);
    case Ensemble::nvt_csvr:
      return std::make_unique<Csvr<S>>(o, degrees);
    case Ensemble::nvt_nhc:
      return std::make_unique<NoseHoover<S>>(o, degrees);
    case Ensemble::npt_isotropic:
    case Ensemble::npt_flexible:
      return std::make_unique<CellRescaling<S>>(o, degrees);
    case Ensemble::nve:
      break;
  }
  return std::make_unique<Nve<S>>(o.time_step);
}

template std::unique_ptr<Integrator<MemSpace::host>> make_integrator(const DynamicsOptions&,
                                                                     const std::vector<double>&);
#ifdef TRINE_CUDA
template std::unique_ptr<Integrator<MemSpace::device>> make_integrator(const DynamicsOptions&,
                                                                       const std::vector<double>&);
#endif

}  // namespace trine::sim
