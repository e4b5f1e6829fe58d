#include "trajectory/commit_driver.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // HDF5 1.14 moved the interface of drivers there
#endif

namespace trine::trajectory {
namespace {

struct DriverFile {
  H5FD_t common;  // first: HDF5 knows a file by the address of this
  CommitFile* file;
};
static_assert(std::is_standard_layout_v<DriverFile>);

CommitFile& file_of(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file)->file;
}

std::string_view view_of(const void* bytes, std::size_t count) {
  return {static_cast<const char*>(bytes), count};
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  const void* info = H5Pget_driver_info(access);
  auto* opened = new (std::nothrow) DriverFile{};
  if (info == nullptr || opened == nullptr) {
    delete opened;
    return nullptr;
  }
  opened->file = *static_cast<CommitFile* const*>(info);
  return &opened->common;
}

herr_t close_file(H5FD_t* file) {
  delete reinterpret_cast<DriverFile*>(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_SUPPORTS_SWMR_IO;
  return 0;
}

haddr_t end_of_space(const H5FD_t* file, H5FD_mem_t) {
  return file_of(file).end_of_space();
}

herr_t set_end_of_space(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  file_of(file).set_end_of_space(end);
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return file_of(file).end_of_file();
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  return file_of(file).read(address, static_cast<char*>(buffer), size) ? 0 : -1;
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size,
             const void* buffer) {
  if (type == H5FD_MEM_DRAW) {
    file_of(file).write_data(address, view_of(buffer, size));
  } else {
    file_of(file).write_structure(address, view_of(buffer, size));
  }
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(0x1ad);  // the range for a program's own use
#endif
  driver.name = "trine_commit";
  driver.maxaddr = static_cast<haddr_t>(INT64_MAX);
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(CommitFile*);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = end_of_space;
  driver.set_eoa = set_end_of_space;
  driver.get_eof = end_of_file;
  driver.read = read;
  driver.write = write;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), std::begin(driver.fl_map));
  return driver;
}

hid_t driver_id() {
  static const H5FD_class_t driver = driver_class();
  static const hid_t id = H5FDregister(&driver);
  return id;
}

}  // namespace

Handle commit_access(CommitFile& file) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  CommitFile* const pointer = &file;
  require(H5Pset_driver(access, driver_id(), &pointer));
  // What HDF5 1.10 and everything newer reads, and what may be read while it is written.
  require(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110));
  return access;
}

}  // namespace trine::trajectory
