#include "models/pet/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "tensor/for_each_device.hpp"
#include "tensor/transfer.hpp"

namespace trine::pet {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;

/// Reads tensors by name and turns them into what the device wants.
template <class Real, MemSpace S>
class Preparer {
 public:
  Preparer(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites,
           LinearChanges<Real, S>& changes)
      : data_(data), ops_(ops), sites_(sites), changes_(changes) {}

  const PetConfig& config() const { return data_.config; }

  template <class T = double>
  std::vector<T> values(const std::string& name) const {
    return tensor(name).template to_vector<T>();
  }

  std::int64_t rows(const std::string& name) const { return tensor(name).shape.at(0); }

  NormWeights<Real, S> norm(const std::string& name) const {
    return norm(name, config().normalization);
  }

  NormWeights<Real, S> norm(const std::string& name, Normalization kind) const {
    const bool layer = kind == Normalization::layer_norm;
    NormWeights<Real, S> n{
        kind,
        layer ? static_cast<Real>(kLayerNormEpsilon) : std::numeric_limits<Real>::epsilon(),
        table<Real>(name + ".weight"),
        {}};
    if (layer) n.bias = table<Real>(name + ".bias");
    return n;
  }

  /// A tensor as it is; vectors become one row.
  template <class T>
  Table<T, S> table(const std::string& name) const {
    const auto& shape = tensor(name).shape;
    const bool is_matrix = shape.size() == 2;
    return upload<T>(values(name), is_matrix ? shape[0] : 1, shape.back());
  }

  template <class T>
  static Table<T, S> upload(const std::vector<double>& v, std::int64_t rows, std::int64_t cols) {
    Table<T, S> t;
    t.rows = rows;
    t.cols = cols;
    trine::upload(rounded<T>(v), t.values);
    return t;
  }

  template <class T>
  static std::vector<T> rounded(const std::vector<double>& v) {
    std::vector<T> r(v.size());
    std::transform(v.begin(), v.end(), r.begin(), [](double x) { return static_cast<T>(x); });
    return r;
  }

  /// All but the linear layers.
  GnnWeights<Real, S> gnn_tables(std::int64_t index) const;
  HeadWeights<Real, S> head_tables(const Target& target, std::int64_t readout) const;

  /// The linear layers: each one joins the sites, and the changes unless it has its method already.
  void gnn_linears(std::int64_t index, GnnWeights<Real, S>& layer) const;
  void head_linears(const Target& target, std::int64_t readout, HeadWeights<Real, S>& head) const;

 private:
  const HostTensor& tensor(const std::string& name) const {
    const auto found = data_.tensors.find(name);
    check(found != data_.tensors.end(), ErrorCode::bad_input,
          "the checkpoint has no tensor '{}' (its configuration calls for it)", name);
    return found->second;
  }

  /// `make` calls what it is given with the weights of the layer, which may go then.
  template <class Make>
  void pack(Linear<Real, S>& place, const std::string& site, std::int64_t out, std::int64_t in,
            const Make& make) const {
    const GemmMethod method = sites_.add(site, out, in);
    if (place && place->method() == method) return;
    make([&](LinearWeights<Real> weights) {
      weights.method = method;
      weights.site = site;
      changes_.add(place, ops_.pack(weights));
    });
  }

  /// The layer `name` of the checkpoint, as `site`.
  void linear(Linear<Real, S>& place, const std::string& site, const std::string& name,
              LinearActivation activation = LinearActivation::none) const {
    const auto& shape = tensor(name + ".weight").shape;
    pack(place, site, shape[0], shape[1], [&](const auto& give) {
      const auto weight = values<Real>(name + ".weight");
      const auto bias = values<Real>(name + ".bias");
      give({.weight = {weight.data(), shape[0], shape[1]},
            .bias = {bias.data(), shape[0]},
            .activation = activation});
    });
  }

  /// Of the gated or plain layer that widens a feed-forward block.
  LinearActivation widening() const {
    return config().activation == Activation::swiglu ? LinearActivation::swiglu
                                                     : LinearActivation::silu;
  }

  TransformerWeights<Real, S> transformer_tables(const std::string& prefix) const;
  void transformer_linears(const std::string& site, const std::string& prefix,
                           TransformerWeights<Real, S>& t) const;
  void folded_expansion(Linear<Real, S>& place, const std::string& site,
                        const std::string& prefix) const;
  void fold_compress(const std::string& prefix, bool first, GnnWeights<Real, S>& layer) const;
  void message(Linear<Real, S>& place, const std::string& site, const std::string& prefix) const;

  const ModelData& data_;
  Ops<Real, S>& ops_;
  GemmSites& sites_;
  LinearChanges<Real, S>& changes_;
};

/// out (rows) += W[:, first .. first + n) x
void add_product(const std::vector<double>& w, std::int64_t width, std::int64_t first,
                 std::int64_t n, const double* x, std::int64_t x_stride, double* out,
                 std::int64_t out_stride, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    double total = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      total += w[static_cast<std::size_t>(r * width + first + k)] * x[k * x_stride];
    }
    out[r * out_stride] += total;
  }
}

/// a b, a (rows, inner), b (inner, inner)
std::vector<double> product_of(const std::vector<double>& a, const std::vector<double>& b,
                               std::int64_t rows, std::int64_t inner) {
  std::vector<double> product(static_cast<std::size_t>(rows * inner));
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    double* row = product.data() + r * inner;
    for (std::int64_t k = 0; k < inner; ++k) {
      const double factor = a[static_cast<std::size_t>(r * inner + k)];
      const double* x = b.data() + k * inner;
      for (std::int64_t c = 0; c < inner; ++c) row[c] += factor * x[c];
    }
  }
  return product;
}

/// compress.0 = [W_a | W_s | W_m]: geometry becomes (W_a W_e)^T, species W_s n[s] + W_a b_e + b,
/// and in the first layer, which has no W_s, the message's product W_m m[s] joins the species
/// table.
template <class Real, MemSpace S>
void Preparer<Real, S>::fold_compress(const std::string& prefix, bool first,
                                      GnnWeights<Real, S>& layer) const {
  const std::int64_t d = config().d_pet, width = (first ? 2 : 3) * d;
  const auto w = values(prefix + "compress.0.weight");
  const auto bias = values(prefix + "compress.0.bias");
  const auto embedder = values(prefix + "edge_embedder.weight");  // (d, 4)
  const auto embedder_bias = values(prefix + "edge_embedder.bias");
  const auto species = values(first ? "edge_embedder.weight" : prefix + "neighbor_embedder.weight");
  const std::int64_t count = static_cast<std::int64_t>(species.size()) / d;

  std::vector<double> geometry(static_cast<std::size_t>(4 * d));
  for (std::int64_t k = 0; k < 4; ++k) {
    add_product(w, width, 0, d, embedder.data() + k, 4, geometry.data() + k * d, 1, d);
  }
  std::vector<double> table(static_cast<std::size_t>(count * d));
  for (std::int64_t s = 0; s < count; ++s) {
    double* row = table.data() + s * d;
    std::copy(bias.begin(), bias.end(), row);
    add_product(w, width, 0, d, embedder_bias.data(), 1, row, 1, d);
    add_product(w, width, d, d, species.data() + s * d, 1, row, 1, d);
  }
  layer.geometry = upload<Real>(geometry, 4, d);
  layer.species = upload<Real>(table, count, d);
}

/// What compress.0 does to the message, W_m, where that is no species table.
template <class Real, MemSpace S>
void Preparer<Real, S>::message(Linear<Real, S>& place, const std::string& site,
                                const std::string& prefix) const {
  const std::int64_t d = config().d_pet, width = 3 * d;
  pack(place, site, d, d, [&](const auto& give) {
    const auto all = values<Real>(prefix + "compress.0.weight");
    give({.weight = {all.data() + 2 * d, d, d, width},
          .bias = {},
          .activation = LinearActivation::silu});
  });
}

/// With PreLN nothing but the expansion reads what the output layer of attention makes of a node:
/// W_x (W_o a + b_o) + b_x = (W_x W_o) a + (W_x b_o + b_x).
template <class Real, MemSpace S>
void Preparer<Real, S>::folded_expansion(Linear<Real, S>& place, const std::string& site,
                                         const std::string& prefix) const {
  const std::int64_t rows = config().d_node, cols = config().d_pet;
  pack(place, site, rows, cols, [&](const auto& give) {
    const auto w = values(prefix + "center_expansion.weight");
    const auto inner = values(prefix + "attention.output_linear.weight");
    const auto inner_bias = values(prefix + "attention.output_linear.bias");
    auto bias = values(prefix + "center_expansion.bias");
    add_product(w, cols, 0, cols, inner_bias.data(), 1, bias.data(), 1, rows);
    const auto weight = rounded<Real>(product_of(w, inner, rows, cols));
    const auto shift = rounded<Real>(bias);
    give({.weight = {weight.data(), rows, cols}, .bias = {shift.data(), rows}});
  });
}

template <class Real, MemSpace S>
TransformerWeights<Real, S> Preparer<Real, S>::transformer_tables(const std::string& prefix) const {
  TransformerWeights<Real, S> t;
  t.attention_norm = norm(prefix + "norm_attention");
  t.mlp_norm = norm(prefix + "norm_mlp");
  if (config().expanded()) t.center_norm = norm(prefix + "norm_center_features");
  return t;
}

template <class Real, MemSpace S>
void Preparer<Real, S>::transformer_linears(const std::string& site, const std::string& prefix,
                                            TransformerWeights<Real, S>& t) const {
  linear(t.qkv, site + "qkv", prefix + "attention.input_linear");
  linear(t.attention_out, site + "attention_out", prefix + "attention.output_linear");
  linear(t.mlp_in, site + "mlp_in", prefix + "mlp.w_in", widening());
  linear(t.mlp_out, site + "mlp_out", prefix + "mlp.w_out");
  if (!config().expanded()) return;
  linear(t.contraction, site + "contraction", prefix + "center_contraction");
  if (config().transformer == TransformerType::pre_ln) {
    folded_expansion(t.expansion, site + "expansion", prefix);
  } else {
    linear(t.expansion, site + "expansion", prefix + "center_expansion");
  }
  linear(t.center_in, site + "center_in", prefix + "center_mlp.w_in", widening());
  linear(t.center_out, site + "center_out", prefix + "center_mlp.w_out");
}

std::string gnn_prefix(std::int64_t index) {
  return "gnn_layers." + std::to_string(index) + ".";
}

template <class Real, MemSpace S>
GnnWeights<Real, S> Preparer<Real, S>::gnn_tables(std::int64_t index) const {
  const std::string number = std::to_string(index), prefix = gnn_prefix(index);
  GnnWeights<Real, S> layer;
  fold_compress(prefix, index == 0, layer);
  for (std::int64_t a = 0; a < config().num_attention_layers; ++a) {
    layer.transformers.push_back(
        transformer_tables(prefix + "trans.layers." + std::to_string(a) + "."));
  }
  const bool residual = config().featurizer == Featurizer::residual;
  if (residual || index == 0) {
    layer.node_embedding = table<Real>("node_embedders." + number + ".weight");
  }
  if (!residual) {
    layer.combine_norm = norm("combination_norms." + number, Normalization::layer_norm);
  }
  return layer;
}

template <class Real, MemSpace S>
void Preparer<Real, S>::gnn_linears(std::int64_t index, GnnWeights<Real, S>& layer) const {
  const std::string number = std::to_string(index), prefix = gnn_prefix(index);
  const std::string site = "gnn." + number + ".";
  if (index > 0) message(layer.message, site + "message", prefix);
  linear(layer.compress_out, site + "compress_out", prefix + "compress.2");
  for (std::size_t a = 0; a < layer.transformers.size(); ++a) {
    const std::string tail = std::to_string(a) + ".";
    transformer_linears(site + "transformer." + tail, prefix + "trans.layers." + tail,
                        layer.transformers[a]);
  }
  if (config().featurizer == Featurizer::residual) return;
  const std::string combination = "combination_mlps." + number;
  linear(layer.combine_in, site + "combine_in", combination + ".0", LinearActivation::silu);
  linear(layer.combine_out, site + "combine_out", combination + ".2");
}

template <class Real, MemSpace S>
HeadWeights<Real, S> Preparer<Real, S>::head_tables(const Target& target,
                                                    std::int64_t readout) const {
  const std::string last =
      fmt::format("_last_layers.{}.{}.{}", target.name, readout, target.block_key);
  HeadWeights<Real, S> h;
  h.node_last = table<double>("node" + last + ".weight");
  h.edge_last = table<double>("edge" + last + ".weight");
  h.node_last_bias = table<double>("node" + last + ".bias");
  h.edge_last_bias = table<double>("edge" + last + ".bias");
  return h;
}

template <class Real, MemSpace S>
void Preparer<Real, S>::head_linears(const Target& target, std::int64_t readout,
                                     HeadWeights<Real, S>& h) const {
  constexpr auto kSilu = LinearActivation::silu;
  const std::string tail = fmt::format(".{}.{}.", target.name, readout);
  const std::string site = fmt::format("{}.{}.", name_of(target.kind), readout);
  linear(h.node_in, site + "node_in", "node_heads" + tail + "0", kSilu);
  linear(h.node_hidden, site + "node_hidden", "node_heads" + tail + "2", kSilu);
  linear(h.edge_in, site + "edge_in", "edge_heads" + tail + "0", kSilu);
  linear(h.edge_hidden, site + "edge_hidden", "edge_heads" + tail + "2", kSilu);
}

/// Nodes begin with one state per species, and so with one token: its product is formed here.
template <class Real, MemSpace S>
void contract_embedding(Ops<Real, S>& ops, GnnWeights<Real, S>& layer) {
  const auto& contraction = *layer.transformers.front().contraction;
  auto& token = layer.contracted;
  token.rows = layer.node_embedding.rows;
  token.cols = contraction.out();
  token.values.resize(token.rows * token.cols);
  ops.linear({.x = layer.node_embedding.matrix(),
              .weight = &contraction,
              .addend = {},
              .pre = {},
              .residual = {},
              .y = {token.values.data(), token.rows, token.cols}});
}

}  // namespace

template <class Real, MemSpace S>
PetWeights<Real, S> prepare_weights(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites) {
  LinearChanges<Real, S> changes;
  const Preparer<Real, S> prepare(data, ops, sites, changes);
  PetWeights<Real, S> w;
  w.edge_embedding = prepare.template table<Real>("edge_embedder.weight");
  for (std::int64_t l = 0; l < data.config.num_gnn_layers; ++l) {
    w.layers.push_back(prepare.gnn_tables(l));
  }
  if (data.config.system_conditioning) {
    const std::string prefix = "system_conditioning.";
    w.conditioning = {prepare.values(prefix + "charge_embedding.weight"),
                      prepare.values(prefix + "spin_multiplicity_embedding.weight"),
                      prepare.values(prefix + "project.0.weight"),
                      prepare.values(prefix + "project.0.bias"),
                      prepare.values(prefix + "project.2.weight"),
                      prepare.values(prefix + "project.2.bias")};
  }
  change_weights(data, ops, sites, w, changes);
  changes.exchange();
  follow_changes(changes, ops, w);
  return w;
}

template <class Real, MemSpace S>
void change_weights(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites,
                    PetWeights<Real, S>& weights, LinearChanges<Real, S>& changes) {
  const Preparer<Real, S> prepare(data, ops, sites, changes);
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    prepare.gnn_linears(static_cast<std::int64_t>(l), weights.layers[l]);
  }
}

template <class Real, MemSpace S>
void follow_changes(const LinearChanges<Real, S>& changes, Ops<Real, S>& ops,
                    PetWeights<Real, S>& weights) {
  for (auto& layer : weights.layers) {
    const auto& contraction = layer.transformers.front().contraction;
    if (layer.embeds_nodes() && changes.has(contraction)) contract_embedding(ops, layer);
  }
}

template <class Real, MemSpace S>
TargetWeights<Real, S> prepare_target(const ModelData& data, const Target& target,
                                      Ops<Real, S>& ops, GemmSites& sites) {
  LinearChanges<Real, S> changes;
  const Preparer<Real, S> prepare(data, ops, sites, changes);
  TargetWeights<Real, S> w{target, {}};
  for (std::int64_t r = 0; r < data.config.readout_layers(); ++r) {
    w.readouts.push_back(prepare.head_tables(target, r));
  }
  change_target(data, ops, sites, w, changes);
  changes.exchange();
  return w;
}

template <class Real, MemSpace S>
void change_target(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites,
                   TargetWeights<Real, S>& weights, LinearChanges<Real, S>& changes) {
  const Preparer<Real, S> prepare(data, ops, sites, changes);
  for (std::size_t r = 0; r < weights.readouts.size(); ++r) {
    prepare.head_linears(weights.target, static_cast<std::int64_t>(r), weights.readouts[r]);
  }
}

#define TRINE_INSTANTIATE(Real, S)                                                                \
  template PetWeights<Real, S> prepare_weights(const ModelData&, Ops<Real, S>&, GemmSites&);      \
  template void change_weights(const ModelData&, Ops<Real, S>&, GemmSites&, PetWeights<Real, S>&, \
                               LinearChanges<Real, S>&);                                          \
  template void follow_changes(const LinearChanges<Real, S>&, Ops<Real, S>&,                      \
                               PetWeights<Real, S>&);                                             \
  template TargetWeights<Real, S> prepare_target(const ModelData&, const Target&, Ops<Real, S>&,  \
                                                 GemmSites&);                                     \
  template void change_target(const ModelData&, Ops<Real, S>&, GemmSites&,                        \
                              TargetWeights<Real, S>&, LinearChanges<Real, S>&);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
