#include "trajectory/h5md_file.hpp"

#include <algorithm>
#include <string>

#include "trajectory/commit_driver.hpp"

namespace trine::trajectory {
namespace {

/// A dataset of the file, one entry per frame.
class FrameDataset {
 public:
  FrameDataset(const Handle& file, const std::string& name)
      : dataset_(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose) {
    const Handle space(H5Dget_space(dataset_), H5Sclose);
    require(H5Sget_simple_extent_ndims(space) >= 1 ? 0 : -1);
    extent_.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    require(H5Sget_simple_extent_dims(space, extent_.data(), nullptr));
  }

  hsize_t frames() const { return extent_[0]; }

  void resize(hsize_t frames) {
    extent_[0] = frames;
    require(H5Dset_extent(dataset_, extent_.data()));
  }

  /// `values` holds frames [begin, begin + count).
  void write(hid_t type, hsize_t begin, hsize_t count, const void* values) {
    std::vector<hsize_t> start(extent_.size(), 0);
    std::vector<hsize_t> part = extent_;
    start[0] = begin;
    part[0] = count;
    const Handle there(H5Dget_space(dataset_), H5Sclose);
    require(
        H5Sselect_hyperslab(there, H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr));
    const Handle here(H5Screate_simple(static_cast<int>(part.size()), part.data(), nullptr),
                      H5Sclose);
    require(H5Dwrite(dataset_, type, here, there, H5P_DEFAULT, values));
  }

  void read(hid_t type, void* values) const {
    require(H5Dread(dataset_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }

  /// Datasets reach the file in the order of these calls.
  void flush() { require(H5Dflush(dataset_)); }

 private:
  Handle dataset_;
  std::vector<hsize_t> extent_;
};

std::string value_of(const Series& series) {
  return std::string(series.group) + "/value";
}

void append_series(const Handle& file, const Series& series, std::span<const StoredFrame> frames) {
  FrameDataset dataset(file, value_of(series));
  const hsize_t before = dataset.frames();
  dataset.resize(before + frames.size());
  std::size_t numbers = 1;
  for (const hsize_t extent : series.shape) numbers *= extent;
  std::vector<double> scaled;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const double* data = series.data(frames[i]);
    if (series.scale != 1) {
      scaled.resize(numbers);
      std::transform(data, data + numbers, scaled.begin(),
                     [&series](double value) { return value * series.scale; });
      data = scaled.data();
    }
    dataset.write(H5T_NATIVE_DOUBLE, before + i, 1, data);
  }
  dataset.flush();
}

template <class T>
void append_values(const Handle& file, const char* name, hid_t type, const std::vector<T>& values) {
  FrameDataset dataset(file, name);
  const hsize_t before = dataset.frames();
  dataset.resize(before + values.size());
  dataset.write(type, before, values.size(), values.data());
  dataset.flush();
}

}  // namespace

H5mdFile::H5mdFile(CommitFile& file)
    : file_(H5Fopen(file.path().c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, commit_access(file)),
            H5Fclose) {}

std::vector<std::int64_t> H5mdFile::steps(const H5mdContents& contents) const {
  const FrameDataset step(file_, kStep);
  std::vector<std::int64_t> steps(step.frames());
  step.read(H5T_NATIVE_INT64, steps.data());
  hsize_t whole = std::min(step.frames(), FrameDataset(file_, kTime).frames());
  for (const Series& series : series_of(contents)) {
    whole = std::min(whole, FrameDataset(file_, value_of(series)).frames());
  }
  steps.resize(whole);
  return steps;
}

void H5mdFile::keep(const H5mdContents& contents, std::uint64_t count) {
  const auto shrink = [this, count](const std::string& name) {
    FrameDataset dataset(file_, name);
    if (dataset.frames() == count) return;
    dataset.resize(count);
    dataset.flush();
  };
  for (const Series& series : series_of(contents)) shrink(value_of(series));
  shrink(kTime);
  shrink(kStep);
}

void H5mdFile::append(const H5mdContents& contents, std::span<const StoredFrame> frames) {
  for (const Series& series : series_of(contents)) append_series(file_, series, frames);
  std::vector<double> times;
  std::vector<std::int64_t> steps;
  for (const StoredFrame& frame : frames) {
    times.push_back(frame.time);
    steps.push_back(frame.step);
  }
  append_values(file_, kTime, H5T_NATIVE_DOUBLE, times);
  append_values(file_, kStep, H5T_NATIVE_INT64, steps);  // last: what has a step is whole
}

}  // namespace trine::trajectory
