// The arguments of each operation on a device, from those on the host.
#pragma once

#include <memory>

#include "cuda/mirror.hpp"
#include "ops/ops.hpp"

namespace trine::test {

inline constexpr MemSpace kHost = MemSpace::host;
inline constexpr MemSpace kDevice = MemSpace::device;

template <class Real>
class MirroredLinear final : public PackedLinear<Real, kHost> {
 public:
  MirroredLinear(const LinearWeights<Real>& weights,
                 std::unique_ptr<PackedLinear<Real, kDevice>> packed)
      : PackedLinear<Real, kHost>(weights), packed_(std::move(packed)) {}

  const PackedLinear<Real, kDevice>* packed() const { return packed_.get(); }

 private:
  std::unique_ptr<PackedLinear<Real, kDevice>> packed_;
};

template <class Real>
const PackedLinear<Real, kDevice>* on_device(const PackedLinear<Real, kHost>* weight) {
  return static_cast<const MirroredLinear<Real>*>(weight)->packed();
}

template <class Real>
LinearArgs<Real, kDevice> on_device(Mirror& m, const LinearArgs<Real, kHost>& a) {
  return {.x = m(a.x),
          .weight = on_device(a.weight),
          .addend = m(a.addend),
          .pre = m(a.pre),
          .residual = {m(a.residual[0]), m(a.residual[1])},
          .y = m(a.y)};
}

template <class Real>
LinearBackwardArgs<Real, kDevice> on_device(Mirror& m, const LinearBackwardArgs<Real, kHost>& a) {
  return {m(a.dy),  on_device(a.weight),
          m(a.pre), a.write,
          m(a.dx),  {a.through.activation, m(a.through.pre)}};
}

template <class Real>
NormParameters<Real, kDevice> on_device(Mirror& m, const NormParameters<Real, kHost>& a) {
  return {a.kind, a.epsilon, m(a.weight), m(a.bias)};
}

template <class Real>
NormArgs<Real, kDevice> on_device(Mirror& m, const NormArgs<Real, kHost>& a) {
  return {on_device(m, a.norm), m(a.x), m(a.y)};
}

template <class Real>
NormBackwardArgs<Real, kDevice> on_device(Mirror& m, const NormBackwardArgs<Real, kHost>& a) {
  return {on_device(m, a.norm), m(a.x), m(a.dy), a.write, m(a.dx)};
}

inline TokenLayout<kDevice> on_device(Mirror& m, const TokenLayout<kHost>& a) {
  return {m(a.offsets), a.atoms, a.edges};
}

template <class Real>
AttentionArgs<Real, kDevice> on_device(Mirror& m, const AttentionArgs<Real, kHost>& a) {
  return {on_device(m, a.layout), a.heads, a.temperature, m(a.weight), m(a.qkv), m(a.out)};
}

template <class Real>
AttentionBackwardArgs<Real, kDevice> on_device(Mirror& m,
                                               const AttentionBackwardArgs<Real, kHost>& a) {
  return {on_device(m, a.forward), m(a.d_out), m(a.d_qkv), m(a.d_weight)};
}

template <class Real>
EdgeEmbeddingArgs<Real, kDevice> on_device(Mirror& m, const EdgeEmbeddingArgs<Real, kHost>& a) {
  return {m(a.vector), m(a.species), m(a.weight), m(a.table), m(a.pre), m(a.y)};
}

template <class Real>
EdgeEmbeddingBackwardArgs<Real, kDevice> on_device(
    Mirror& m, const EdgeEmbeddingBackwardArgs<Real, kHost>& a) {
  return {m(a.vector), m(a.weight), m(a.d_pre), m(a.d_vector)};
}

template <class Real>
CombineArgs<Real, kDevice> on_device(Mirror& m, const CombineArgs<Real, kHost>& a) {
  return {on_device(m, a.norm), m(a.message), m(a.reverse), a.first, m(a.y)};
}

template <class Real>
CombineBackwardArgs<Real, kDevice> on_device(Mirror& m, const CombineBackwardArgs<Real, kHost>& a) {
  return {on_device(m, a.forward), m(a.dy), m(a.before), m(a.d_message)};
}

template <class Real>
AddReversedArgs<Real, kDevice> on_device(Mirror& m, const AddReversedArgs<Real, kHost>& a) {
  return {a.a, m(a.x), a.b, m(a.z), m(a.reverse), m(a.y)};
}

template <class Real>
GatherRowsArgs<Real, kDevice> on_device(Mirror& m, const GatherRowsArgs<Real, kHost>& a) {
  return {m(a.table), m(a.index), a.write, m(a.y)};
}

template <class Real>
ScaleArgs<Real, kDevice> on_device(Mirror& m, const ScaleArgs<Real, kHost>& a) {
  return {a.a, m(a.x), a.write, m(a.y)};
}

inline LastLayer<kDevice> on_device(Mirror& m, const LastLayer<kHost>& a) {
  return {m(a.node_weight), m(a.edge_weight), m(a.node_bias), m(a.edge_bias)};
}

template <class Real>
ReadoutArgs<Real, kDevice> on_device(Mirror& m, const ReadoutArgs<Real, kHost>& a) {
  return {on_device(m, a.layout), on_device(m, a.last), m(a.weight), m(a.node), m(a.edge),
          m(a.prediction),        m(a.features)};
}

template <class Real>
ReadoutBackwardArgs<Real, kDevice> on_device(Mirror& m, const ReadoutBackwardArgs<Real, kHost>& a) {
  return {on_device(m, a.layout),
          on_device(m, a.last),
          m(a.weight),
          m(a.edge),
          m(a.node_pre),
          m(a.edge_pre),
          a.seed,
          m(a.d_node),
          m(a.d_edge),
          m(a.d_weight)};
}

inline EnergiesArgs<kDevice> on_device(Mirror& m, const EnergiesArgs<kHost>& a) {
  return {m(a.prediction), a.scale,       m(a.composition), m(a.species),
          m(a.first_atom), m(a.energies), m(a.totals)};
}

inline ScaleBySpeciesArgs<kDevice> on_device(Mirror& m, const ScaleBySpeciesArgs<kHost>& a) {
  return {m(a.x), m(a.scale), m(a.species), m(a.y)};
}

inline AtomBatch<kDevice> on_device(Mirror& m, const AtomBatch<kHost>& a) {
  return {m(a.positions), m(a.first_atom), m(a.cells), m(a.pbc)};
}

inline AdaptiveCutoffArgs<kDevice> on_device(Mirror& m, const AdaptiveCutoffArgs<kHost>& a) {
  return {.method = a.method,
          .cutoff = a.cutoff,
          .width = a.width,
          .num_neighbors = a.num_neighbors,
          .offsets = m(a.offsets),
          .distance = m(a.distance),
          .radius = m(a.radius),
          .slope = m(a.slope),
          .root = m(a.root)};
}

}  // namespace trine::test
