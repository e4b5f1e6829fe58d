#include "models/pet/network.hpp"

#include <algorithm>

#include "tensor/for_each_device.hpp"
#include "tensor/transfer.hpp"

namespace trine::pet {
namespace {

/// Arena bytes of a batch: arrays over everything, kept tapes, and the largest chunk's scratch.
template <class Real, MemSpace S>
std::size_t plan_bytes(const PetConfig& c, const std::vector<Chunk>& chunks, std::int64_t atoms,
                       std::int64_t edges, TapePolicy policy) {
  Arena<S> measure;
  GlobalArrays<Real, S>(measure, c, atoms, edges, policy);
  if (policy == TapePolicy::keep) {
    for (const Chunk& chunk : chunks) {
      for (std::int64_t l = 0; l < c.num_gnn_layers; ++l) LayerTape<Real, S>(measure, c, chunk);
    }
  }
  const std::size_t base = measure.used();
  for (const Chunk& chunk : chunks) {
    ChunkScratch<Real, S>(measure, c, chunk);
    if (policy != TapePolicy::keep) LayerTape<Real, S>(measure, c, chunk);
    measure.rewind(base);
  }
  return measure.peak();
}

template <class T, MemSpace S>
Vector<std::byte, S> bytes_of(Vector<T, S> v) {
  return {reinterpret_cast<std::byte*>(v.data), v.size * static_cast<std::int64_t>(sizeof(T))};
}

template <class T, MemSpace S>
Vector<std::byte, S> bytes_of(Matrix<T, S> m) {
  return bytes_of(Vector<T, S>{m.data, m.rows * m.stride});
}

}  // namespace

std::vector<Chunk> split_into_chunks(std::span<const std::int64_t> offsets,
                                     std::int64_t preferred_edges) {
  // Whole multiples of this many atoms fill the panels of the node's products.
  constexpr std::int64_t kAtoms = 64;
  const std::int64_t atoms = static_cast<std::int64_t>(offsets.size()) - 1, edges = offsets.back();
  const std::int64_t wanted = edges > 0 ? preferred_edges * atoms / edges : preferred_edges;
  const std::int64_t size =
      std::clamp<std::int64_t>((wanted + kAtoms / 2) / kAtoms, 1, preferred_edges / kAtoms) *
      kAtoms;
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < atoms; first += size) {
    const std::int64_t last = std::min(first + size, atoms);
    const auto begin = offsets[static_cast<std::size_t>(first)];
    chunks.push_back({first, last - first, begin, offsets[static_cast<std::size_t>(last)] - begin});
  }
  return chunks;
}

/// One call of `run`: the arrays of this batch and the steps over them.
template <class Real, MemSpace S>
class Network<Real, S>::Pass {
 public:
  Pass(Network& network, const NetworkInput<Real, S>& input, std::vector<Chunk> chunks,
       TapePolicy policy, double seed)
      : config_(network.config_),
        ops_(network.ops_),
        weights_(network.weights_),
        arena_(network.arena_),
        in_(input),
        chunks_(std::move(chunks)),
        policy_(policy),
        seed_(seed),
        all_(arena_, config_, input.atoms(), input.edges(), policy) {
    if (policy_ == TapePolicy::keep) {
      for (const Chunk& chunk : chunks_) {
        auto& layers = tapes_.emplace_back();
        for (std::int64_t l = 0; l < config_.num_gnn_layers; ++l) {
          layers.emplace_back(arena_, config_, chunk);
        }
      }
    }
  }

  void forward(std::vector<Prediction<Real, S>>& predictions);
  void backward();
  /// Where `backward` leaves its results.
  Vector<double, S> d_weight() const { return all_.d_weight; }
  Vector<Vec3, S> d_vector() const { return all_.d_vector; }

 private:
  bool residual() const { return config_.featurizer == Featurizer::residual; }
  std::size_t layers() const { return weights_.layers.size(); }

  /// Calls body(context, tape of `layer`, chunk) for each chunk with fresh scratch.
  template <class Body>
  void for_each_chunk(std::size_t layer, Body&& body) {
    const std::size_t mark = arena_.used();
    for (std::size_t k = 0; k < chunks_.size(); ++k) {
      const Chunk& chunk = chunks_[k];
      ChunkScratch<Real, S> scratch(arena_, config_, chunk);
      const BlockContext<Real, S> b{
          ops_,
          config_,
          chunk,
          {in_.offsets.slice(chunk.first_atom, chunk.atoms + 1), chunk.atoms, chunk.edges},
          Vector<const Real, S>(all_.weight).slice(chunk.first_edge, chunk.edges),
          scratch};
      if (policy_ == TapePolicy::keep) {
        body(b, tapes_[k][layer]);
      } else {
        LayerTape<Real, S> tape(arena_, config_, chunk);
        body(b, tape);
      }
      arena_.rewind(mark);
    }
  }

  Matrix<Real, S> edge_rows(Matrix<Real, S> m, const Chunk& c) const {
    return m.slice_rows(c.first_edge, c.edges);
  }
  Matrix<Real, S> node_rows(Matrix<Real, S> m, const Chunk& c) const {
    return m.slice_rows(c.first_atom, c.atoms);
  }
  ChunkEdges<S> edges_of(const Chunk& c) const {
    return {in_.vector.slice(c.first_edge, c.edges), in_.edge_species.slice(c.first_edge, c.edges)};
  }
  void copy(Matrix<const Real, S> from, Matrix<Real, S> to) {
    ops_.scale({1, from, Write::overwrite, to});
  }

  void start_nodes(std::size_t layer) {
    ops_.gather_rows(
        {weights_.layers[layer].node_embedding.matrix(), in_.species, Write::overwrite, all_.node});
  }
  void gnn(std::size_t layer);
  void predict(std::size_t readout, Matrix<Real, S> edge, Matrix<Real, S> d_edge,
               std::vector<Prediction<Real, S>>& predictions);
  void gnn_gradient(std::size_t layer, Matrix<Real, S> d_node);
  void combination_gradient(std::size_t layer);

  const PetConfig& config_;
  Ops<Real, S>& ops_;
  const PetWeights<Real, S>& weights_;
  Arena<S>& arena_;
  const NetworkInput<Real, S>& in_;
  std::vector<Chunk> chunks_;
  TapePolicy policy_;
  double seed_;
  GlobalArrays<Real, S> all_;
  std::vector<std::vector<LayerTape<Real, S>>> tapes_;  ///< [chunk][layer] with `keep`
};

template <class Real, MemSpace S>
void Network<Real, S>::Pass::gnn(std::size_t layer) {
  const auto& w = weights_.layers[layer];
  if (policy_ == TapePolicy::recompute) {
    copy(all_.message, all_.message_in[layer]);
    copy(all_.node, all_.node_in[layer]);
  }
  for_each_chunk(layer, [&](const auto& b, auto& tape) {
    gnn_forward(b, w, edges_of(b.chunk), Matrix<const Real, S>(edge_rows(all_.message, b.chunk)),
                tape, node_rows(all_.node, b.chunk), edge_rows(all_.edge[layer], b.chunk));
  });
  if (!in_.conditioning.empty()) {
    ops_.gather_rows({in_.conditioning, in_.structure, Write::add, all_.node});
  }
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::predict(std::size_t readout, Matrix<Real, S> edge,
                                     Matrix<Real, S> d_edge,
                                     std::vector<Prediction<Real, S>>& predictions) {
  for_each_chunk(0, [&](const auto& b, auto&) {
    for (std::size_t t = 0; t < predictions.size(); ++t) {
      auto& p = predictions[t];
      const std::int64_t width = 2 * config_.d_head;
      auto features = p.features;
      if (!features.empty()) {
        features = features.slice_rows(b.chunk.first_atom, b.chunk.atoms)
                       .slice_cols(static_cast<std::int64_t>(readout) * width, width);
      }
      HeadGradient<Real, S> gradient{seed_, {}, {}, {}};
      const bool differentiate = t == 0 && policy_ != TapePolicy::none;
      if (differentiate) {
        gradient.d_node = node_rows(all_.d_node[readout], b.chunk);
        gradient.d_edge = edge_rows(d_edge, b.chunk);
        gradient.d_weight = all_.d_weight.slice(b.chunk.first_edge, b.chunk.edges);
      }
      run_head(b, p.target->readouts[readout], Matrix<const Real, S>(node_rows(all_.node, b.chunk)),
               Matrix<const Real, S>(edge_rows(edge, b.chunk)),
               p.values.slice_rows(b.chunk.first_atom, b.chunk.atoms), features,
               differentiate ? &gradient : nullptr);
    }
  });
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::forward(std::vector<Prediction<Real, S>>& predictions) {
  ops_.convert(in_.weight, all_.weight);
  for (auto& p : predictions) ops_.set_zero(bytes_of(p.values));
  if (policy_ != TapePolicy::none) {
    ops_.set_zero(bytes_of(all_.d_weight));
    ops_.set_zero(bytes_of(all_.d_weight_mask));
    ops_.set_zero(bytes_of(all_.d_vector));
    // The feedforward featurizer's readout writes it.
    if (residual()) ops_.set_zero(bytes_of(all_.d_message));
  }
  ops_.gather_rows(
      {weights_.edge_embedding.matrix(), in_.edge_species, Write::overwrite, all_.message});
  for (std::size_t l = 0; l < layers(); ++l) {
    if (residual() || l == 0) start_nodes(l);
    gnn(l);
    if (!residual()) {
      for_each_chunk(l, [&](const auto& b, auto& tape) {
        combine_forward(b, weights_.layers[l], Matrix<const Real, S>(all_.edge[l]), in_.reverse,
                        tape, edge_rows(all_.message, b.chunk));
      });
      continue;
    }
    predict(l, all_.edge[l], policy_ == TapePolicy::none ? Matrix<Real, S>{} : all_.d_readout[l],
            predictions);
    if (l + 1 < layers()) {
      ops_.add_reversed(
          {Real(0.5), all_.message, Real(0.5), all_.edge[l], in_.reverse, all_.message});
    }
  }
  if (!residual()) predict(0, all_.message, all_.d_message, predictions);
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::combination_gradient(std::size_t layer) {
  if (residual()) {
    ops_.add_reversed(
        {1, all_.d_readout[layer], Real(0.5), all_.d_message, in_.reverse, all_.d_edge});
    ops_.scale({Real(-0.5), all_.d_message, Write::add, all_.d_message});
    return;
  }
  const auto& w = weights_.layers[layer];
  const Matrix<const Real, S> edges(all_.edge[layer]);
  for_each_chunk(layer, [&](const auto& b, auto& tape) {
    if (policy_ == TapePolicy::recompute) {
      combine_hidden(b, w, edges, in_.reverse, tape);
    }
    combine_backward(b, w, edges, in_.reverse, tape,
                     Matrix<const Real, S>(edge_rows(all_.d_message, b.chunk)),
                     edge_rows(all_.d_edge, b.chunk), edge_rows(all_.d_reverse, b.chunk));
  });
  ops_.add_reversed({1, all_.d_edge, 1, all_.d_reverse, in_.reverse, all_.d_edge});
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::gnn_gradient(std::size_t layer, Matrix<Real, S> d_node) {
  const auto& w = weights_.layers[layer];
  for_each_chunk(layer, [&](const auto& b, auto& tape) {
    const Chunk& c = b.chunk;
    if (policy_ == TapePolicy::recompute) {
      const auto node = b.scratch.node[1];
      copy(node_rows(all_.node_in[layer], c), node);
      gnn_forward(b, w, edges_of(c), Matrix<const Real, S>(edge_rows(all_.message_in[layer], c)),
                  tape, node, {});
    }
    gnn_backward(b, w, edges_of(c), tape, node_rows(d_node, c), edge_rows(all_.d_edge, c),
                 edge_rows(all_.d_message, c), all_.d_weight_mask.slice(c.first_edge, c.edges),
                 all_.d_vector.slice(c.first_edge, c.edges));
  });
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::backward() {
  for (std::size_t l = layers(); l-- > 0;) {
    combination_gradient(l);
    gnn_gradient(l, all_.d_node[residual() ? l : 0]);
  }
  ops_.accumulate(all_.d_weight_mask, all_.d_weight);
}

/// Keeps everything, in chunks as large as the device likes; else keeps the inputs of layers, in
/// chunks that become smaller until all fits into `most` bytes or nothing is gained any more.
template <class Real, MemSpace S>
Plan Network<Real, S>::make_plan(const NetworkInput<Real, S>& input, bool gradient,
                                 std::size_t most) const {
  constexpr std::int64_t kFewestEdges =
      65'536;  // below, a GPU would be idle at the ends of launches
  std::vector<std::int64_t> offsets;
  Plan plan;
  const auto measure = [&](TapePolicy policy, std::int64_t size) {
    plan.policy = policy;
    plan.chunks = {{0, input.atoms(), 0, input.edges()}};
    if (input.edges() > size) {
      if (offsets.empty()) offsets = download(input.offsets);
      plan.chunks = split_into_chunks(offsets, size);
    }
    plan.bytes = plan_bytes<Real, S>(config_, plan.chunks, input.atoms(), input.edges(), policy);
    return plan.bytes <= most;
  };
  std::int64_t size = ops_.preferred_edges();
  if (measure(gradient ? TapePolicy::keep : TapePolicy::none, size)) return plan;
  const TapePolicy lean = gradient ? TapePolicy::recompute : TapePolicy::none;
  size = std::min(size, input.edges());
  while (!measure(lean, size) && size >= 2 * kFewestEdges) size = (size + 1) / 2;
  return plan;
}

template <class Real, MemSpace S>
void Network<Real, S>::run(const NetworkInput<Real, S>& input,
                           std::vector<Prediction<Real, S>>& predictions,
                           NetworkGradient<S>* gradient, std::int64_t tape_bytes) {
  const Plan plan = make_plan(input, gradient != nullptr, static_cast<std::size_t>(tape_bytes));
  bytes_ = plan.bytes;
  arena_.reserve(std::max<std::size_t>(bytes_, 1));
  Pass pass(*this, input, plan.chunks, plan.policy, gradient ? gradient->seed : 1.0);
  const auto work = [&] {
    pass.forward(predictions);
    if (gradient) pass.backward();
  };
  if (plan.chunks.size() == 1) {
    ops_.repeat(repeat_key(input, predictions, plan.policy), work);
  } else {
    work();
  }
  if (!gradient) return;
  gradient->d_weight = pass.d_weight();
  gradient->d_vector = pass.d_vector();
}

/// Everything that the steps of a pass depend on: sizes, and where each array lies.
template <class Real, MemSpace S>
std::vector<std::int64_t> Network<Real, S>::repeat_key(
    const NetworkInput<Real, S>& in, const std::vector<Prediction<Real, S>>& predictions,
    TapePolicy policy) const {
  std::vector<std::int64_t> key = {in.atoms(), in.edges(), in.conditioning.rows,
                                   static_cast<std::int64_t>(policy)};
  const auto add = [&](const void* p) { key.push_back(reinterpret_cast<std::intptr_t>(p)); };
  for (const void* p :
       {static_cast<const void*>(in.offsets.data), static_cast<const void*>(in.reverse.data),
        static_cast<const void*>(in.species.data), static_cast<const void*>(in.edge_species.data),
        static_cast<const void*>(in.vector.data), static_cast<const void*>(in.weight.data),
        static_cast<const void*>(in.conditioning.data), static_cast<const void*>(in.structure.data),
        static_cast<const void*>(arena_.data())}) {
    add(p);
  }
  for (const auto& p : predictions) {
    add(p.target);
    add(p.values.data);
    add(p.features.data);
  }
  return key;
}

#define TRINE_INSTANTIATE(Real, S) template class Network<Real, S>;
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
