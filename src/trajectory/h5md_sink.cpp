#include "trajectory/h5md_sink.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "base/check.hpp"
#include "trajectory/commit_driver.hpp"
#include "trajectory/h5md_file.hpp"

namespace trine::trajectory {
namespace {

std::string members_of(const H5mdContents& contents) {
  std::string names = "positions";
  const auto add = [&names](bool there, const char* name) {
    if (there) names += name;
  };
  add(contents.velocities, ", velocities");
  add(contents.forces, ", forces");
  add(contents.potential_energy, ", potential energy");
  add(contents.kinetic_energy, ", kinetic energy");
  add(contents.conserved_energy, ", conserved energy");
  add(contents.stress, ", stress");
  return names;
}

void check_species(const std::string& path, std::span<const int> run, std::span<const int> file) {
  check(run.size() == file.size(), ErrorCode::bad_input,
        "{}: frames of {} atoms (the run that continues the file has {}), name another file", path,
        file.size(), run.size());
  const auto [ours, theirs] = std::mismatch(run.begin(), run.end(), file.begin());
  if (ours != run.end()) {
    fail(ErrorCode::bad_input,
         "{}: atom {} is {} (in the run that continues the file it is {}), name another file", path,
         ours - run.begin() + 1, element_symbol(*theirs), element_symbol(*ours));
  }
}

}  // namespace

H5mdSink::H5mdSink(const std::string& path, const TrajectoryOptions& options) : path_(path) {
  trine::check(!is_special(path), ErrorCode::bad_input,
               "cannot write {} (H5MD needs a regular file), name one", path);
  if (options.continue_after && std::filesystem::exists(path)) {
    continue_file(*options.continue_after, options.species);
  } else {
    replacement_.emplace(path);
    const DataFile writable(replacement_->part(), O_RDWR | O_CREAT | O_TRUNC);
  }
}

void H5mdSink::continue_file(std::int64_t step, std::span<const int> species) {
  const Hdf5Session session;
  CommitFile commit(path_, O_RDWR, Change::shrink);
  try {
    H5mdFile file(commit);
    contents_ = file.contents();
    const std::vector<std::int64_t> steps = file.steps(*contents_);
    check_species(path_, species, contents_->species);
    const auto end =
        std::find_if(steps.begin(), steps.end(), [step](std::int64_t s) { return s > step; });
    if (end != steps.begin()) last_step_ = *(end - 1);
    file.keep(*contents_, static_cast<std::uint64_t>(end - steps.begin()));
    file.close();
  } catch (const Hdf5Error& error) {
    fail(ErrorCode::bad_input,
         "cannot continue {} ({}; it is damaged or no trajectory that trine wrote), name another "
         "file "
         "or move it away",
         path_, error.what());
  }
  commit.commit();
}

void H5mdSink::check(const TrajectoryFrame& frame) {
  H5mdContents contents = contents_of(frame);
  if (!contents_)
    contents_ = std::move(contents);
  else if (contents != *contents_) {
    trine::check(
        contents.species == contents_->species && contents.pbc == contents_->pbc,
        ErrorCode::bad_input,
        "{}: the atoms or periodic directions of step {} are others than before (H5MD holds "
        "one system), use extended XYZ",
        path_, frame.step);
    fail(ErrorCode::bad_input,
         "{}: step {} has {} (the frames before it have {}), give the same for every frame", path_,
         frame.step, members_of(contents), members_of(*contents_));
  }
}

void H5mdSink::create(const std::string& path) const {
  CommitFile commit(path, O_RDWR | O_TRUNC);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, commit_access(commit)), H5Fclose);
  create_h5md(file, *contents_);
  file.close();
  commit.commit();
}

void H5mdSink::append(std::span<const StoredFrame> frames) {
  const Hdf5Session session;
  const std::string& path = replacement_ ? replacement_->part() : path_;
  try {
    if (replacement_) create(path);
    CommitFile commit(path, O_RDWR);
    H5mdFile file(commit);
    file.append(*contents_, frames);
    file.close();
    commit.commit();
  } catch (const Hdf5Error& error) {
    fail(ErrorCode::bad_input, "cannot write {} ({}), check the file", path_, error.what());
  }
  if (replacement_) replacement_->finish();
  replacement_.reset();
}

void H5mdSink::sync() {
  // A writer that has written nothing has no file yet.
  if (!replacement_) sync_to_disk(path_);
}

}  // namespace trine::trajectory
