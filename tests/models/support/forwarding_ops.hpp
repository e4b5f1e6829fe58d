// A device that passes everything on to another one, for tests that change a part of it.
#pragma once

#include <memory>
#include <utility>

#include "ops/ops.hpp"

namespace trine::test {

template <class Real, MemSpace S>
class ForwardingOps : public Ops<Real, S> {
 public:
  explicit ForwardingOps(std::unique_ptr<Ops<Real, S>> ops) : ops_(std::move(ops)) {}

  std::string description() const override { return ops_->description(); }
  std::int64_t available_memory() const override { return ops_->available_memory(); }
  std::int64_t preferred_edges() const override { return ops_->preferred_edges(); }
  std::shared_ptr<void> use() override { return ops_->use(); }
  void wait() override { ops_->wait(); }
  std::unique_ptr<PackedLinear<Real, S>> pack(const LinearWeights<Real>& w) override {
    return ops_->pack(w);
  }

  void set_zero(Vector<std::byte, S> bytes) override { ops_->set_zero(bytes); }
  void convert(Vector<const double, S> x, Vector<Real, S> y) override { ops_->convert(x, y); }
  void accumulate(Vector<const Real, S> x, Vector<double, S> y) override { ops_->accumulate(x, y); }
  void neighbor_list(const NeighborListArgs<S>& a) override { ops_->neighbor_list(a); }
  void pair_geometry(const PairGeometryArgs<S>& a) override { ops_->pair_geometry(a); }
  void adaptive_cutoff(const AdaptiveCutoffArgs<S>& a) override { ops_->adaptive_cutoff(a); }
  void select_edges(const SelectEdgesArgs<S>& a) override { ops_->select_edges(a); }
  void cutoff_weights(const CutoffWeightsArgs<S>& a) override { ops_->cutoff_weights(a); }
  void gather_edges(const GatherEdgesArgs<S>& a) override { ops_->gather_edges(a); }
  void edge_backward(const EdgeBackwardArgs<S>& a) override { ops_->edge_backward(a); }

 protected:
  Ops<Real, S>& below() const { return *ops_; }

  void do_linear(const LinearArgs<Real, S>& a) override { ops_->linear(a); }
  void do_linear_backward(const LinearBackwardArgs<Real, S>& a) override {
    ops_->linear_backward(a);
  }
  void do_norm(const NormArgs<Real, S>& a) override { ops_->norm(a); }
  void do_norm_backward(const NormBackwardArgs<Real, S>& a) override { ops_->norm_backward(a); }
  void do_norms(const NormArgs<Real, S>& a, const NormArgs<Real, S>& b) override {
    ops_->norm(a, b);
  }
  void do_norms_backward(const NormBackwardArgs<Real, S>& a,
                         const NormBackwardArgs<Real, S>& b) override {
    ops_->norm_backward(a, b);
  }
  void do_attention(const AttentionArgs<Real, S>& a) override { ops_->attention(a); }
  void do_attention_backward(const AttentionBackwardArgs<Real, S>& a) override {
    ops_->attention_backward(a);
  }
  void do_edge_embedding(const EdgeEmbeddingArgs<Real, S>& a) override { ops_->edge_embedding(a); }
  void do_edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, S>& a) override {
    ops_->edge_embedding_backward(a);
  }
  void do_combine(const CombineArgs<Real, S>& a) override { ops_->combine(a); }
  void do_combine_backward(const CombineBackwardArgs<Real, S>& a) override {
    ops_->combine_backward(a);
  }
  void do_add_reversed(const AddReversedArgs<Real, S>& a) override { ops_->add_reversed(a); }
  void do_gather_rows(const GatherRowsArgs<Real, S>& a) override { ops_->gather_rows(a); }
  void do_scale(const ScaleArgs<Real, S>& a) override { ops_->scale(a); }
  void do_readout(const ReadoutArgs<Real, S>& a) override { ops_->readout(a); }
  void do_readout_backward(const ReadoutBackwardArgs<Real, S>& a) override {
    ops_->readout_backward(a);
  }
  void do_energies(const EnergiesArgs<S>& a) override { ops_->energies(a); }
  void do_scale_by_species(const ScaleBySpeciesArgs<S>& a) override { ops_->scale_by_species(a); }

 private:
  std::unique_ptr<Ops<Real, S>> ops_;
};

}  // namespace trine::test
