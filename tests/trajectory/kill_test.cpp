// A run is killed, at random moments and between any two of its calls that change a file: the file
// opens as usual, holds what was flushed, bit for bit, and can be continued.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>

#include "trajectory/check_sample.hpp"
#include "trajectory/sample_files.hpp"

namespace {

/// Calls that change a file are counted in a child that has set this; the process dies before the
/// call of this number, or, with `g_half`, after half of the bytes.
long g_calls_left = -1;
bool g_half = false;

bool last_call() {
  return g_calls_left >= 0 && g_calls_left-- == 0;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  std::abort();
}

}  // namespace

// The program's own functions take the place of the C library's, for libtrine as well.
extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (last_call()) die();
  return ::syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (descriptor > 2 && last_call()) {
    if (g_half) ::syscall(SYS_write, descriptor, bytes, count / 2);
    die();
  }
  return ::syscall(SYS_write, descriptor, bytes, count);
}

int ftruncate(int descriptor, off_t length) noexcept {
  if (last_call()) die();
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
}

int rename(const char* from, const char* to) noexcept {
  if (last_call()) die();
  return static_cast<int>(::syscall(SYS_rename, from, to));
}

/// A kill, unlike a loss of power, takes nothing that was written: no need to wait for the disk.
int fsync(int) {
  return 0;
}

}  // extern "C"

namespace trine::testing {
namespace {

constexpr std::size_t kAtoms = 5;

std::vector<int> sample_species() {
  return SampleFrame(0, kAtoms).structure().species;
}

std::vector<std::int64_t> checked(const std::string& path) {
  return path.ends_with(".h5") ? checked_h5md(path, kAtoms) : checked_xyz(path, kAtoms);
}

/// What the run can count on: these steps are in the file, and none after `most` is.
struct Promise {
  std::int64_t flushed = -1;
  std::int64_t most = -1;
};

/// Tells the parent of a new promise, past the functions above.
void tell(int pipe, Promise promise) {
  ::syscall(SYS_write, pipe, &promise, sizeof(promise));
}

/// The last promise in the pipe; with `until`, the first of more than so many frames.
Promise read_promise(int pipe, std::int64_t until = INT64_MAX) {
  Promise last;
  Promise next;
  while (last.flushed < until && ::read(pipe, &next, sizeof(next)) == sizeof(next)) last = next;
  return last;
}

void take_steps(TrajectoryWriter& writer, std::int64_t begin, std::int64_t end) {
  for (std::int64_t step = begin; step < end; ++step) {
    writer.write(SampleFrame(step, kAtoms).frame());
  }
}

/// Runs `body(pipe)` in a child that ends by itself or by a kill; true if by itself. Meanwhile
/// `parent(child, pipe)` runs.
template <class Body, class Parent>
bool in_child(Body body, Parent parent, Promise& promise) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    try {
      body(ends[1]);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  promise = parent(child, ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const Promise last = read_promise(ends[0]);
  if (last.most >= 0) promise = last;
  ::close(ends[0]);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return false;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return true;
}

void expect_kept(const std::string& path, Promise promise) {
  std::vector<std::int64_t> steps;
  if (promise.flushed >= 0 || std::filesystem::exists(path)) {
    try {
      steps = checked(path);
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
  EXPECT_EQ(steps, range(static_cast<std::int64_t>(steps.size())));  // none twice, none left out
  EXPECT_GE(static_cast<std::int64_t>(steps.size()), promise.flushed + 1);
  EXPECT_LE(static_cast<std::int64_t>(steps.size()), promise.most + 1);
}

class Kill : public ::testing::TestWithParam<const char*> {
 protected:
  std::string path() const { return folder_.file(GetParam()); }
  TemporaryFolder folder_;
};

void first_run(const std::string& path, int pipe, std::int64_t count) {
  tell(pipe, {-1, count - 1});
  TrajectoryWriter writer(path);
  take_steps(writer, 0, count);
  writer.flush();
  tell(pipe, {count - 1, count - 1});
  writer.close();
}

/// Drops half of the frames of the first run and goes on.
void second_run(const std::string& path, int pipe, std::int64_t count) {
  const std::int64_t kept = count / 2;
  tell(pipe, {kept - 1, count - 1});
  const std::vector<int> species = sample_species();
  TrajectoryWriter writer(path, {.continue_after = kept - 1, .species = species});
  for (std::int64_t step = kept; step < kept + 6; step += 2) {
    tell(pipe, {step - 1, step + 1});
    take_steps(writer, step, step + 2);
    writer.flush();
    tell(pipe, {step + 1, step + 1});
  }
}

/// An unfinished frame at the end of an XYZ file is dropped, as a restart would.
void drop_unfinished(const std::string& path) {
  if (path.ends_with(".h5") || !std::filesystem::exists(path)) return;
  const std::vector<int> species = sample_species();
  const TrajectoryWriter writer(path, {.continue_after = INT64_MAX, .species = species});
}

/// Kills `runs(pipe)` before its first call that changes a file, its second, and so on until it has
/// no more; `prepare` is called before each.
void kill_everywhere(const std::string& path, const std::function<void()>& prepare,
                     const std::function<void(int)>& runs) {
  long calls = 0;
  for (bool finished = false; !finished; ++calls) {
    ASSERT_LT(calls, 5000);
    prepare();
    Promise promise;
    finished = in_child(
        [&](int pipe) {
          g_half = path.ends_with(".xyz");
          g_calls_left = calls;
          runs(pipe);
        },
        [](pid_t, int) { return Promise{}; }, promise);
    drop_unfinished(path);
    expect_kept(path, promise);
    if (::testing::Test::HasFailure()) FAIL() << "killed before call " << calls;
  }
  ::testing::Test::RecordProperty("calls", static_cast<int>(calls));
  EXPECT_GT(calls, 5);
}

TEST_P(Kill, BetweenAnyTwoCallsThatChangeAFile) {
  constexpr std::int64_t kFirst = 8;
  kill_everywhere(
      path(), [this] { std::filesystem::remove(path()); },
      [this](int pipe) {
        first_run(path(), pipe, kFirst);
        second_run(path(), pipe, kFirst);
      });
}

/// In H5MD 1024 frames share a chunk: a whole one is dropped, and a new one is begun afterwards.
TEST_P(Kill, WhileManyFramesAreDropped) {
  constexpr std::int64_t kFirst = 2044;
  const std::string first = folder_.file("first");
  {
    TrajectoryWriter writer(path());
    take_steps(writer, 0, kFirst);
    writer.close();
  }
  std::filesystem::copy_file(path(), first);
  kill_everywhere(
      path(),
      [&] {
        std::filesystem::copy_file(first, path(),
                                   std::filesystem::copy_options::overwrite_existing);
      },
      [this](int pipe) { second_run(path(), pipe, kFirst); });
}

/// Every second run is killed soon after it begins, the others after their first flush; each goes
/// on where the one before was killed.
TEST_P(Kill, AtRandomMoments) {
  constexpr int kKills = 60;
  constexpr std::int64_t kNoLimit = INT64_MAX - 1;
  std::mt19937 random(20261130);
  std::uniform_real_distribution<double> milliseconds(0, 15);
  const std::vector<int> species = sample_species();
  std::int64_t flushed = -1;
  for (int kill = 0; kill < kKills; ++kill) {
    Promise promise;
    in_child(
        [&](int pipe) {
          tell(pipe, {flushed, kNoLimit});
          TrajectoryWriter writer(path(), {.continue_after = flushed, .species = species});
          for (std::int64_t step = flushed + 1;; ++step) {
            take_steps(writer, step, step + 1);
            if (step % 3 != 0) continue;
            writer.flush();
            tell(pipe, {step, kNoLimit});
            std::this_thread::sleep_for(std::chrono::microseconds(500));  // files stay small
          }
        },
        [&](pid_t child, int pipe) {
          const Promise seen = kill % 2 == 0 ? Promise{} : read_promise(pipe, flushed + 1);
          std::this_thread::sleep_for(
              std::chrono::duration<double, std::milli>(milliseconds(random)));
          ::kill(child, SIGKILL);
          return seen;
        },
        promise);
    flushed = std::max(flushed, promise.flushed);
    drop_unfinished(path());
    expect_kept(path(), {flushed, kNoLimit});
    if (HasFailure()) FAIL() << "kill " << kill;
  }
  EXPECT_GE(flushed, kKills / 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, Kill, ::testing::Values("killed.h5", "killed.xyz"),
                         [](const auto& format) {
                           return std::string(format.param).ends_with(".h5") ? "H5md" : "Xyz";
                         });

}  // namespace
}  // namespace trine::testing
