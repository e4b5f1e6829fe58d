#include "pet_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "trine/error.hpp"

namespace trine::app {

namespace {

/// Hyperparameters of src/models/pet/synthetic.cpp. Edges are those of examples/water192.xyz, as
/// 'trine bench step synthetic:NAME examples/water192.xyz' prints them; a supercell has as many per
/// atom.
struct Size {
  std::string_view name;
  std::int64_t d_pet, gnn_layers, attention_layers, edges_of_192;
};
constexpr std::array<Size, 5> kSizes = {{{"xs", 128, 2, 1, 2474},
                                         {"s", 256, 3, 1, 4524},
                                         {"s32", 256, 3, 1, 7372},
                                         {"m", 384, 3, 2, 6142},
                                         {"l", 512, 4, 2, 7758}}};

const Size& size_of(std::string_view model) {
  return *std::find_if(kSizes.begin(), kSizes.end(),
                       [&](const Size& size) { return size.name == model; });
}

/// Adds products; equal shapes become one entry.
class Builder {
 public:
  void add(std::string_view site, std::int64_t m, std::int64_t n, std::int64_t k,
           std::int64_t count) {
    for (auto& p : products_) {
      if (p.shape.m != m || p.shape.n != n || p.shape.k != k) continue;
      p.sites += fmt::format(", {}", site);
      p.count += count;
      return;
    }
    products_.push_back({std::string(site), {m, n, k}, count});
  }
  std::vector<CountedProduct> take() { return std::move(products_); }

 private:
  std::vector<CountedProduct> products_;
};

std::int64_t parse_number(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 1) {
    throw Error(ErrorCode::usage,
                fmt::format("'{}' is no product (it reads MxNxK, three numbers above 0), write for "
                            "example 17280x4096x1024",
                            whole));
  }
  return value;
}

}  // namespace

std::vector<std::string> pet_model_names() {
  std::vector<std::string> names;
  for (const auto& size : kSizes) names.emplace_back(size.name);
  return names;
}

// The linear layers of src/models/pet: gnn_layer.cpp (message, compress, combine), transformer.cpp
// (the rest, PreLN with a node wider than an edge, SwiGLU: two values per element of the MLP's
// width), heads.cpp. compress.0 is folded into tables except for its message part, which the first
// layer does not have.
ProductSet pet_products(std::string_view model, std::int64_t atoms) {
  const Size& size = size_of(model);
  const std::int64_t c = size.d_pet, node = 4 * c, inner = 2 * c, head = c;
  const std::int64_t layers = size.gnn_layers, blocks = layers * size.attention_layers;
  const auto edges = static_cast<std::int64_t>(
      std::llround(static_cast<double>(atoms) * static_cast<double>(size.edges_of_192) / 192));
  Builder all;
  all.add("qkv", atoms + edges, 3 * c, c, blocks);
  all.add("message", edges, c, c, layers - 1);
  all.add("compress", edges, c, c, layers);
  all.add("attention out", edges, c, c, blocks);
  all.add("mlp in", edges, 2 * inner, c, blocks);
  all.add("mlp out", edges, c, inner, blocks);
  all.add("combine in", edges, 2 * c, 2 * c, layers);
  all.add("combine out", edges, c, 2 * c, layers);
  all.add("head in", edges, head, c, 1);
  all.add("head hidden", edges, head, head, 1);
  all.add("node contraction", atoms, c, node, blocks);
  all.add("node attention out", atoms, c, c, blocks);
  all.add("node expansion", atoms, node, c, blocks);
  all.add("node mlp in", atoms, 4 * node, node, blocks);
  all.add("node mlp out", atoms, node, 2 * node, blocks);
  all.add("node head in", atoms, head, node, 1);
  all.add("node head hidden", atoms, head, head, 1);
  return {std::string(model), atoms, edges, all.take()};
}

ProductSet typed_products(const std::vector<std::string>& shapes) {
  ProductSet set;
  for (const std::string& text : shapes) {
    std::array<std::string_view, 3> parts;
    std::string_view rest = text;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t end = i < 2 ? rest.find('x') : rest.size();
      parts[i] = rest.substr(0, end);
      rest = end < rest.size() ? rest.substr(end + 1) : std::string_view();
    }
    set.products.push_back(
        {text,
         {parse_number(parts[0], text), parse_number(parts[1], text), parse_number(parts[2], text)},
         1});
  }
  return set;
}

}  // namespace trine::app
