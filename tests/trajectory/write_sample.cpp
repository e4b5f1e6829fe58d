// Writes the trajectory that read_h5md.py knows: write_sample FILE ATOMS FRAMES
#include <cstdio>
#include <cstdlib>

#include "trajectory/sample.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    trine::TrajectoryWriter writer(argv[1]);
    for (std::int64_t step = 0; step < std::atol(argv[3]); ++step) {
      trine::testing::SampleFrame sample(step, std::strtoul(argv[2], nullptr, 10));
      writer.write(sample.frame());
    }
    writer.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
