#include "models/pet/weights.hpp"

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
  Preparer(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites)
      : data_(data), ops_(ops), sites_(sites) {}

  const PetConfig& config() const { return data_.config; }

  template <class T = double>
  std::vector<T> values(const std::string& name) const {
    return tensor(name).template to_vector<T>();
  }

  std::int64_t rows(const std::string& name) const { return tensor(name).shape.at(0); }

  /// The layer `name` of the checkpoint, as `site`.
  Linear<Real, S> linear(const std::string& site, const std::string& name,
                         LinearActivation activation = LinearActivation::none) const {
    const auto& shape = tensor(name + ".weight").shape;
    const auto weight = values<Real>(name + ".weight");
    const auto bias = values<Real>(name + ".bias");
    return pack(site, {.weight = {weight.data(), shape[0], shape[1]},
                       .bias = {bias.data(), shape[0]},
                       .activation = activation});
  }

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

  GnnWeights<Real, S> gnn_layer(std::int64_t index) const;
  HeadWeights<Real, S> head(const Target& target, std::int64_t readout) const;

 private:
  const HostTensor& tensor(const std::string& name) const {
    const auto found = data_.tensors.find(name);
    check(found != data_.tensors.end(), ErrorCode::bad_input,
          "the checkpoint has no tensor '{}' (its configuration calls for it)", name);
    return found->second;
  }

  Linear<Real, S> pack(const std::string& site, LinearWeights<Real> weights) const {
    weights.method = sites_.add(site, weights.weight.rows, weights.weight.cols);
    return ops_.pack(weights);
  }

  TransformerWeights<Real, S> transformer(const std::string& site, const std::string& prefix) const;
  Linear<Real, S> fold_expansion(const std::string& site, const std::string& prefix) const;
  void fold_compress(const std::string& site, const std::string& prefix, bool first,
                     GnnWeights<Real, S>& layer) const;
  void embed_nodes(const std::string& name, GnnWeights<Real, S>& layer) const;

  const ModelData& data_;
  Ops<Real, S>& ops_;
  GemmSites& sites_;
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

/// compress.0 = [W_a | W_s | W_m]: geometry becomes (W_a W_e)^T, species W_s n[s] + W_a b_e + b,
/// and in the first layer, which has no W_s, the message's product W_m m[s] joins the species
/// table.
template <class Real, MemSpace S>
void Preparer<Real, S>::fold_compress(const std::string& site, const std::string& prefix,
                                      bool first, GnnWeights<Real, S>& layer) const {
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
  if (first) return;
  const auto all = values<Real>(prefix + "compress.0.weight");
  layer.message = pack(site + "message", {.weight = {all.data() + 2 * d, d, d, width},
                                          .bias = {},
                                          .activation = LinearActivation::silu});
}

/// With PreLN nothing but the expansion reads what the output layer of attention makes of a node:
/// W_x (W_o a + b_o) + b_x = (W_x W_o) a + (W_x b_o + b_x).
template <class Real, MemSpace S>
Linear<Real, S> Preparer<Real, S>::fold_expansion(const std::string& site,
                                                  const std::string& prefix) const {
  const std::int64_t rows = config().d_node, cols = config().d_pet;
  const auto w = values(prefix + "center_expansion.weight");
  const auto inner = values(prefix + "attention.output_linear.weight");
  const auto inner_bias = values(prefix + "attention.output_linear.bias");
  auto bias = values(prefix + "center_expansion.bias");
  add_product(w, cols, 0, cols, inner_bias.data(), 1, bias.data(), 1, rows);
  std::vector<double> product(static_cast<std::size_t>(rows * cols));
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    double* row = product.data() + r * cols;
    for (std::int64_t k = 0; k < cols; ++k) {
      const double factor = w[static_cast<std::size_t>(r * cols + k)];
      const double* x = inner.data() + k * cols;
      for (std::int64_t c = 0; c < cols; ++c) row[c] += factor * x[c];
    }
  }
  const auto weight = rounded<Real>(product), shift = rounded<Real>(bias);
  return pack(site, {.weight = {weight.data(), rows, cols}, .bias = {shift.data(), rows}});
}

/// Nodes begin with one state per species, and so with one token: its product is formed here.
template <class Real, MemSpace S>
void Preparer<Real, S>::embed_nodes(const std::string& name, GnnWeights<Real, S>& layer) const {
  layer.node_embedding = table<Real>(name);
  if (!config().expanded()) return;
  auto& token = layer.contracted;
  token.rows = layer.node_embedding.rows;
  token.cols = config().d_pet;
  token.values.resize(token.rows * token.cols);
  ops_.linear({.x = layer.node_embedding.matrix(),
               .weight = layer.transformers.front().contraction.get(),
               .addend = {},
               .pre = {},
               .residual = {},
               .y = {token.values.data(), token.rows, token.cols}});
}

template <class Real, MemSpace S>
TransformerWeights<Real, S> Preparer<Real, S>::transformer(const std::string& site,
                                                           const std::string& prefix) const {
  const auto activation =
      config().activation == Activation::swiglu ? LinearActivation::swiglu : LinearActivation::silu;
  TransformerWeights<Real, S> t;
  t.attention_norm = norm(prefix + "norm_attention");
  t.mlp_norm = norm(prefix + "norm_mlp");
  t.qkv = linear(site + "qkv", prefix + "attention.input_linear");
  t.attention_out = linear(site + "attention_out", prefix + "attention.output_linear");
  t.mlp_in = linear(site + "mlp_in", prefix + "mlp.w_in", activation);
  t.mlp_out = linear(site + "mlp_out", prefix + "mlp.w_out");
  if (!config().expanded()) return t;
  t.contraction = linear(site + "contraction", prefix + "center_contraction");
  t.expansion = config().transformer == TransformerType::pre_ln
                    ? fold_expansion(site + "expansion", prefix)
                    : linear(site + "expansion", prefix + "center_expansion");
  t.center_norm = norm(prefix + "norm_center_features");
  t.center_in = linear(site + "center_in", prefix + "center_mlp.w_in", activation);
  t.center_out = linear(site + "center_out", prefix + "center_mlp.w_out");
  return t;
}

template <class Real, MemSpace S>
GnnWeights<Real, S> Preparer<Real, S>::gnn_layer(std::int64_t index) const {
  const std::string number = std::to_string(index), prefix = "gnn_layers." + number + ".";
  const std::string site = "gnn." + number + ".";
  GnnWeights<Real, S> layer;
  fold_compress(site, prefix, index == 0, layer);
  layer.compress_out = linear(site + "compress_out", prefix + "compress.2");
  for (std::int64_t a = 0; a < config().num_attention_layers; ++a) {
    const std::string tail = std::to_string(a) + ".";
    layer.transformers.push_back(
        transformer(site + "transformer." + tail, prefix + "trans.layers." + tail));
  }
  if (config().featurizer == Featurizer::residual) {
    embed_nodes("node_embedders." + number + ".weight", layer);
    return layer;
  }
  if (index == 0) embed_nodes("node_embedders.0.weight", layer);
  layer.combine_norm = norm("combination_norms." + number, Normalization::layer_norm);
  layer.combine_in =
      linear(site + "combine_in", "combination_mlps." + number + ".0", LinearActivation::silu);
  layer.combine_out = linear(site + "combine_out", "combination_mlps." + number + ".2");
  return layer;
}

template <class Real, MemSpace S>
HeadWeights<Real, S> Preparer<Real, S>::head(const Target& target, std::int64_t readout) const {
  const std::string tail = "." + target.name + "." + std::to_string(readout) + ".";
  const std::string last = "_last_layers" + tail + target.block_key;
  const std::string site = std::string(name_of(target.kind)) + "." + std::to_string(readout) + ".";
  HeadWeights<Real, S> h;
  h.node_in = linear(site + "node_in", "node_heads" + tail + "0", LinearActivation::silu);
  h.node_hidden = linear(site + "node_hidden", "node_heads" + tail + "2", LinearActivation::silu);
  h.edge_in = linear(site + "edge_in", "edge_heads" + tail + "0", LinearActivation::silu);
  h.edge_hidden = linear(site + "edge_hidden", "edge_heads" + tail + "2", LinearActivation::silu);
  h.node_last = table<double>("node" + last + ".weight");
  h.edge_last = table<double>("edge" + last + ".weight");
  h.node_last_bias = table<double>("node" + last + ".bias");
  h.edge_last_bias = table<double>("edge" + last + ".bias");
  return h;
}

}  // namespace

template <class Real, MemSpace S>
PetWeights<Real, S> prepare_weights(const ModelData& data, Ops<Real, S>& ops, GemmSites& sites) {
  const Preparer<Real, S> prepare(data, ops, sites);
  PetWeights<Real, S> w;
  w.edge_embedding = prepare.template table<Real>("edge_embedder.weight");
  for (std::int64_t l = 0; l < data.config.num_gnn_layers; ++l) {
    w.layers.push_back(prepare.gnn_layer(l));
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
  return w;
}

template <class Real, MemSpace S>
TargetWeights<Real, S> prepare_target(const ModelData& data, const Target& target,
                                      Ops<Real, S>& ops, GemmSites& sites) {
  const Preparer<Real, S> prepare(data, ops, sites);
  TargetWeights<Real, S> w{target, {}};
  for (std::int64_t r = 0; r < data.config.readout_layers(); ++r) {
    w.readouts.push_back(prepare.head(target, r));
  }
  return w;
}

#define TRINE_INSTANTIATE(Real, S)                                                               \
  template PetWeights<Real, S> prepare_weights(const ModelData&, Ops<Real, S>&, GemmSites&);     \
  template TargetWeights<Real, S> prepare_target(const ModelData&, const Target&, Ops<Real, S>&, \
                                                 GemmSites&);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
