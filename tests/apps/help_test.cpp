// Help texts, and the examples that they show.
#include "apps/program.hpp"

namespace trine::test {
namespace {

class Help : public ProgramTest {};

const char* const kCommands[] = {"info",     "predict",    "md",         "relax",
                                 "validate", "bench step", "bench gemm", "devices"};

TEST_F(Help, OverviewNamesEveryCommand) {
  for (const char* call : {"help", "--help", "-h"}) {
    const Outcome run = trine(call);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.err, "");
    for (const char* command : kCommands)
      EXPECT_NE(run.out.find(std::string("\n  ") + command), std::string::npos);
  }
  EXPECT_TRUE(trine("--version").out.starts_with("trine 0."));
}

TEST_F(Help, BothFormsPrintTheSame) {
  for (const std::string command : kCommands) {
    const Outcome help = trine("help " + command);
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_EQ(help.err, "") << command;
    EXPECT_NE(help.out.find("Usage: trine " + command), std::string::npos) << help.out;
    EXPECT_EQ(trine(command + " --help").out, help.out);
    EXPECT_EQ(trine(command + " -h").out, help.out);
  }
}

TEST_F(Help, ExamplesRun) {
  for (const std::string command : kCommands) {
    const std::string help = trine("help " + command).out;
    const std::string mark = "Example:\n  trine ";
    const auto begin = help.find(mark);
    ASSERT_NE(begin, std::string::npos) << help;
    const std::string arguments = help.substr(
        begin + mark.size(), help.find('\n', begin + mark.size()) - begin - mark.size());
    const Outcome run = trine(arguments);
    EXPECT_EQ(run.status, 0) << arguments << "\n" << run.err;
    EXPECT_NE(run.out, "") << arguments;
  }
}

/// Words of a text, every number replaced by #: digits differ a little between processors.
std::string without_numbers(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) {
    const bool number = word.find_first_not_of("-.0123456789") == std::string::npos;
    all += (number ? "#" : word) + " ";
  }
  return all;
}

TEST_F(Help, ReadmeShowsWhatIsPrinted) {
  const std::string readme = read_file(fs::path(TRINE_EXAMPLES) / "../README.md");
  const std::string mark = "```\n$ trine ";
  const auto begin = readme.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const auto line = begin + mark.size();
  const auto end_of_line = readme.find('\n', line);
  const std::string shown =
      readme.substr(end_of_line, readme.find("```", end_of_line) - end_of_line);
  EXPECT_EQ(without_numbers(shown),
            without_numbers(trine(readme.substr(line, end_of_line - line)).out));
}

}  // namespace
}  // namespace trine::test
