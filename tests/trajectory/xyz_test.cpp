// Trajectories in extended XYZ, read back by read_structures.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "trajectory/check_sample.hpp"
#include "trajectory/sample_files.hpp"

namespace trine::testing {
namespace {

class XyzTrajectory : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("run.xyz"); }
  TemporaryFolder folder_;
};

TEST_F(XyzTrajectory, HoldsEveryNumber) {
  for (const std::size_t atoms : {1U, 4U, 200U}) {
    write_steps(path(), 0, 9, atoms);
    EXPECT_EQ(checked_xyz(path(), atoms), range(9)) << atoms;
  }
}

TEST_F(XyzTrajectory, IsWrittenAsExpected) {
  Structure structure;
  structure.species = {1};
  structure.positions = {Vec3{1, 2.5, -3}};
  structure.extra_columns = {{"momenta", 'R', 3, {"9", "9", "9"}}, {"tag", 'I', 1, {"7"}}};
  const std::vector<Vec3> velocities = {Vec3{0.125, 0, 1}};
  TrajectoryWriter writer(path());
  writer.write({.step = 3,
                .time = 1.5,
                .structure = &structure,
                .velocities = velocities,
                .potential_energy = -1.5,
                .kinetic_energy = 0.25,
                .info = {{"status", "ok"}}});
  writer.close();
  EXPECT_EQ(bytes_of(path()),
            "1\n"
            "Properties=species:S:1:pos:R:3:tag:I:1:velocities:R:3 energy=-1.5 free_energy=-1.5 "
            "step=3 time=1.5 kinetic_energy=0.25 status=ok pbc=\"F F F\"\n"
            "H 1.0 2.5 -3.0 7 0.125 0.0 1.0\n");
}

/// A killed run leaves a part of its last frame: wherever it ends, it is dropped and nothing else.
TEST_F(XyzTrajectory, DropsATornFrame) {
  constexpr std::size_t kAtoms = 3;
  const std::vector<int> species = SampleFrame(0, kAtoms).structure().species;
  write_steps(path(), 0, 2, kAtoms);
  const std::size_t whole = bytes_of(path()).size();
  write_steps(path(), 0, 3, kAtoms);
  const std::string three = bytes_of(path());
  constexpr std::size_t kStride = 5;
  for (std::size_t left = 0; left <= three.size() - whole; left += left < 20 ? 1 : kStride) {
    const std::size_t size = three.size() - left;
    std::ofstream(path(), std::ios::binary) << three.substr(0, size);
    const std::int64_t kept = size == three.size() ? 3 : 2;
    TrajectoryWriter writer(path(), {.continue_after = 2, .species = species});
    EXPECT_EQ(writer.last_step(), kept - 1) << size;
    for (std::int64_t step = kept; step < 4; ++step)
      writer.write(SampleFrame(step, kAtoms).frame());
    writer.close();
    ASSERT_EQ(checked_xyz(path(), kAtoms), range(4)) << size;
  }
}

TEST_F(XyzTrajectory, ContinuesAfterAStep) {
  const std::vector<int> species = SampleFrame(0, 4).structure().species;
  write_steps(path(), 0, 10, 4);
  const std::string ten = bytes_of(path());
  TrajectoryWriter writer(path(), {.continue_after = 6, .species = species});
  EXPECT_EQ(checked_xyz(path(), 4), range(7));
  EXPECT_NE(error_of([&] { writer.write(SampleFrame(5, 4).frame()); }).find("after step 6"),
            std::string::npos);
  for (std::int64_t step = 7; step < 10; ++step) writer.write(SampleFrame(step, 4).frame());
  writer.close();
  EXPECT_EQ(bytes_of(path()), ten);
}

TEST_F(XyzTrajectory, RefusesOtherFilesAndLeavesThem) {
  const std::vector<int> species = SampleFrame(0, 4).structure().species;
  const std::vector<int> metal(4, 78);
  const auto refuse = [&](const std::string& text, std::span<const int> atoms,
                          const std::string& message) {
    std::ofstream(path(), std::ios::binary) << text;
    const std::string error =
        error_of([&] { TrajectoryWriter(path(), {.continue_after = 1, .species = atoms}); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_EQ(bytes_of(path()), text);
  };
  write_steps(path(), 0, 3, 4);
  const std::string good = bytes_of(path());
  refuse(good, metal, "atom 1 is O (in the run that continues the file it is Pt)");
  refuse(good, std::span(species).first(3), ":1: a frame of 4 atoms");
  refuse("hello\nworld\n", species, ":1: \"hello\" is not a number of atoms");
  refuse("4\nfoo=1\nH 0 0 0\n", species, ":2: the frame has no step");
}

/// A relaxation may write one structure after the other.
TEST_F(XyzTrajectory, HoldsSeveralSystems) {
  TrajectoryWriter writer(path());
  writer.write(SampleFrame(0, 4).frame());
  writer.write(SampleFrame(0, 7).frame());
  writer.close();
  EXPECT_EQ(read_structures(path()).at(1).size(), 7U);
}

TEST_F(XyzTrajectory, KeepsAnExistingFileUntilItHasFrames) {
  write_steps(path(), 0, 2, 4);
  { TrajectoryWriter writer(path()); }
  EXPECT_EQ(checked_xyz(path(), 4), range(2));
  EXPECT_FALSE(std::filesystem::exists(path() + ".part"));
  TrajectoryWriter(folder_.file("none.xyz")).close();
  EXPECT_FALSE(std::filesystem::exists(folder_.file("none.xyz")));
}

TEST_F(XyzTrajectory, SaysThatTheDiskIsFull) {
  TrajectoryWriter writer("/dev/full");
  writer.write(SampleFrame(0, 4).frame());
  const std::string error = error_of([&] { writer.flush(); });
  EXPECT_EQ(error,
            "cannot write /dev/full (No space left on device), name a file that can be written");
  EXPECT_EQ(error_of([&] { writer.write(SampleFrame(1, 4).frame()); }), error);
  EXPECT_EQ(error_of([&] { writer.close(); }), error);
  EXPECT_EQ(error_of([&] { writer.close(); }), "");
}

TEST_F(XyzTrajectory, LosesErrorsInTheDestructorOnly) {
  TrajectoryWriter writer("/dev/full");
  writer.write(SampleFrame(0, 4).frame());
}

TEST_F(XyzTrajectory, RefusesWhatCannotBeWritten) {
  const auto open = [&](const std::string& name) {
    return error_of([&] { TrajectoryWriter writer(folder_.file(name)); });
  };
  EXPECT_NE(open("run.xyz.gz").find("compressed"), std::string::npos);
  EXPECT_NE(open("no/such.xyz").find("No such file or directory"), std::string::npos);
}

TEST_F(XyzTrajectory, RefusesBadFrames) {
  struct Case {
    std::function<void(TrajectoryFrame&, Structure&)> spoil;
    std::string message;
  };
  static const std::vector<Vec3> few(1);
  static const std::vector<Vec3> infinite(4, Vec3{0, 0, INFINITY});
  const std::vector<Case> cases = {
      {[](auto& f, auto&) { f.structure = nullptr; }, "step 8: the frame has no structure"},
      {[](auto& f, auto&) { f.forces = few; }, "step 8: 1 forces for 4 atoms"},
      {[](auto& f, auto&) { f.velocities = infinite; },
       "step 8: velocities of atom 1 are not finite"},
      {[](auto& f, auto&) { f.kinetic_energy = NAN; }, "step 8: the time, an energy or the stress"},
      {[](auto&, auto& s) { s.positions[2][1] = NAN; }, "atom 3"},
      {[](auto& f, auto&) {
         f.info = {{"step", "1"}};
       },
       "step 8: the key step"},
  };
  TrajectoryWriter writer(path());
  for (const Case& c : cases) {
    SampleFrame sample(8, 4);
    TrajectoryFrame& frame = sample.frame();
    c.spoil(frame, sample.structure());
    const std::string error = error_of([&] { writer.write(frame); });
    EXPECT_NE(error.find(c.message), std::string::npos) << error;
  }
  EXPECT_EQ(writer.last_step(), std::nullopt);
  writer.write(SampleFrame(8, 4).frame());
  writer.close();
  EXPECT_EQ(checked_xyz(path(), 4), std::vector<std::int64_t>{8});
  EXPECT_NE(error_of([&] { writer.write(SampleFrame(9, 4).frame()); }).find("closed"),
            std::string::npos);
}

}  // namespace
}  // namespace trine::testing
