// Reads an H5MD trajectory as any program would: HDF5's default driver, no special mode.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "trine/geometry.hpp"

namespace trine::testing {

class H5Data {
 public:
  explicit H5Data(const std::string& path)
      : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
    if (file_ < 0) throw std::runtime_error("HDF5 cannot open " + path);
  }
  H5Data(const H5Data&) = delete;
  H5Data& operator=(const H5Data&) = delete;
  ~H5Data() { H5Fclose(file_); }

  bool has(const std::string& name) const {
    return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
  }

  std::vector<std::uint64_t> shape(const std::string& name) const {
    const hid_t dataset = open(name);
    const hid_t space = H5Dget_space(dataset);
    hsize_t extents[8] = {};
    const int rank = H5Sget_simple_extent_dims(space, extents, nullptr);
    H5Sclose(space);
    H5Dclose(dataset);
    return {extents, extents + rank};
  }

  std::vector<double> reals(const std::string& name) const {
    return read<double>(name, H5T_NATIVE_DOUBLE);
  }
  std::vector<std::int64_t> integers(const std::string& name) const {
    return read<std::int64_t>(name, H5T_NATIVE_INT64);
  }

 private:
  hid_t open(const std::string& name) const {
    const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    if (dataset < 0) throw std::runtime_error("no dataset " + name);
    return dataset;
  }

  template <class T>
  std::vector<T> read(const std::string& name, hid_t type) const {
    std::size_t count = 1;
    for (const std::uint64_t extent : shape(name)) count *= extent;
    std::vector<T> values(count);
    const hid_t dataset = open(name);
    const herr_t status = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    if (status < 0) throw std::runtime_error("HDF5 cannot read " + name);
    return values;
  }

  hid_t file_;
};

}  // namespace trine::testing
