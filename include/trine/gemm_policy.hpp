// Which method multiplies where: the precision of a model, as data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trine/gemm.hpp"

namespace trine {

/// A method for every linear layer of a model.
struct GemmPolicy {
  GemmMethod method = GemmMethod::fp32;  ///< of all sites that `sites` does not match
  /// Exceptions: the name of a site (`Model::gemm_sites`), or a pattern in which `*` stands for any
  /// characters. Of those that match a site the last one counts.
  std::vector<std::pair<std::string, GemmMethod>> sites;
  std::string source;  ///< where it comes from, for messages: the name of a file, or empty

  GemmPolicy() = default;
  GemmPolicy(GemmMethod everywhere) : method(everywhere) {}
};

/// A linear layer, x W^T with W (out, in), and its input gradient, which takes the same method.
struct GemmSite {
  std::string name;  ///< e.g. "gnn.0.transformer.1.qkv"
  std::int64_t out = 0, in = 0;
  GemmMethod method = GemmMethod::fp32;  ///< also where the network computes in fp64
};

/// Does the name of a site, or a pattern in which `*` stands for any characters, match `site`?
bool matches_site(std::string_view pattern, std::string_view site);

/// The method that `policy` has for a site.
GemmMethod method_at(const GemmPolicy& policy, std::string_view site);

/// Reads `{"default": "fp16x3", "sites": {"gnn.0.compress_out": "fp32", ...}}`; other keys may
/// stand beside these. Throws Error(bad_input) that names the file.
GemmPolicy read_gemm_policy(const std::string& path);

}  // namespace trine
