// What a device can do: every operation that models are built from, with one implementation per
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "ops/attention.hpp"
#include "ops/edges.hpp"
#include "ops/linear.hpp"
#include "ops/message.hpp"
#include "ops/neighbor_list.hpp"
#include "ops/norm.hpp"
#include "ops/readout.hpp"

namespace trine {

/// Public calls check shapes and forward to the private virtuals. Results do not depend on the
/// number of threads, on the position of a row in its matrix or on what else is in the batch.
template <class Real, MemSpace S>
class Ops {
 public:
  virtual ~Ops() = default;

  virtual std::string description() const = 0;
  /// Bytes of the device's memory that are free.
  virtual std::int64_t available_memory() const = 0;
  /// Bytes of the device's memory that are taken, by whatever program; 0 for the host's.
  virtual std::int64_t memory_in_use() const { return 0; }
  /// Bytes that neighbour lists will take beside what they have when structures with so many pairs
  /// within `cutoff` come again.
  virtual std::int64_t list_growth(std::int64_t pairs, double cutoff) const {
    static_cast<void>(pairs);
    static_cast<void>(cutoff);
    return 0;
  }
  /// Whether `neighbor_list` can be asked ahead (NeighborListArgs::halted) about as many atoms of
  /// as many structures.
  virtual bool keeps_list(std::int64_t atoms, std::int64_t structures, double cutoff) const {
    static_cast<void>(atoms);
    static_cast<void>(structures);
    static_cast<void>(cutoff);
    return false;
  }
  /// How often memory of the device has been given back. As long as that stays the same, work that
  /// a caller has recorded finds its arrays where they were.
  virtual std::int64_t count_of_frees() const { return 0; }
  /// Makes the device the calling thread's until the result is gone.
  [[nodiscard]] virtual std::shared_ptr<void> use() { return nullptr; }
  /// Returns when the device has done all that it was asked for.
  virtual void wait() {}
  /// What is asked for from now on comes after all that `stream` of a caller holds, which is a
  /// stream as `DeviceArrays` (model.hpp) names it.
  virtual void start_after(void* stream);
  /// Throws `Error(usage)` for a stream whose work is being recorded, because the host would wait
  /// for it in vain.
  virtual void check_not_recording(void* stream) const { static_cast<void>(stream); }
  /// What `stream` is given from now on comes after all that has been asked for.
  virtual void finish_before(void* stream) { static_cast<void>(stream); }
  /// Throws `Error(usage)` if operations cannot use the memory of a caller; null is fine.
  virtual void check_memory(const void* memory, const char* name) const {
    static_cast<void>(memory);
    static_cast<void>(name);
  }
  /// Does `work`, whose operations and all of their arguments follow from `key` alone. A device may
  /// record them and start them all at once when the key comes again.
  virtual void repeat(std::span<const std::int64_t> key, const std::function<void()>& work) {
    static_cast<void>(key);
    work();
  }
  /// Edges that the network should see at a time for its intermediates to stay in fast memory.
  virtual std::int64_t preferred_edges() const = 0;

  virtual std::unique_ptr<PackedLinear<Real, S>> pack(const LinearWeights<Real>& weights) = 0;

  void linear(const LinearArgs<Real, S>& args);
  void linear_backward(const LinearBackwardArgs<Real, S>& args);
  void norm(const NormArgs<Real, S>& args);
  void norm_backward(const NormBackwardArgs<Real, S>& args);
  /// Both of them, of which neither writes what the other reads or writes: a device may start them
  /// together.
  void norm(const NormArgs<Real, S>& first, const NormArgs<Real, S>& second);
  void norm_backward(const NormBackwardArgs<Real, S>& first,
                     const NormBackwardArgs<Real, S>& second);
  void attention(const AttentionArgs<Real, S>& args);
  void attention_backward(const AttentionBackwardArgs<Real, S>& args);
  void edge_embedding(const EdgeEmbeddingArgs<Real, S>& args);
  void edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, S>& args);
  void combine(const CombineArgs<Real, S>& args);
  void combine_backward(const CombineBackwardArgs<Real, S>& args);
  void add_reversed(const AddReversedArgs<Real, S>& args);
  void gather_rows(const GatherRowsArgs<Real, S>& args);
  void scale(const ScaleArgs<Real, S>& args);
  void readout(const ReadoutArgs<Real, S>& args);
  void readout_backward(const ReadoutBackwardArgs<Real, S>& args);
  void energies(const EnergiesArgs<S>& args);
  void scale_by_species(const ScaleBySpeciesArgs<S>& args);

  /// Sets bytes to zero.
  virtual void set_zero(Vector<std::byte, S> bytes) = 0;
  /// y = x, rounded to the network's precision.
  virtual void convert(Vector<const double, S> x, Vector<Real, S> y) = 0;
  /// y += x
  virtual void accumulate(Vector<const Real, S> x, Vector<double, S> y) = 0;

  virtual void neighbor_list(const NeighborListArgs<S>& args) = 0;
  virtual void pair_geometry(const PairGeometryArgs<S>& args) = 0;
  virtual void adaptive_cutoff(const AdaptiveCutoffArgs<S>& args) = 0;
  virtual void select_edges(const SelectEdgesArgs<S>& args) = 0;
  virtual void cutoff_weights(const CutoffWeightsArgs<S>& args) = 0;
  virtual void gather_edges(const GatherEdgesArgs<S>& args) = 0;
  virtual void edge_backward(const EdgeBackwardArgs<S>& args) = 0;

 private:
  virtual void do_linear(const LinearArgs<Real, S>& args) = 0;
  virtual void do_linear_backward(const LinearBackwardArgs<Real, S>& args) = 0;
  virtual void do_norm(const NormArgs<Real, S>& args) = 0;
  virtual void do_norm_backward(const NormBackwardArgs<Real, S>& args) = 0;
  virtual void do_norms(const NormArgs<Real, S>& first, const NormArgs<Real, S>& second) {
    do_norm(first);
    do_norm(second);
  }
  virtual void do_norms_backward(const NormBackwardArgs<Real, S>& first,
                                 const NormBackwardArgs<Real, S>& second) {
    do_norm_backward(first);
    do_norm_backward(second);
  }
  virtual void do_attention(const AttentionArgs<Real, S>& args) = 0;
  virtual void do_attention_backward(const AttentionBackwardArgs<Real, S>& args) = 0;
  virtual void do_edge_embedding(const EdgeEmbeddingArgs<Real, S>& args) = 0;
  virtual void do_edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, S>& args) = 0;
  virtual void do_combine(const CombineArgs<Real, S>& args) = 0;
  virtual void do_combine_backward(const CombineBackwardArgs<Real, S>& args) = 0;
  virtual void do_add_reversed(const AddReversedArgs<Real, S>& args) = 0;
  virtual void do_gather_rows(const GatherRowsArgs<Real, S>& args) = 0;
  virtual void do_scale(const ScaleArgs<Real, S>& args) = 0;
  virtual void do_readout(const ReadoutArgs<Real, S>& args) = 0;
  virtual void do_readout_backward(const ReadoutBackwardArgs<Real, S>& args) = 0;
  virtual void do_energies(const EnergiesArgs<S>& args) = 0;
  virtual void do_scale_by_species(const ScaleBySpeciesArgs<S>& args) = 0;
};

}  // namespace trine
