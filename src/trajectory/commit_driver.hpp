// The file driver by which HDF5 reads and writes a CommitFile.
#pragma once

#include "trajectory/commit_file.hpp"
#include "trajectory/hdf5.hpp"

namespace trine::trajectory {

/// Access properties for H5Fopen and H5Fcreate. `file` has to outlive the opened file.
Handle commit_access(CommitFile& file);

}  // namespace trine::trajectory
