// A run of trine md that ends before its time: by kill -9 at random moments, and by signals that
// ask for it. Whatever happens, its files are a beginning of the run's, and it can go on.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "apps/md_program.hpp"

namespace trine::test {
namespace {

using namespace std::chrono_literals;

class MdKill : public MdProgramTest {
 protected:
  static constexpr const char* kBegin =
      "h2o.xyz --ensemble nvt-langevin --temperature 60 --timestep 0.2 --trajectory t.xyz "
      "--every 5 --log l.csv --log-every 5 --checkpoint r.run --checkpoint-every 40 -o last.xyz";
  static constexpr const char* kFiles[] = {"t.xyz", "l.csv", "r.run", "last.xyz"};

  std::string begin_or_go_on(int steps) const {
    return command(std::string(exists("r.run") ? "--restart r.run" : kBegin) + " --steps " +
                   std::to_string(steps));
  }

  /// Waits until the log has so many lines.
  void wait_for_lines(std::size_t count) const {
    for (int i = 0; i < 3000 && cells_of(text_of("l.csv")).size() < count; ++i) {
      std::this_thread::sleep_for(10ms);
    }
    ASSERT_GE(cells_of(text_of("l.csv")).size(), count) << text_of(".err");
  }

  /// What an uninterrupted run writes; the files are then removed.
  std::vector<std::string> uninterrupted(int steps) {
    EXPECT_EQ(wait_for(start(begin_or_go_on(steps))), 0) << text_of(".err");
    std::vector<std::string> texts;
    for (const char* file : kFiles) {
      texts.push_back(text_of(file));
      EXPECT_FALSE(texts.back().empty()) << file;
      fs::remove(folder_ / file);
    }
    return texts;
  }

  /// The first step that the file of a run says it has done.
  int steps_of_checkpoint() const {
    const std::string text = text_of("r.run"), key = "\"steps_done\":";
    const auto place = text.find(key);
    return place == std::string::npos ? -1 : std::stoi(text.substr(place + key.size()));
  }

  void expect_beginning(const std::vector<std::string>& whole) const {
    const int step = steps_of_checkpoint();
    if (step < 0) return;  // killed before the first one: the run begins anew
    const std::string frame = " step=" + std::to_string(step / 5 * 5) + " ";
    const std::string line = "\n" + std::to_string(step / 5 * 5) + ",";
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string text = text_of(kFiles[i]);
      EXPECT_TRUE(whole[i].starts_with(text)) << kFiles[i];
      EXPECT_NE(text.find(i == 0 ? frame : line), std::string::npos)
          << kFiles[i] << " has lost frames before step " << step;
    }
  }

  void expect_same(const std::vector<std::string>& whole) const {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_TRUE(text_of(kFiles[i]) == whole[i]) << kFiles[i];
    }
  }
};

TEST_F(MdKill, FiftyTimes) {
  constexpr int kSteps = 800;
  const auto whole = uninterrupted(kSteps);
  std::mt19937 random(1);
  // From the loading of the model to a checkpoint or two later.
  std::uniform_int_distribution<int> microseconds(1'000, 150'000);
  int advanced = 0;
  for (int i = 0; i < 50; ++i) {
    const int before = steps_of_checkpoint();
    const pid_t child = start(begin_or_go_on(kSteps));
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    kill(child, SIGKILL);
    const int status = wait_for(child);
    ASSERT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        << text_of(".err");
    expect_beginning(whole);
    ASSERT_GE(steps_of_checkpoint(), before);
    advanced += steps_of_checkpoint() > before;
  }
  RecordProperty("advanced", advanced);
  ASSERT_EQ(wait_for(start(begin_or_go_on(kSteps))), 0) << text_of(".err");
  expect_same(whole);
}

TEST_F(MdKill, SignalsEndItInGoodOrder) {
  constexpr int kSteps = 1200;
  const auto whole = uninterrupted(kSteps);
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start(begin_or_go_on(kSteps));
    wait_for_lines(signal == SIGINT ? 5 : 60);
    kill(child, signal);
    ASSERT_EQ(wait_for(child), 0) << text_of(".err");
    const std::string name = signal == SIGINT ? "SIGINT" : "SIGTERM";
    const int step = steps_of_checkpoint();
    EXPECT_LT(step, kSteps);
    expect_contains(text_of(".err"), "stopped by " + name + " at step " + std::to_string(step) +
                                         " of 1200, go on with --restart r.run");
    expect_contains(text_of("last.xyz"), " step=" + std::to_string(step) + " ");
    expect_beginning(whole);
  }
  ASSERT_EQ(wait_for(start(begin_or_go_on(kSteps))), 0) << text_of(".err");
  expect_same(whole);
}

TEST_F(MdKill, ASecondSignalEndsItAtOnce) {
  const pid_t child = start(command(std::string(kBegin) + " --steps 1000000"));
  wait_for_lines(5);
  kill(child, SIGINT);
  kill(child, SIGTERM);
  const int status = wait_for(child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  ASSERT_EQ(wait_for(start(begin_or_go_on(60))), 0) << text_of(".err");
}

}  // namespace
}  // namespace trine::test
