#include "cuda/list/neighbor_list.hpp"

#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/list/grow.hpp"
#include "cuda/list/numbers.hpp"
#include "cuda/list/pairs.hpp"
#include "cuda/list/problem.hpp"

namespace trine::cuda {
namespace {

[[noreturn]] void fail_about(const Grid* on_device, double cutoff, cudaStream_t stream) {
  Grid grid;
  check_cuda(cudaMemcpyAsync(&grid, on_device, sizeof grid, cudaMemcpyDeviceToHost, stream),
             "find what is wrong with a structure");
  check_cuda(cudaStreamSynchronize(stream), "find what is wrong with a structure");
  fail_with(static_cast<ListProblem>(grid.problem >> 32),
            static_cast<std::int64_t>(grid.problem & 0xffffffffU), grid.times, cutoff);
}

}  // namespace

struct ListBuilder::Scratch {
  Bins bins;
  Scan scan;
  PinnedNumbers numbers;
};

ListBuilder::ListBuilder() : scratch_(std::make_unique<Scratch>()) {}
ListBuilder::~ListBuilder() = default;

void ListBuilder::build(const NeighborListArgs<MemSpace::device>& args, cudaStream_t stream) {
  const BatchArrays batch(args.atoms);
  check(batch.atoms <= std::numeric_limits<std::int32_t>::max(), ErrorCode::not_supported,
        "{} atoms are more than 32-bit indices can name, split the batch", batch.atoms);
  check(std::isfinite(args.cutoff) && args.cutoff > 0, ErrorCode::bad_input,
        "the cutoff is {} Angstrom, give a positive number", args.cutoff);
  NeighborList<MemSpace::device>& list = *args.list;
  list.offsets.resize(batch.atoms + 1);
  check_cuda(cudaMemsetAsync(list.offsets.data() + batch.atoms, 0, sizeof(std::int64_t), stream),
             "clear memory");
  std::int64_t total = 0;
  if (batch.atoms > 0) {
    scratch_->bins.sort(batch, args.cutoff, stream);
    const BinArrays bins = scratch_->bins.arrays();
    count_pairs(batch, bins, args.cutoff, list.offsets.data(), stream);
    scratch_->scan.exclusive(list.offsets.data(), batch.atoms + 1, stream);
    const auto [pairs, problem] = scratch_->numbers.read(
        list.offsets.data() + batch.atoms, bins.first_problem, stream, "build a neighbour list");
    if (static_cast<unsigned long long>(problem) != kNoProblem) {
      fail_about(bins.grids + problem, args.cutoff, stream);
    }
    total = pairs;
  }
  resize_with_room(list.neighbor, total);
  resize_with_room(list.shift, total);
  if (total == 0) return;
  fill_pairs(batch, scratch_->bins.arrays(), args.cutoff, ListArrays(list), stream);
}

}  // namespace trine::cuda
