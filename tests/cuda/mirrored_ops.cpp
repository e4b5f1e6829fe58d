#include "cuda/mirrored_ops.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/mirrored_args.hpp"
#include "tensor/transfer.hpp"

namespace trine::test {
namespace {

/// `from`, and bytes that are no number and no index in what `to` has room for behind it.
template <class T>
void send(const Buffer<T, kHost>& from, Buffer<T, kDevice>& to) {
  to.resize(from.size());
  std::vector<unsigned char> bytes(static_cast<std::size_t>(to.capacity()) * sizeof(T), 0xff);
  if (bytes.empty()) return;
  std::memcpy(bytes.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
  detail::copy_to_device(to.data(), bytes.data(), bytes.size());
}

template <class T>
void receive(const Buffer<T, kDevice>& from, Buffer<T, kHost>& to) {
  to.resize(from.size());
  const auto bytes = static_cast<std::size_t>(from.size()) * sizeof(T);
  if (bytes > 0) detail::copy_from_device(to.data(), from.data(), bytes);
}

/// Calls f(array of a, array of b) for all arrays of a list, or of edges.
template <MemSpace A, MemSpace B, class F>
void for_arrays(const NeighborList<A>& a, NeighborList<B>& b, F&& f) {
  f(a.offsets, b.offsets);
  f(a.neighbor, b.neighbor);
  f(a.shift, b.shift);
}
template <MemSpace A, MemSpace B, class F>
void for_arrays(const Edges<A>& a, Edges<B>& b, F&& f) {
  f(a.offsets, b.offsets);
  f(a.pair, b.pair);
  f(a.centre, b.centre);
  f(a.neighbor, b.neighbor);
  f(a.reverse, b.reverse);
  f(a.pair_cutoff, b.pair_cutoff);
}

template <class Real>
class MirroredOps final : public Ops<Real, kHost> {
 public:
  explicit MirroredOps(std::unique_ptr<Ops<Real, kDevice>> device) : device_(std::move(device)) {}

  std::string description() const override { return device_->description(); }
  std::int64_t preferred_edges() const override { return device_->preferred_edges(); }
  std::int64_t available_memory() const override { return device_->available_memory(); }
  std::shared_ptr<void> use() override { return device_->use(); }
  void wait() override { device_->wait(); }

  std::unique_ptr<PackedLinear<Real, kHost>> pack(const LinearWeights<Real>& w) override {
    const auto used = use();
    return std::make_unique<MirroredLinear<Real>>(w, device_->pack(w));
  }

  void set_zero(Vector<std::byte, kHost> bytes) override {
    run([&](Mirror& m) { return m(bytes); }, [&](auto b) { device_->set_zero(b); });
  }
  void convert(Vector<const double, kHost> x, Vector<Real, kHost> y) override {
    run([&](Mirror& m) { return std::pair(m(x), m(y)); },
        [&](auto xy) { device_->convert(xy.first, xy.second); });
  }
  void accumulate(Vector<const Real, kHost> x, Vector<double, kHost> y) override {
    run([&](Mirror& m) { return std::pair(m(x), m(y)); },
        [&](auto xy) { device_->accumulate(xy.first, xy.second); });
  }

  void neighbor_list(const NeighborListArgs<kHost>& a) override {
    const auto used = use();
    spoil(list_);
    run(
        [&](Mirror& m) {
          return NeighborListArgs<kDevice>{on_device(m, a.atoms), a.cutoff, &list_};
        },
        [&](const auto& args) { device_->neighbor_list(args); });
    receive_all(list_, *a.list);
    a.list->searches = list_.searches;
  }
  void pair_geometry(const PairGeometryArgs<kHost>& a) override {
    const auto used = use();
    send_all(*a.list, list_);
    run(
        [&](Mirror& m) {
          return PairGeometryArgs<kDevice>{on_device(m, a.atoms), &list_, m(a.vector),
                                           m(a.distance), m(a.closest)};
        },
        [&](const auto& args) { device_->pair_geometry(args); });
  }
  void adaptive_cutoff(const AdaptiveCutoffArgs<kHost>& a) override {
    run([&](Mirror& m) { return on_device(m, a); },
        [&](const auto& args) { device_->adaptive_cutoff(args); });
  }
  void select_edges(const SelectEdgesArgs<kHost>& a) override {
    const auto used = use();
    send_all(*a.list, list_);
    spoil(edges_);
    run(
        [&](Mirror& m) {
          return SelectEdgesArgs<kDevice>{&list_,  m(a.distance), m(a.radius), a.cutoff,
                                          &edges_, a.granule,     a.rows};
        },
        [&](const auto& args) { device_->select_edges(args); });
    receive_all(edges_, *a.edges);
  }
  void cutoff_weights(const CutoffWeightsArgs<kHost>& a) override {
    const auto used = use();
    send_all(*a.edges, edges_);
    run(
        [&](Mirror& m) {
          return CutoffWeightsArgs<kDevice>{a.function,    a.width,     &edges_,
                                            m(a.distance), m(a.weight), m(a.slope)};
        },
        [&](const auto& args) { device_->cutoff_weights(args); });
  }
  void gather_edges(const GatherEdgesArgs<kHost>& a) override {
    const auto used = use();
    send_all(*a.edges, edges_);
    run(
        [&](Mirror& m) {
          return GatherEdgesArgs<kDevice>{&edges_, m(a.vector), m(a.species), m(a.edge_vector),
                                          m(a.edge_species)};
        },
        [&](const auto& args) { device_->gather_edges(args); });
  }
  void edge_backward(const EdgeBackwardArgs<kHost>& a) override {
    const auto used = use();
    send_all(*a.list, list_);
    send_all(*a.edges, edges_);
    AdaptiveCutoffArgs<kDevice> adaptive;
    run(
        [&](Mirror& m) {
          if (a.adaptive) adaptive = on_device(m, *a.adaptive);
          return EdgeBackwardArgs<kDevice>{.atoms = on_device(m, a.atoms),
                                           .list = &list_,
                                           .edges = &edges_,
                                           .vector = m(a.vector),
                                           .distance = m(a.distance),
                                           .slope = m(a.slope),
                                           .d_weight = m(a.d_weight),
                                           .d_vector = m(a.d_vector),
                                           .adaptive = a.adaptive ? &adaptive : nullptr,
                                           .forces = m(a.forces),
                                           .strain_gradient = m(a.strain_gradient)};
        },
        [&](const auto& args) { device_->edge_backward(args); });
  }

 private:
  template <class From, class To>
  static void send_all(const From& from, To& to) {
    for_arrays(from, to, [](const auto& a, auto& b) { send(a, b); });
  }
  template <class From, class To>
  static void receive_all(const From& from, To& to) {
    for_arrays(from, to, [](const auto& a, auto& b) { receive(a, b); });
  }
  /// Outputs of earlier calls are no longer there.
  template <template <MemSpace> class Arrays>
  static void spoil(Arrays<kDevice>& arrays) {
    send_all(Arrays<kHost>{}, arrays);
  }

  template <class Make, class Call>
  void run(Make&& make, Call&& on_the_device) {
    const auto used = use();
    mirror_.run(make, on_the_device);
  }
  template <class Args, class Call>
  void call(const Args& args, Call&& on_the_device) {
    run([&](Mirror& m) { return on_device(m, args); }, on_the_device);
  }

  void do_linear(const LinearArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->linear(args); });
  }
  void do_linear_backward(const LinearBackwardArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->linear_backward(args); });
  }
  void do_norm(const NormArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->norm(args); });
  }
  void do_norm_backward(const NormBackwardArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->norm_backward(args); });
  }
  void do_norms(const NormArgs<Real, kHost>& a, const NormArgs<Real, kHost>& b) override {
    run([&](Mirror& m) { return std::pair(on_device(m, a), on_device(m, b)); },
        [&](const auto& both) { device_->norm(both.first, both.second); });
  }
  void do_norms_backward(const NormBackwardArgs<Real, kHost>& a,
                         const NormBackwardArgs<Real, kHost>& b) override {
    run([&](Mirror& m) { return std::pair(on_device(m, a), on_device(m, b)); },
        [&](const auto& both) { device_->norm_backward(both.first, both.second); });
  }
  void do_attention(const AttentionArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->attention(args); });
  }
  void do_attention_backward(const AttentionBackwardArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->attention_backward(args); });
  }
  void do_edge_embedding(const EdgeEmbeddingArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->edge_embedding(args); });
  }
  void do_edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->edge_embedding_backward(args); });
  }
  void do_combine(const CombineArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->combine(args); });
  }
  void do_combine_backward(const CombineBackwardArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->combine_backward(args); });
  }
  void do_add_reversed(const AddReversedArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->add_reversed(args); });
  }
  void do_gather_rows(const GatherRowsArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->gather_rows(args); });
  }
  void do_scale(const ScaleArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->scale(args); });
  }
  void do_readout(const ReadoutArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->readout(args); });
  }
  void do_readout_backward(const ReadoutBackwardArgs<Real, kHost>& a) override {
    call(a, [&](const auto& args) { device_->readout_backward(args); });
  }
  void do_energies(const EnergiesArgs<kHost>& a) override {
    call(a, [&](const auto& args) { device_->energies(args); });
  }
  void do_scale_by_species(const ScaleBySpeciesArgs<kHost>& a) override {
    call(a, [&](const auto& args) { device_->scale_by_species(args); });
  }

  std::unique_ptr<Ops<Real, kDevice>> device_;
  Mirror mirror_;
  NeighborList<kDevice> list_;
  Edges<kDevice> edges_;
};

}  // namespace

template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_mirrored(
    std::unique_ptr<Ops<Real, MemSpace::device>> ops) {
  return std::make_unique<MirroredOps<Real>>(std::move(ops));
}

template std::unique_ptr<Ops<float, kHost>> make_mirrored(std::unique_ptr<Ops<float, kDevice>>);
template std::unique_ptr<Ops<double, kHost>> make_mirrored(std::unique_ptr<Ops<double, kDevice>>);

}  // namespace trine::test
