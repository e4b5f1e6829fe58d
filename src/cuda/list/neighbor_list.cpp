#include "cuda/list/neighbor_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/list/known.hpp"
#include "cuda/list/numbers.hpp"
#include "cuda/list/pairs.hpp"
#include "cuda/list/problem.hpp"

namespace trine::cuda {
namespace {

using List = NeighborList<MemSpace::device>;

/// Of a list that is kept, to structures.
enum class Answer {
  given,
  seen_before,  ///< they are those of the last call, for which no list was kept
  moved_on,     ///< they were those of the kept list for a while
  strangers
};

void resize_pairs(List& list, std::int64_t pairs) {
  list.neighbor.resize_with_room(pairs);
  list.shift.resize_with_room(pairs);
}

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
  std::array<KnownStructures, 2> known;  ///< for the cutoffs of a model and of its repulsion
  std::size_t used_last = 0;

  KnownStructures& known_for(double cutoff);
  std::optional<std::int64_t> search(const BatchArrays& batch, double cutoff, List& list,
                                     cudaStream_t stream);
  bool search_with_skin(const BatchArrays& batch, KnownStructures& structures, cudaStream_t stream);
  void count(const BatchArrays& batch, const KnownStructures& structures, List& list,
             cudaStream_t stream);
  void fill(const BatchArrays& batch, const KnownStructures& structures, std::int64_t pairs,
            List& list, cudaStream_t stream);
  Answer ask(const BatchArrays& batch, KnownStructures& structures, List& list,
             cudaStream_t stream);
};

/// What is known for a cutoff, or takes the place of what was asked for longest ago.
KnownStructures& ListBuilder::Scratch::known_for(double cutoff) {
  if (known[used_last].cutoff != cutoff) used_last = 1 - used_last;
  KnownStructures& found = known[used_last];
  if (found.cutoff != cutoff) found.forget();
  found.cutoff = cutoff;
  return found;
}

/// Builds a list from nothing. Returns the first structure for which there is none, if any.
std::optional<std::int64_t> ListBuilder::Scratch::search(const BatchArrays& batch, double cutoff,
                                                         List& list, cudaStream_t stream) {
  bins.sort(batch, cutoff, stream);
  const BinArrays sorted = bins.arrays();
  list.offsets.resize(batch.atoms + 1);
  count_pairs(batch, sorted, cutoff, list.offsets.data(), stream);
  scan.exclusive(list.offsets.data(), batch.atoms + 1, {numbers.data(), sorted.first_problem},
                 stream);
  const auto [pairs, problem] = numbers.read(stream, "build a neighbour list");
  if (static_cast<unsigned long long>(problem) != kNoProblem) return problem;
  resize_pairs(list, pairs);
  if (pairs > 0) fill_pairs(batch, sorted, cutoff, ListArrays(list), stream);
  return std::nullopt;
}

/// Builds the list that serves again; false if there is none with so many images.
bool ListBuilder::Scratch::search_with_skin(const BatchArrays& batch, KnownStructures& structures,
                                            cudaStream_t stream) {
  const double reach = structures.cutoff + kSkin;
  const bool is_ahead = structures.is_ahead;
  structures.forget();
  structures.is_ahead = is_ahead;
  if (search(batch, reach, structures.list, stream)) return false;
  structures.note(batch, bins.arrays().grids, reach, stream);
  structures.has_list = true;
  return true;
}

/// Finds out whether structures are still those known, which numbers.data()[1] then says with 0,
/// and, if a list is kept, where the pairs belong that are within the cutoff now.
void ListBuilder::Scratch::count(const BatchArrays& batch, const KnownStructures& structures,
                                 List& list, cudaStream_t stream) {
  std::int64_t* changed = numbers.data() + 1;
  *changed = 0;
  if (!structures.has_list)
    return compare_structures(batch, structures.reference(), changed, stream);
  list.offsets.resize(batch.atoms + 1);
  count_within(batch, ListArrays(structures.list), structures.cutoff, structures.reference(),
               list.offsets.data(), changed, stream);
  scan.exclusive(list.offsets.data(), batch.atoms + 1, {numbers.data()}, stream);
}

void ListBuilder::Scratch::fill(const BatchArrays& batch, const KnownStructures& structures,
                                std::int64_t pairs, List& list, cudaStream_t stream) {
  resize_pairs(list, pairs);
  if (pairs == 0) return;
  fill_within(batch, ListArrays(structures.list), structures.cutoff, ListArrays(list), stream);
}

/// Gives the pairs of structures that a list is kept for, or says why not.
Answer ListBuilder::Scratch::ask(const BatchArrays& batch, KnownStructures& structures, List& list,
                                 cudaStream_t stream) {
  if (!structures.may_be(batch)) return Answer::strangers;
  count(batch, structures, list, stream);
  const auto [pairs, changed] = numbers.read(stream, "ask for known pairs");
  if (changed != 0) {
    const bool served = structures.has_served || structures.is_ahead;
    return served ? Answer::moved_on : Answer::strangers;
  }
  if (!structures.has_list) return Answer::seen_before;
  fill(batch, structures, pairs, list, stream);
  structures.has_served = true;
  return Answer::given;
}

ListBuilder::ListBuilder() : scratch_(std::make_unique<Scratch>()) {}
ListBuilder::~ListBuilder() = default;

std::int64_t ListBuilder::growth(std::int64_t pairs, double cutoff) const {
  constexpr double kPairBytes = sizeof(std::int32_t) + sizeof(Shift);
  constexpr double kRoom = 17.0 / 16;  // Buffer::resize_with_room
  if (pairs > kMostPairs || !(cutoff > 0)) return 0;
  std::int64_t held = 0;
  for (const KnownStructures& k : scratch_->known) {
    if (k.cutoff == cutoff) held = k.list.neighbor.capacity();
  }
  const double wanted = kRoom * std::pow((cutoff + kSkin) / cutoff, 3) * static_cast<double>(pairs);
  return static_cast<std::int64_t>(kPairBytes * std::max(0.0, wanted - static_cast<double>(held)));
}

bool ListBuilder::keeps(std::int64_t atoms, std::int64_t structures, double cutoff) const {
  const auto& known = scratch_->known;
  return std::any_of(known.begin(), known.end(), [&](const KnownStructures& k) {
    return k.cutoff == cutoff && k.has_list && k.atoms == atoms && k.structures == structures;
  });
}

/// Gives pairs of the kept list without a look of the host.
void ListBuilder::take(const NeighborListArgs<MemSpace::device>& args, cudaStream_t stream) {
  const BatchArrays batch(args.atoms);
  Scratch& s = *scratch_;
  List& list = *args.list;
  TRINE_ASSERT(keeps(batch.atoms, batch.structures, args.cutoff));
  KnownStructures& known = s.known_for(args.cutoff);
  known.is_ahead = true;
  const std::int64_t room = list.room();
  list.offsets.resize(batch.atoms + 1);
  resize_pairs(list, room);
  count_within(batch, ListArrays(known.list), args.cutoff, known.reference(), list.offsets.data(),
               args.halted, stream);
  s.scan.exclusive(list.offsets.data(), batch.atoms + 1, {}, stream, {args.halted, room, nullptr});
  fill_within(batch, ListArrays(known.list), args.cutoff, ListArrays(list), stream);
}

void ListBuilder::build(const NeighborListArgs<MemSpace::device>& args, cudaStream_t stream) {
  if (args.halted) return take(args, stream);
  const BatchArrays batch(args.atoms);
  check(batch.atoms <= std::numeric_limits<std::int32_t>::max(), ErrorCode::not_supported,
        "{} atoms are more than 32-bit indices can name, split the batch", batch.atoms);
  check(std::isfinite(args.cutoff) && args.cutoff > 0, ErrorCode::bad_input,
        "the cutoff is {} Angstrom, give a positive number", args.cutoff);
  Scratch& s = *scratch_;
  List& list = *args.list;
  if (batch.atoms == 0) {
    list.offsets.resize(1);
    s.scan.exclusive(list.offsets.data(), 1, {}, stream);
    resize_pairs(list, 0);
    return;
  }
  KnownStructures& known = s.known_for(args.cutoff);
  const Answer answer = s.ask(batch, known, list, stream);
  if (answer == Answer::given) return;
  ++list.searches;
  if (answer != Answer::strangers && s.search_with_skin(batch, known, stream)) {
    s.count(batch, known, list, stream);
    s.fill(batch, known, s.numbers.read(stream, "build a neighbour list").front(), list, stream);
    return;
  }
  known.forget();
  if (const auto problem = s.search(batch, args.cutoff, list, stream)) {
    fail_about(s.bins.arrays().grids + *problem, args.cutoff, stream);
  }
  if (list.neighbor.size() > kMostPairs) return;
  known.note(batch, s.bins.arrays().grids, args.cutoff, stream);
}

}  // namespace trine::cuda
