#include "motion/matrix3.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace trine::motion {
namespace {

Matrix3 random_symmetric(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> number(-size, size);
  Matrix3 m{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) m.at[i][j] = m.at[j][i] = number(random);
  }
  return m;
}

/// The series of exp(m), m of a norm of a few.
Matrix3 exponential_by_series(const Matrix3& m) {
  Matrix3 sum{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, term = sum;
  for (int n = 1; n < 60; ++n) {
    term = product(term, m);
    for (auto& row : term.at) {
      for (double& x : row) x /= n;
    }
    for (int k = 0; k < 9; ++k) sum.at[k / 3][k % 3] += term.at[k / 3][k % 3];
  }
  return sum;
}

TEST(Matrix3, ExponentialOfANumber) {
  for (double x = -30; x < 30; x += 0.137) {
    EXPECT_NEAR(exponential(x) / std::exp(x), 1, 4e-16 * (1 + std::abs(x)) + 4e-16) << x;
  }
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-2000), 0);
  EXPECT_TRUE(std::isinf(exponential(2000)));
  EXPECT_TRUE(std::isnan(exponential(std::nan(""))));
}

TEST(Matrix3, RatioOfSinh) {
  EXPECT_EQ(sinh_ratio(0), 1);
  for (const double x : {-4.0, -0.3, 1e-9, 0.7, 2.0}) {
    EXPECT_NEAR(sinh_ratio(x) / (std::sinh(x) / x), 1, 1e-15);
  }
}

TEST(Matrix3, EigenvectorsGiveTheMatrixBack) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Matrix3 m = random_symmetric(random, trial % 2 ? 1 : 1e-6);
    const Eigen3 e = eigen_of_symmetric(m);
    Matrix3 diagonal{};
    for (int k = 0; k < 3; ++k) diagonal.at[k][k] = e.values[k];
    const Matrix3 back = back_from(e, diagonal);
    const Matrix3 one = product(e.vectors, transposed(e.vectors));
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        EXPECT_NEAR(back.at[i][j], m.at[i][j], trial % 2 ? 3e-15 : 3e-21);
        EXPECT_NEAR(one.at[i][j], i == j, 3e-15);
      }
    }
  }
}

TEST(Matrix3, ExponentialOfAMatrix) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 50; ++trial) {
    const Matrix3 m = random_symmetric(random, 1), e = exponential(m);
    const Matrix3 wanted = exponential_by_series(m);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        EXPECT_NEAR(e.at[i][j], wanted.at[i][j], 1e-14);
        EXPECT_EQ(e.at[i][j], e.at[j][i]);
      }
    }
  }
  const Matrix3 one = exponential(Matrix3{});
  for (int k = 0; k < 9; ++k) EXPECT_EQ(one.at[k / 3][k % 3], k % 4 == 0);
}

/// E(u) = c : exp(u) for a c that is not symmetric: dE of exp(u) -> exp(u) + df is c : df, and a
/// strain d of rows of vectors makes df = d^T f. Central differences along every symmetric
/// direction.
TEST(Matrix3, GradientToTheLogarithmIsTheDerivative) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  Matrix3 c{};
  for (int k = 0; k < 9; ++k) c.at[k / 3][k % 3] = number(random);
  const auto energy = [&](const Matrix3& u) {
    const Matrix3 f = exponential(u);
    double sum = 0;
    for (int k = 0; k < 9; ++k) sum += c.at[k / 3][k % 3] * f.at[k / 3][k % 3];
    return sum;
  };
  for (int trial = 0; trial < 10; ++trial) {
    const Matrix3 u = random_symmetric(random, 0.5), f = exponential(u);
    // x = z f^T, so that f -> (1 + d)^T f.
    const Matrix3 g = product(f, transposed(c));
    const Matrix3 gradient = gradient_to_logarithm(u, g);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) {
        constexpr double kStep = 1e-5;
        Matrix3 more = u, less = u;
        more.at[i][j] += kStep;
        less.at[i][j] -= kStep;
        more.at[j][i] = more.at[i][j];
        less.at[j][i] = less.at[i][j];
        const double wanted = (energy(more) - energy(less)) / (2 * kStep);
        EXPECT_NEAR(gradient.at[i][j] * (i == j ? 1 : 2), wanted, 1e-8);
      }
    }
  }
}

}  // namespace
}  // namespace trine::motion
