// 'trine bench gemm' as a program of its own. It needs libtrine_gemm alone, so that it can travel
// to a machine that has a GPU and none of the other libraries.
#include <string>
#include <vector>

#include "command.hpp"

int main(int argc, char** argv) {
  return trine::app::guarded([&] {
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    trine::app::run_command(trine::app::kBenchGemm, words, trine::app::asks_for_help(words));
  });
}
