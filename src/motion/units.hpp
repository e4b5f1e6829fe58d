// Constants of runs: Angstrom, fs, eV, amu, K.
#pragma once

namespace trine::motion {

/// (eV/Angstrom/amu) in Angstrom/fs^2, from the exact elementary charge and CODATA 2018's atomic
/// mass constant.
inline constexpr double kAcceleration = 1.602176634e-19 / 1.66053906660e-27 * 1e-10;
inline constexpr double kBoltzmann = 8.617333262e-5;    ///< eV/K
inline constexpr double kGigapascal = 1 / 160.2176634;  ///< eV/Angstrom^3

}  // namespace trine::motion
