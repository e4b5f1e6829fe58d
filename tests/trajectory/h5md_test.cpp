// Trajectories in H5MD, read back by HDF5 alone.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "trajectory/check_sample.hpp"
#include "trajectory/sample_files.hpp"

namespace trine::testing {
namespace {

const std::string kGroup = "/particles/trajectory/";

class H5md : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("run.h5"); }
  TemporaryFolder folder_;
};

TEST_F(H5md, HoldsEveryNumber) {
  for (const std::size_t atoms : {1U, 2U, 192U, 1000U}) {
    write_steps(path(), 0, 70, atoms);
    EXPECT_EQ(checked_h5md(path(), atoms), range(70)) << atoms;
    const H5Data file(path());
    EXPECT_EQ(file.shape(kGroup + "velocity/value"), (std::vector<std::uint64_t>{70, atoms, 3}));
    EXPECT_EQ(file.shape(kGroup + "box/edges/value"), (std::vector<std::uint64_t>{70, 3, 3}));
    const std::vector<int> species = SampleFrame(0, atoms).structure().species;
    EXPECT_EQ(file.integers(kGroup + "species"),
              std::vector<std::int64_t>(species.begin(), species.end()));
  }
}

/// A frame of more atoms than fit into a chunk.
TEST_F(H5md, HoldsLargeFrames) {
  constexpr std::size_t kAtoms = 400'003;
  write_steps(path(), 0, 2, kAtoms);
  EXPECT_EQ(checked_h5md(path(), kAtoms), range(2));
}

TEST_F(H5md, HoldsNoAtoms) {
  const Structure nothing;
  TrajectoryWriter writer(path());
  for (std::int64_t step = 0; step < 3; ++step) writer.write({.step = step, .structure = &nothing});
  writer.close();
  const H5Data file(path());
  EXPECT_EQ(file.shape(kGroup + "position/value"), (std::vector<std::uint64_t>{3, 0, 3}));
  EXPECT_EQ(file.integers(kGroup + "position/step"), range(3));
  EXPECT_FALSE(file.has("/observables"));
}

TEST_F(H5md, SharesStepsAndTimes) {
  write_steps(path(), 0, 3, 4);
  const H5Data file(path());
  for (const std::string& group : {kGroup + "velocity", kGroup + "force", kGroup + "box/edges",
                                   std::string("/observables/kinetic_energy")}) {
    EXPECT_EQ(file.integers(group + "/step"), range(3));
    EXPECT_EQ(file.reals(group + "/time"), (std::vector<double>{0, 0.5, 1}));
  }
}

TEST_F(H5md, LeavesOutWhatFramesDoNotHave) {
  SampleFrame sample(5, 3);
  TrajectoryWriter writer(path());
  writer.write({.step = 5, .structure = &sample.structure()});
  writer.close();
  const H5Data file(path());
  EXPECT_TRUE(file.has(kGroup + "position"));
  EXPECT_FALSE(file.has(kGroup + "velocity"));
  EXPECT_FALSE(file.has(kGroup + "force"));
  EXPECT_FALSE(file.has("/observables"));
}

TEST_F(H5md, ContinuesWithoutGapOrDuplicate) {
  write_steps(path(), 0, 10, 4);
  const std::vector<int> species = SampleFrame(0, 4).structure().species;
  TrajectoryWriter writer(path(), {.continue_after = 6, .species = species});
  EXPECT_EQ(writer.last_step(), 6);
  EXPECT_NE(error_of([&] { writer.write(SampleFrame(6, 4).frame()); }).find("step 6"),
            std::string::npos);
  for (std::int64_t step = 7; step < 12; ++step) writer.write(SampleFrame(step, 4).frame());
  writer.close();
  EXPECT_EQ(checked_h5md(path(), 4), range(12));
}

TEST_F(H5md, ContinuesFromNothing) {
  const std::vector<int> species = SampleFrame(0, 4).structure().species;
  write_steps(path(), 0, 2, 4, {.continue_after = 100, .species = species});
  EXPECT_EQ(checked_h5md(path(), 4), range(2));
  write_steps(path(), 0, 3, 4, {.continue_after = -1, .species = species});  // drops all
  EXPECT_EQ(checked_h5md(path(), 4), range(3));
}

TEST_F(H5md, RefusesOtherFilesAndLeavesThem) {
  const std::vector<int> species = SampleFrame(0, 4).structure().species;
  const std::vector<int> metal(4, 78);
  write_steps(path(), 0, 3, 4);
  const std::string before = bytes_of(path());
  const auto open = [&](std::span<const int> atoms) {
    return error_of([&] { TrajectoryWriter(path(), {.continue_after = 1, .species = atoms}); });
  };
  EXPECT_NE(open(metal).find("atom 1 is O"), std::string::npos) << open(metal);
  EXPECT_NE(open(std::span(species).first(3)).find("frames of 4 atoms"), std::string::npos);
  EXPECT_EQ(bytes_of(path()), before);
  for (const std::string& text : {std::string("not HDF5"), before.substr(0, before.size() / 2)}) {
    std::ofstream(path(), std::ios::binary) << text;
    EXPECT_NE(open(species).find("cannot continue " + path()), std::string::npos) << open(species);
    EXPECT_EQ(bytes_of(path()), text);
  }
}

TEST_F(H5md, ReplacesAnExistingFileWithItsFirstFrames) {
  write_steps(path(), 0, 3, 4);
  {
    TrajectoryWriter writer(path());
    EXPECT_EQ(checked_h5md(path(), 4), range(3));
    writer.close();  // without a frame
  }
  EXPECT_EQ(checked_h5md(path(), 4), range(3));
  write_steps(path(), 0, 1, 7);
  EXPECT_EQ(checked_h5md(path(), 7), range(1));
  EXPECT_FALSE(std::filesystem::exists(path() + ".part"));
}

TEST_F(H5md, RefusesFramesThatDoNotFit) {
  TrajectoryWriter writer(path());
  writer.write(SampleFrame(0, 4).frame());
  SampleFrame sample(1, 4);
  TrajectoryFrame& frame = sample.frame();
  frame.forces = {};
  EXPECT_NE(
      error_of([&] { writer.write(frame); }).find("step 1 has positions, velocities, potential"),
      std::string::npos);
  EXPECT_NE(error_of([&] { writer.write(SampleFrame(1, 5).frame()); }).find("one system"),
            std::string::npos);
  writer.write(SampleFrame(1, 4).frame());
  writer.close();
  EXPECT_EQ(checked_h5md(path(), 4), range(2));
}

/// Frames that were flushed stay, the file stays sound, and later calls say why nothing is written.
TEST_F(H5md, SaysThatTheDiskIsFull) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  TrajectoryWriter writer(path());
  for (std::int64_t step = 0; step < 5; ++step) writer.write(SampleFrame(step, 1000).frame());
  writer.flush();
  const auto size = std::filesystem::file_size(path());
  const rlimit full{size + 30'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  const std::string error = error_of([&] {
    for (std::int64_t step = 5; step < 100; ++step) {
      writer.write(SampleFrame(step, 1000).frame());
      writer.flush();
    }
  });
  const std::string again = error_of([&] { writer.flush(); });
  const std::string closing = error_of([&] { writer.close(); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error, "cannot write " + path() + " (File too large), name a file that can be written");
  EXPECT_EQ(again, error);
  EXPECT_EQ(closing, error);
  const auto steps = checked_h5md(path(), 1000);
  EXPECT_GE(steps.size(), 5U);
  EXPECT_EQ(steps, range(static_cast<std::int64_t>(steps.size())));
}

TEST_F(H5md, RefusesWhatCannotBeWritten) {
  EXPECT_NE(error_of([&] {
              TrajectoryWriter(folder_.file("no/such.h5"));
            }).find("No such file or directory"),
            std::string::npos);
  std::filesystem::create_directory(path());
  EXPECT_NE(error_of([&] { TrajectoryWriter writer(path()); }).find("regular file"),
            std::string::npos);
}

}  // namespace
}  // namespace trine::testing
