// Small PET checkpoints, complete and loadable until a test changes them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/pet/config.hpp"
#include "models/pet/model_data.hpp"
#include "models/support/metatensor_writer.hpp"
#include "models/support/pickle_writer.hpp"
#include "models/support/zip_writer.hpp"

namespace trine::testing {

/// One entry of a state dict and the storage behind it.
struct StateEntry {
  std::string name = {};
  pickle::TensorPiece tensor = {};  ///< its key is given when the checkpoint is written
  std::string storage = {};
};

StateEntry float_entry(const std::string& name, const std::vector<std::int64_t>& shape,
                       const std::vector<float>& values);
StateEntry bytes_entry(const std::string& name, const std::string& bytes);

/// An output in the dataset's description.
struct TargetText {
  std::string name = "energy";
  std::string quantity = "energy";
  std::string unit = "eV";
  BlockText layout = {{"system"}, {}, {}, {}};
};

/// d_pet 2, d_node 4, d_head 3, d_feedforward 5, 2 heads, 2 GNN layers; otherwise as the defaults.
pet::PetConfig small_config();
/// The smallest one that the upgrade of a standard or large-scale checkpoint of format 7 arrives
/// at.
pet::PetConfig standard_config();
pet::PetConfig large_scale_config();

class CheckpointWriter {
 public:
  using Entries = std::vector<std::pair<std::string, pickle::Piece>>;

  /// Format 16, species H and C, weights 0, 1/64, 2/64, ... across all tensors. Two targets:
  /// "energy" and "non_conservative_forces". Scale 2.5 and composition (-1, -2).
  explicit CheckpointWriter(const pet::PetConfig& config = small_config());

  Entries hypers;
  std::vector<TargetText> targets;
  std::vector<StateEntry> state;  ///< of "best_model_state_dict"
  Entries extra_state;            ///< entries that are not tensors
  Entries top;                    ///< further entries at the top, replacing those of the same name
  std::vector<ZipMember> extra_members;
  pickle::Piece atomic_types;
  std::string length_unit = "angstrom";
  std::string byteorder = "little";
  int format = 16;

  void set_hyper(const std::string& name, const pickle::Piece& value);
  void remove_hyper(const std::string& name);
  StateEntry& entry(const std::string& name);
  void remove_entry(const std::string& name);
  void remove_entries_with(const std::string& part_of_name);
  /// Takes "backend." off the names, as formats 15 and older have them.
  void strip_backend();
  /// The two kinds of format 7: hyperparameters of later formats are gone, species tables have a
  /// padding row, names are the old ones. The configuration must be one that the upgrade arrives
  /// at.
  void make_standard_format_7();
  void make_large_scale_format_7();
  /// Puts the weights under "model_state_dict" and `best` under "best_model_state_dict".
  void keep_as_last_weights(const pickle::Piece& best);

  /// The checkpoint dict; its storages are collected in `members`.
  pickle::Piece dict(std::vector<ZipMember>& members) const;
  std::vector<ZipMember> members() const;
  std::string bytes() const { return make_zip(members()); }

 private:
  void add_weights(const pet::PetConfig& config);
  void add_buffers();
  void make_format_7();
  void add_padding_rows();
  void rename(const std::string& from, const std::string& to);

  std::string weights_name_ = "best_model_state_dict";
};

/// Members of an archive around a pickle.
std::vector<ZipMember> archive_members(const pickle::Piece& root, std::vector<ZipMember> storages,
                                       const std::string& byteorder = "little");

}  // namespace trine::testing
