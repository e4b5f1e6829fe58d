// The thread that takes frames to a sink, and the frames that wait for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "trajectory/frame_sink.hpp"

namespace trine::trajectory {

class FrameQueue {
 public:
  /// `sink` has to outlive the queue; see TrajectoryOptions about `buffer_bytes`.
  FrameQueue(FrameSink& sink, std::size_t buffer_bytes);
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;
  /// Frames still waiting are written first.
  ~FrameQueue();

  /// Waits for room, then copies the frame. Throws what the thread met.
  void push(const TrajectoryFrame& frame);

  /// Waits until all frames are on the disk. Throws what the thread met.
  void flush();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run();
  void wait_for_work(Lock& lock);
  void write_batch(Lock& lock);
  bool is_urgent() const;
  void rethrow() const;

  FrameSink& sink_;
  std::size_t buffer_bytes_;
  std::size_t batch_bytes_;

  std::mutex mutex_;
  std::condition_variable work_;      // for the thread
  std::condition_variable progress_;  // for the caller
  std::vector<StoredFrame> waiting_;
  std::vector<StoredFrame> spare_;  // their memory is used again
  std::size_t bytes_ = 0;           // of frames waiting and being written
  std::size_t spare_bytes_ = 0;
  std::uint64_t flushes_wanted_ = 0;
  std::uint64_t flushes_done_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace trine::trajectory
