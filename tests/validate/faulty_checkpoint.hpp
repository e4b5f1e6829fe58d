// Models on a CPU with a planted fault, for tests of what has to notice it.
#pragma once

#include <optional>
#include <string>

#include "trine/checkpoint.hpp"

namespace trine::test {

enum class Fault {
  /// Of a split method's products of words, x's second with the weight's first is missing. Methods
  /// of a single product are as they are.
  dropped_product,
  /// Sums stay in the accumulator over the whole inner dimension, which truncates after each of
  /// the hardware's steps.
  no_promotion,
  /// The first 64 x 64 block of one layer's weight is twice as large: see `doubled_site`.
  doubled_block,
  /// Two edges have each other's reverse, in fp32 and fp64 alike.
  wrong_reverse,
};

/// The layer that Fault::doubled_block is about: in every model with two GNN layers.
inline constexpr const char* kDoubledSite = "gnn.1.transformer.0.mlp_in";

/// What `Checkpoint::read` reads. Its models have the fault on the CPU, and none on a GPU. Faults
/// of products, the first three, are in those by `method`, or if there is none by all but fp32.
Checkpoint faulty_checkpoint(const std::string& path, Fault fault,
                             std::optional<GemmMethod> method = {});

}  // namespace trine::test
