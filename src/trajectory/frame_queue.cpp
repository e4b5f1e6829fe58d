#include "trajectory/frame_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trine::trajectory {
namespace {

/// Opening and closing a file costs as much as a small frame: frames go there together, those of
/// this time, or as soon as there are so many bytes.
constexpr std::chrono::seconds kBatchTime{1};
constexpr std::size_t kBatchBytes = std::size_t{1} << 23;

}  // namespace

FrameQueue::FrameQueue(FrameSink& sink, std::size_t buffer_bytes)
    : sink_(sink),
      buffer_bytes_(buffer_bytes),
      batch_bytes_(std::min(buffer_bytes, kBatchBytes)),
      thread_([this] { run(); }) {}

FrameQueue::~FrameQueue() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void FrameQueue::push(const TrajectoryFrame& frame) {
  StoredFrame stored;
  {
    Lock lock(mutex_);
    progress_.wait(lock, [this] { return error_ || bytes_ <= buffer_bytes_; });
    rethrow();
    if (!spare_.empty()) {
      stored = std::move(spare_.back());
      spare_.pop_back();
      spare_bytes_ -= stored.bytes;
    }
  }
  store(frame, stored);
  {
    const Lock lock(mutex_);
    bytes_ += stored.bytes;
    waiting_.push_back(std::move(stored));
  }
  work_.notify_one();
}

void FrameQueue::flush() {
  Lock lock(mutex_);
  const std::uint64_t mine = ++flushes_wanted_;
  work_.notify_one();
  progress_.wait(lock, [this, mine] { return error_ || flushes_done_ >= mine; });
  rethrow();
}

void FrameQueue::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

bool FrameQueue::is_urgent() const {
  return stop_ || flushes_done_ < flushes_wanted_ || bytes_ >= batch_bytes_;
}

void FrameQueue::wait_for_work(Lock& lock) {
  work_.wait(lock, [this] { return is_urgent() || !waiting_.empty(); });
  work_.wait_for(lock, kBatchTime, [this] { return is_urgent(); });
}

void FrameQueue::write_batch(Lock& lock) {
  std::vector<StoredFrame> batch;
  batch.swap(waiting_);
  lock.unlock();
  sink_.append(batch);
  lock.lock();
  for (StoredFrame& frame : batch) {
    bytes_ -= frame.bytes;
    if (bytes_ + spare_bytes_ + frame.bytes > buffer_bytes_) continue;
    spare_bytes_ += frame.bytes;
    spare_.push_back(std::move(frame));
  }
}

void FrameQueue::run() {
  Lock lock(mutex_);
  try {
    while (!stop_ || !waiting_.empty()) {
      wait_for_work(lock);
      if (!waiting_.empty()) {
        write_batch(lock);
      } else if (flushes_done_ < flushes_wanted_) {
        const std::uint64_t wanted = flushes_wanted_;
        lock.unlock();
        sink_.sync();
        lock.lock();
        flushes_done_ = wanted;
      }
      progress_.notify_all();
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    error_ = std::current_exception();
    waiting_.clear();
    progress_.notify_all();
  }
}

}  // namespace trine::trajectory
