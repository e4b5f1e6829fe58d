// Trajectories: the frames of a run, written beside it by a thread of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trine/structure.hpp"

namespace trine {

/// One frame. Empty members are left out of the file.
struct TrajectoryFrame {
  std::int64_t step = 0;
  double time = 0;                           ///< fs
  const Structure* structure = nullptr;      ///< has to be there; looked at only during `write`
  std::span<const Vec3> velocities{};        ///< [N] Angstrom/fs
  std::span<const Vec3> forces{};            ///< [N] eV/Angstrom
  std::optional<double> potential_energy{};  ///< eV
  std::optional<double> kinetic_energy{};    ///< eV
  std::optional<double> conserved_energy{};  ///< eV, the quantity that the integrator conserves
  std::optional<Mat3> stress{};              ///< eV/Angstrom^3, symmetric, tension is positive
  std::vector<std::pair<std::string, std::string>> info{};  ///< further keys; extended XYZ only
};

struct TrajectoryOptions {
  /// Continues an existing file: frames after this step, and what a killed run left unfinished, are
  /// dropped, and new frames are appended. A file that does not exist is made. Without it an
  /// existing file is replaced, once the first frames of the new one are written.
  std::optional<std::int64_t> continue_after{};
  /// [N] atomic numbers of the run that `continue_after` continues. A file of other atoms is
  /// refused and left as it is.
  std::span<const int> species{};
  /// Frames that wait for the disk take this many bytes at most, and one frame more: then `write`
  /// waits.
  std::size_t buffer_bytes = std::size_t{1} << 26;
};

/// Writes a trajectory: H5MD for names that end in .h5, .h5md or .hdf5, extended XYZ otherwise ("-"
/// is standard output). docs/trajectories.md has the layout of both.
///
/// `write` copies the frame and returns; a thread of its own puts frames into the file, those of a
/// second together. Between the writing of frames the file is closed: others may read it. A program
/// that is killed, at any moment, leaves a file that opens as usual and holds all frames before the
/// last `flush`.
///
/// Every function throws `Error(bad_input)` with the name of the file and the reason if it cannot
/// be written (disk full, no permission). What the thread met is thrown by the next call, whichever
/// it is; the writer is then closed. One thread may use a writer at a time.
class TrajectoryWriter {
 public:
  /// Opens, or continues, the file `path`. Throws `Error(bad_input)` if it cannot be written, and
  /// if a file to be continued is no trajectory, is damaged, or is of other atoms.
  explicit TrajectoryWriter(const std::string& path, const TrajectoryOptions& options = {});
  TrajectoryWriter(TrajectoryWriter&& other) noexcept;
  TrajectoryWriter& operator=(TrajectoryWriter&& other) noexcept;
  /// Closes; an error is lost. Call `close` to hear of it.
  ~TrajectoryWriter();

  /// Takes a frame. Throws `Error(bad_input)`, and takes nothing, for frames that cannot be
  /// written: not finite, arrays of other sizes; in H5MD, and in a file that was continued, a step
  /// that is not after `last_step`; in H5MD other atoms or other members than the first frame has.
  void write(const TrajectoryFrame& frame);

  /// Returns when all frames taken so far are in the file and on the disk. To be called before a
  /// checkpoint is written: what is restarted from it then finds its frames.
  void flush();

  /// Flushes, and ends the thread. A writer that took no frame leaves no file, and an existing one
  /// as it was. Nothing may be written afterwards; closing twice does nothing.
  void close();

  /// Step of the last frame that was taken or that a continued file holds; nothing before that.
  std::optional<std::int64_t> last_step() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine
