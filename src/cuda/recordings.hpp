// Work that comes again and again, recorded as CUDA graphs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <vector>

namespace trine::cuda {

/// Graphs by key. The first time a key comes its work is done as it is, which lets everything that
/// grows on demand grow; the second time it is recorded; from then on the recording is started.
/// Recordings are dropped when device memory has been freed, since they may have used it. While a
/// caller records the stream, work becomes part of that recording.
class Recordings {
 public:
  Recordings() = default;
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  void run(std::span<const std::int64_t> key, const std::function<void()>& work,
           cudaStream_t stream);

 private:
  struct Recording {
    std::vector<std::int64_t> key;
    cudaGraphExec_t graph = nullptr;
  };

  static cudaGraphExec_t record(const std::function<void()>& work, cudaStream_t stream);

  void clear();

  std::list<Recording> all_;  ///< the last one used comes first
  std::int64_t frees_ = 0;    ///< of device memory, when they were recorded
};

}  // namespace trine::cuda
