// Smooth steps from 1 to 0.
#pragma once

#include <cmath>

namespace trine::cuda {

/// A step f(u) and df/du.
struct Step {
  double value, slope;
};

__host__ __device__ inline void sine_cosine_of_pi(double u, double& sine, double& cosine) {
#ifdef __CUDA_ARCH__
  sincospi(u, &sine, &cosine);
#else
  sine = std::sin(M_PI * u);
  cosine = std::cos(M_PI * u);
#endif
}

constexpr double kFlat = 0.016;  // e^-2x is below the last digit of 1 there

/// Whether the bump step is neither 1 nor 0 to all digits of a double.
__host__ __device__ inline bool is_inside(double u) {
  return u > kFlat && u < 1 - kFlat;
}

/// b = (1 + tanh x) / 2 = 1 / (1 + e^-2x) with x = cot(pi u), and db/du = -(pi/2) (1 - tanh^2 x) /
/// sin^2(pi u), where 1 - tanh^2 x = 4 E / (1 + E)^2 with E = e^-2|x| (pet-spec 2.2).
__host__ __device__ inline Step bump(double u) {
  if (!is_inside(u)) return {u < 0.5 ? 1.0 : 0.0, 0};
  double sine, cosine;
  sine_cosine_of_pi(u, sine, cosine);
  const double small = exp(-2 * fabs(cosine / sine));
  const double inverse = 1 / (1 + small);
  const double root = inverse / sine;
  return {u <= 0.5 ? inverse : small * inverse, -2 * M_PI * small * (root * root)};
}

/// f = (1 + cos(pi u)) / 2, u clamped to [0, 1].
__host__ __device__ inline Step cosine_step(double u) {
  if (u < 0) return {1, 0};
  if (u > 1) return {0, 0};
  double sine, cosine;
  sine_cosine_of_pi(u, sine, cosine);
  return {0.5 * (1 + cosine), -M_PI / 2 * sine};
}

}  // namespace trine::cuda
