// HDF5's handles and errors, as C++ has them.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <stdexcept>
#include <utility>

namespace trine::trajectory {

/// A call of HDF5's failed; what() is HDF5's reason.
class Hdf5Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An identifier of HDF5's, released at the end. Throws as `require` does if there is none.
class Handle {
 public:
  Handle(hid_t id, herr_t (*release)(hid_t));
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), release_(other.release_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle();

  /// Releases it now, and throws Hdf5Error if that fails.
  void close();

  operator hid_t() const { return id_; }  // NOLINT: to be passed to HDF5 as it is

 private:
  hid_t id_;
  herr_t (*release_)(hid_t);
};

/// Throws Hdf5Error if `status` says that a call failed.
void require(herr_t status);

/// While it lives, this thread alone uses HDF5 (not every build of HDF5 has room for two), and HDF5
/// prints nothing.
class Hdf5Session {
 public:
  Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;
  ~Hdf5Session();

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

}  // namespace trine::trajectory
