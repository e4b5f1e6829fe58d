#include "trajectory/hdf5.hpp"

#include <string>

namespace trine::trajectory {
namespace {

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The first record is where the failure arose.
herr_t keep_first(unsigned index, const H5E_error2_t* record, void* text) {
  if (index == 0 && record->desc != nullptr) *static_cast<std::string*>(text) = record->desc;
  return 0;
}

}  // namespace

Handle::Handle(hid_t id, herr_t (*release)(hid_t)) : id_(id), release_(release) {
  require(id < 0 ? -1 : 0);
}

Handle::~Handle() {
  if (id_ >= 0) release_(id_);
}

void Handle::close() {
  require(release_(std::exchange(id_, H5I_INVALID_HID)));
}

void require(herr_t status) {
  if (status >= 0) return;
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  throw Hdf5Error("HDF5: " + (reason.empty() ? "unknown cause" : reason));
}

Hdf5Session::Hdf5Session() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() {
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

}  // namespace trine::trajectory
