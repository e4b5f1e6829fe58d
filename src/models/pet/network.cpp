#include "models/pet/network.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "tensor/for_each_device.hpp"
#include "tensor/transfer.hpp"

namespace trine::pet {
namespace {

/// Of the memory that is free, what intermediates may take unless it is said. The rest of a GPU is
/// for lists and edges that grow; the rest of the host is for whatever else runs there.
template <MemSpace S>
constexpr double kShare = S == MemSpace::device ? 0.9 : 0.5;

/// Where the host does not say what is free.
constexpr std::size_t kUnlimited = std::size_t{1} << 60;

double gib(std::size_t bytes) {
  return static_cast<double>(bytes) / 0x1p30;
}

template <class Real>
[[noreturn]] void fail_too_large(const Plan& plan, std::int64_t atoms, std::size_t room,
                                 Recompute recompute) {
  const bool stubborn = recompute == Recompute::none || recompute == Recompute::light;
  fail(ErrorCode::out_of_memory,
       "{} atoms need {:.2f} GiB for what the network computes in between ({:.2f} GiB are free, "
       "enough for about {} such atoms), evaluate fewer atoms at a time, {}{}or take a device with "
       "more memory",
       atoms, gib(plan.bytes), gib(room), atoms_that_fit(plan, atoms, room),
       stubborn ? "let more be computed again (recompute auto), " : "",
       sizeof(Real) == 8 ? "compute in fp32, " : "");
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

/// One call of `run`: the arrays of this batch and the steps over them.
template <class Real, MemSpace S>
class Network<Real, S>::Pass {
 public:
  Pass(Network& network, const NetworkInput<Real, S>& input, double seed)
      : config_(network.config_),
        ops_(network.ops_),
        weights_(network.weights_),
        arena_(network.arena_),
        in_(input),
        chunks_(network.plan_.chunks),
        policy_(network.plan_.policy),
        seed_(seed),
        all_(arena_, config_, input.atoms(), input.edges(), policy_) {
    if (!keeps_tapes(policy_)) return;
    for (const Chunk& chunk : chunks_) {
      auto& layers = tapes_.emplace_back();
      for (std::int64_t l = 0; l < config_.num_gnn_layers; ++l) {
        layers.emplace_back(arena_, config_, chunk, policy_);
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

  /// Where tapes are not kept, those of the forward pass are never read.
  TapePolicy forward_policy() const {
    return policy_ == TapePolicy::layer ? TapePolicy::none : policy_;
  }

  /// Calls body(context, tape of `layer`) for each chunk with fresh scratch.
  template <class Body>
  void for_each_chunk(std::size_t layer, TapePolicy policy, Body&& body) {
    const std::size_t mark = arena_.used();
    for (std::size_t k = 0; k < chunks_.size(); ++k) {
      const Chunk& chunk = chunks_[k];
      ChunkScratch<Real, S> scratch(arena_, config_, chunk, policy);
      const BlockContext<Real, S> b{
          ops_,
          config_,
          chunk,
          {in_.offsets.slice(chunk.first_atom, chunk.atoms + 1), chunk.atoms, chunk.edges},
          Vector<const Real, S>(all_.weight).slice(chunk.first_edge, chunk.edges),
          scratch,
          policy};
      if (keeps_tapes(policy)) {
        body(b, tapes_[k][layer]);
      } else {
        LayerTape<Real, S> tape(arena_, config_, chunk, policy);
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
  ChunkInput<S> input_of(const Chunk& c) const {
    return {in_.species.slice(c.first_atom, c.atoms), in_.vector.slice(c.first_edge, c.edges),
            in_.edge_species.slice(c.first_edge, c.edges)};
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
  const std::vector<Chunk>& chunks_;
  TapePolicy policy_;
  double seed_;
  GlobalArrays<Real, S> all_;
  std::vector<std::vector<LayerTape<Real, S>>> tapes_;  ///< [chunk][layer], where they are kept
};

template <class Real, MemSpace S>
void Network<Real, S>::Pass::gnn(std::size_t layer) {
  const auto& w = weights_.layers[layer];
  if (policy_ == TapePolicy::layer) copy(all_.node, all_.node_in[layer]);
  for_each_chunk(layer, forward_policy(), [&](const auto& b, auto& tape) {
    gnn_forward(b, w, input_of(b.chunk),
                Matrix<const Real, S>(edge_rows(all_.message[layer], b.chunk)), tape,
                node_rows(all_.node, b.chunk), edge_rows(all_.edge[layer], b.chunk));
  });
  if (!in_.conditioning.empty()) {
    ops_.gather_rows({in_.conditioning, in_.structure, Write::add, all_.node});
  }
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::predict(std::size_t readout, Matrix<Real, S> edge,
                                     Matrix<Real, S> d_edge,
                                     std::vector<Prediction<Real, S>>& predictions) {
  for_each_chunk(0, forward_policy(), [&](const auto& b, auto&) {
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
    ops_.set_zero(all_.added_to);
    // The feedforward featurizer's readout writes it.
    if (residual()) ops_.set_zero(bytes_of(all_.d_message));
  }
  ops_.gather_rows(
      {weights_.edge_embedding.matrix(), in_.edge_species, Write::overwrite, all_.message[0]});
  for (std::size_t l = 0; l < layers(); ++l) {
    if (residual() || l == 0) start_nodes(l);
    gnn(l);
    if (!residual()) {
      for_each_chunk(l, forward_policy(), [&](const auto& b, auto& tape) {
        combine_forward(b, weights_.layers[l], Matrix<const Real, S>(all_.edge[l]), in_.reverse,
                        tape, Matrix<const Real, S>(edge_rows(all_.message[l], b.chunk)),
                        edge_rows(all_.message[l + 1], b.chunk));
      });
      continue;
    }
    predict(l, all_.edge[l], policy_ == TapePolicy::none ? Matrix<Real, S>{} : all_.d_readout[l],
            predictions);
    if (l + 1 < layers()) {
      ops_.add_reversed(
          {Real(0.5), all_.message[l], Real(0.5), all_.edge[l], in_.reverse, all_.message[l + 1]});
    }
  }
  if (!residual()) predict(0, all_.message.back(), all_.d_message, predictions);
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
  for_each_chunk(layer, policy_, [&](const auto& b, auto& tape) {
    restore_combination(b, w, edges, in_.reverse);
    combine_backward(b, w, tape, Matrix<const Real, S>(edge_rows(all_.d_message, b.chunk)),
                     edge_rows(all_.d_joined, b.chunk));
  });
  ops_.combine_backward({{w.combine_norm.parameters(), edges, in_.reverse, 0, {}},
                         all_.d_joined,
                         all_.d_message,
                         all_.d_edge});
}

template <class Real, MemSpace S>
void Network<Real, S>::Pass::gnn_gradient(std::size_t layer, Matrix<Real, S> d_node) {
  const auto& w = weights_.layers[layer];
  for_each_chunk(layer, policy_, [&](const auto& b, auto& tape) {
    const Chunk& c = b.chunk;
    if (policy_ == TapePolicy::layer) {
      const auto node = b.scratch.node[1];
      copy(node_rows(all_.node_in[layer], c), node);
      gnn_forward(b, w, input_of(c), Matrix<const Real, S>(edge_rows(all_.message[layer], c)), tape,
                  node, {});
    }
    gnn_backward(b, w, input_of(c), tape, node_rows(d_node, c), edge_rows(all_.d_edge, c),
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

/// Plans the pass and takes the memory for it.
template <class Real, MemSpace S>
void Network<Real, S>::make_room(const NetworkInput<Real, S>& input, bool gradient,
                                 const MemoryBounds& bounds) {
  const std::size_t held = arena_.capacity();
  std::optional<std::size_t> room;  // what is free, with what is held
  const auto ask = [&] {
    if (room) return;
    const std::int64_t free = ops_.available_memory();
    const bool unknown = S == MemSpace::host && free == 0;
    room = unknown
               ? kUnlimited
               : held + static_cast<std::size_t>(std::max<std::int64_t>(free - bounds.later, 0));
    others_ = ops_.memory_in_use() - static_cast<std::int64_t>(held) + bounds.later;
  };
  const auto limit = [&] {
    ask();
    return bounds.most > 0 ? static_cast<std::size_t>(bounds.most)
                           : static_cast<std::size_t>(kShare<S> * static_cast<double>(*room));
  };
  plan_ = make_plan<Real, S>(
      config_,
      {.atoms = input.atoms(),
       .edges = input.edges(),
       .gradient = gradient,
       .recompute = bounds.recompute,
       .preferred_edges = ops_.preferred_edges(),
       .fewest_edges = bounds.fewest_edges,
       .held = held},
      [&] { return download(input.offsets); }, limit);
  std::size_t most = 0;
  if (plan_.bytes > held) {
    ask();
    most = limit();
    if (plan_.bytes > *room) fail_too_large<Real>(plan_, input.atoms(), *room, bounds.recompute);
  }
  arena_.reserve(std::max<std::size_t>(plan_.bytes, 1), most);
}

template <class Real, MemSpace S>
void Network<Real, S>::run(const NetworkInput<Real, S>& input,
                           std::vector<Prediction<Real, S>>& predictions,
                           NetworkGradient<S>* gradient, const MemoryBounds& bounds) {
  make_room(input, gradient != nullptr, bounds);
  go_over(input, predictions, gradient);
}

template <class Real, MemSpace S>
bool Network<Real, S>::is_planned(const NetworkInput<Real, S>& input, bool gradient) const {
  return plan_.chunks.size() == 1 && plan_.chunks.front().atoms == input.atoms() &&
         plan_.chunks.front().edges == input.edges() &&
         (plan_.policy != TapePolicy::none) == gradient;
}

template <class Real, MemSpace S>
void Network<Real, S>::run_again(const NetworkInput<Real, S>& input,
                                 std::vector<Prediction<Real, S>>& predictions,
                                 NetworkGradient<S>* gradient) {
  TRINE_ASSERT(is_planned(input, gradient != nullptr));
  arena_.reserve(std::max<std::size_t>(plan_.bytes, 1));
  go_over(input, predictions, gradient);
}

/// With the plan and the memory that are there.
template <class Real, MemSpace S>
void Network<Real, S>::go_over(const NetworkInput<Real, S>& input,
                               std::vector<Prediction<Real, S>>& predictions,
                               NetworkGradient<S>* gradient) {
  Pass pass(*this, input, gradient ? gradient->seed : 1.0);
  const auto work = [&] {
    pass.forward(predictions);
    if (gradient) pass.backward();
  };
  if (plan_.chunks.size() == 1) {
    ops_.repeat(repeat_key(input, predictions), work);
  } else {
    work();
  }
  if (!gradient) return;
  gradient->d_weight = pass.d_weight();
  gradient->d_vector = pass.d_vector();
}

/// Everything that the steps of a pass depend on: sizes, where each array lies, and which weights
/// there are, since new ones may lie where others were.
template <class Real, MemSpace S>
std::vector<std::int64_t> Network<Real, S>::repeat_key(
    const NetworkInput<Real, S>& in, const std::vector<Prediction<Real, S>>& predictions) const {
  std::vector<std::int64_t> key = {in.atoms(), in.edges(), in.conditioning.rows,
                                   static_cast<std::int64_t>(plan_.policy), version_};
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
