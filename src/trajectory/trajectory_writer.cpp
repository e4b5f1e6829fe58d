#include "trine/trajectory.hpp"

#include <string_view>

#include "base/check.hpp"
#include "base/data_file.hpp"
#include "trajectory/frame_queue.hpp"
#include "trajectory/h5md_sink.hpp"
#include "trajectory/xyz_sink.hpp"

namespace trine {
namespace {

bool is_h5md(std::string_view path) {
  return path.ends_with(".h5") || path.ends_with(".h5md") || path.ends_with(".hdf5");
}

std::unique_ptr<trajectory::FrameSink> make_sink(const std::string& path,
                                                 const TrajectoryOptions& options) {
  check(!path.ends_with(".gz"), ErrorCode::bad_input,
        "cannot write {} (a compressed file cannot be appended to), name it .xyz, or .h5 for a "
        "compact one",
        path);
  if (is_h5md(path)) return std::make_unique<trajectory::H5mdSink>(path, options);
  return std::make_unique<trajectory::XyzSink>(path, options);
}

}  // namespace

class TrajectoryWriter::Impl {
 public:
  Impl(const std::string& path, const TrajectoryOptions& options)
      : path_(path),
        ordered_(is_h5md(path) || options.continue_after),
        sink_(make_sink(path, options)),
        last_step_(sink_->last_step()),
        queue_(std::make_unique<trajectory::FrameQueue>(*sink_, options.buffer_bytes)) {}

  void write(const TrajectoryFrame& frame) {
    check(queue_ != nullptr, ErrorCode::usage, "{}: the trajectory is closed, open another", path_);
    trajectory::check_frame(frame);
    check(!ordered_ || !last_step_ || frame.step > *last_step_, ErrorCode::bad_input,
          "{}: step {} comes after step {} (steps have to grow), skip frames that the file holds",
          path_, frame.step, last_step_.value_or(0));
    sink_->check(frame);
    queue_->push(frame);
    last_step_ = frame.step;
  }

  void flush() {
    if (queue_) queue_->flush();
  }

  void close() {
    if (!queue_) return;
    const auto sink = std::move(sink_);  // closed, whatever happens
    const auto queue = std::move(queue_);
    queue->flush();
  }

  std::optional<std::int64_t> last_step() const { return last_step_; }

 private:
  std::string path_;
  bool ordered_;
  std::unique_ptr<trajectory::FrameSink> sink_;
  std::optional<std::int64_t> last_step_;
  std::unique_ptr<trajectory::FrameQueue> queue_;  // after the sink that it writes to
};

TrajectoryWriter::TrajectoryWriter(const std::string& path, const TrajectoryOptions& options)
    : impl_(std::make_unique<Impl>(path, options)) {}
TrajectoryWriter::TrajectoryWriter(TrajectoryWriter&& other) noexcept = default;
TrajectoryWriter& TrajectoryWriter::operator=(TrajectoryWriter&& other) noexcept = default;
TrajectoryWriter::~TrajectoryWriter() = default;

void TrajectoryWriter::write(const TrajectoryFrame& frame) {
  impl_->write(frame);
}

void TrajectoryWriter::flush() {
  impl_->flush();
}

void TrajectoryWriter::close() {
  impl_->close();
}

std::optional<std::int64_t> TrajectoryWriter::last_step() const {
  return impl_->last_step();
}

}  // namespace trine
