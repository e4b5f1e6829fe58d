// Times by events around calls. They are read when the GPU is through with them, so that nothing
// waits.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <deque>
#include <mutex>

#include "blas/device.hpp"

namespace trine::blas {
namespace {

/// Pairs of events beyond which those that are complete are read.
constexpr std::size_t kManyTimes = 1024;

struct Running {
  cudaEvent_t begin, end;
  Record* record;
  Tally* tally;
};

std::mutex g_mutex;

std::deque<Running>& running() {
  static auto* const all = new std::deque<Running>;
  return *all;
}

/// Reads what is complete, in the order of calls; at exit all of it. What cannot be read, because
/// the GPU is gone or failed, stays a call without a time.
void read_times(bool at_exit) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const std::scoped_lock lock(g_mutex);
  while (!running().empty()) {
    const Running& next = running().front();
    const cudaError_t state = at_exit ? cudaEventSynchronize(next.end) : cudaEventQuery(next.end);
    if (state == cudaErrorNotReady) break;
    float milliseconds = 0;
    if (state == cudaSuccess &&
        cudaEventElapsedTime(&milliseconds, next.begin, next.end) == cudaSuccess) {
      next.record->add_time(*next.tally, static_cast<double>(milliseconds));
    }
    cudaEventDestroy(next.begin);
    cudaEventDestroy(next.end);
    running().pop_front();
  }
  cudaGetLastError();
  cudaThreadExchangeStreamCaptureMode(&mode);
}

/// An event in `stream`, null if there cannot be one.
cudaEvent_t mark(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  if (cudaEventCreate(&event) == cudaSuccess && cudaEventRecord(event, stream) == cudaSuccess)
    return event;
  if (event) cudaEventDestroy(event);
  cudaGetLastError();
  return nullptr;
}

}  // namespace

Stopwatch::Stopwatch(void* stream, bool wanted) : stream_(stream) {
  const auto of_call = static_cast<cudaStream_t>(stream);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (!wanted || cudaStreamIsCapturing(of_call, &capture) != cudaSuccess ||
      capture != cudaStreamCaptureStatusNone) {
    return;
  }
  begin_ = mark(of_call);
}

Stopwatch::~Stopwatch() {
  if (begin_) cudaEventDestroy(static_cast<cudaEvent_t>(begin_));
}

void Stopwatch::stop(Record& record, Tally& tally) {
  if (!begin_) return;
  cudaEvent_t end = mark(static_cast<cudaStream_t>(stream_));
  if (!end) return;
  // Registered after the driver's own handler, and so called before it.
  static const int registered = std::atexit([] { read_times(true); });
  static_cast<void>(registered);
  std::size_t waiting = 0;
  {
    const std::scoped_lock lock(g_mutex);
    running().push_back({static_cast<cudaEvent_t>(begin_), end, &record, &tally});
    waiting = running().size();
  }
  begin_ = nullptr;
  if (waiting > kManyTimes) read_times(false);
}

}  // namespace trine::blas
