// A checkpoint in memory, from which a model is made in several arithmetics.
#pragma once

#include <memory>
#include <string>

#include "trine/model.hpp"

namespace trine {

/// What a file holds, read once. Movable, not copyable.
class Checkpoint {
 public:
  /// Reads what `Model::load` reads, and throws what it throws about the file.
  static Checkpoint read(const std::string& path);

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  const ModelInfo& info() const;
  /// Of the file, lower-case hexadecimal; of the name "synthetic:..." where there is none.
  std::string sha256() const;

  /// `Model::load` without reading.
  Model load(const EngineOptions& options = {}) const;

  /// Gives the linear layers of `model`, which must have been made by `load` of this checkpoint in
  /// fp32, other methods. Only weights whose method changes are prepared again, so that a switch
  /// of one layer is quick. Afterwards the model has the bits of `load` with these products, and an
  /// empty profile; before an evaluation ahead it wants an ordinary one, and recordings of those
  /// before are worth nothing any more: their replays must have ended (`Model::ahead_version`).
  /// Throws what `load` throws about products, `Error(usage)` for a model of another file, and
  /// `Error(not_supported)` for one in fp64; the model is then what it was. Old and new weights
  /// have to fit into memory together.
  void set_products(Model& model, const GemmPolicy& products) const;

 private:
  friend struct CheckpointAccess;  // of tests
  struct Impl;
  explicit Checkpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine
