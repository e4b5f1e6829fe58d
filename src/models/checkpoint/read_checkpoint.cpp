#include "models/checkpoint/read_checkpoint.hpp"

#include <algorithm>
#include <new>

#include "models/checkpoint/file_kind.hpp"
#include "models/checkpoint/llpr.hpp"
#include "models/checkpoint/metadata.hpp"
#include "models/checkpoint/pet_from_state.hpp"
#include "models/checkpoint/pickle.hpp"
#include "models/checkpoint/upgrade.hpp"

namespace trine {
namespace {

using namespace checkpoint;

/// Refuses TorchScript archives, which hold code next to the weights.
void refuse_export(const ZipArchive& archive, const std::string& root) {
  check(
      !archive.contains(root + "extra/metatomic-version"), ErrorCode::not_supported,
      "this is a model exported by metatomic (.pt), which trine does not read, give the metatrain "
      "checkpoint (.ckpt) that it was exported from");
  check(
      !archive.contains(root + "constants.pkl"), ErrorCode::not_supported,
      "this is a TorchScript archive (compiled code and weights), which trine does not read, give "
      "the metatrain checkpoint (.ckpt)");
}

/// The archive's top folder with its slash; its name is up to the program that wrote it.
std::string find_root(const ZipArchive& archive) {
  static constexpr std::string_view kPickle = "data.pkl";
  for (const std::string& name : archive.names()) {
    if (!name.ends_with(kPickle)) continue;
    std::string root = name.substr(0, name.size() - kPickle.size());
    if (root.empty() || root.find('/') == root.size() - 1) return root;
  }
  fail(ErrorCode::bad_input,
       "this is a zip archive but no PyTorch file (it has no member 'data.pkl'{}), give the .ckpt "
       "file that metatrain wrote",
       archive.names().empty() ? "" : ", it has '" + escaped(archive.names().front()) + "'");
}

void require_little_endian(const ZipArchive& archive, const std::string& root, ByteBudget& budget) {
  const std::string name = root + "byteorder";
  if (!archive.contains(name)) return;
  const SharedBytes bytes = archive.read(name, budget);
  check(as_text(bytes.span()) == "little", ErrorCode::not_supported,
        "the checkpoint was written on a machine with byte order '{}' (trine reads 'little'), save "
        "it again on a current machine",
        printable(as_text(bytes.span())));
}

std::string architecture_of(const Field& checkpoint) {
  check(checkpoint.is(NodeKind::dict) && checkpoint.find("architecture_name"), ErrorCode::bad_input,
        "this is a PyTorch file but no metatrain checkpoint (it holds {} without "
        "'architecture_name'), give the .ckpt file that metatrain wrote",
        checkpoint.node());
  return std::string(checkpoint.at("architecture_name").text());
}

[[noreturn]] void refuse_architecture(std::string_view name) {
  fail(ErrorCode::not_supported,
       "the checkpoint's architecture is '{}' (trine evaluates 'pet', plain or wrapped in 'llpr'), "
       "use a PET checkpoint",
       printable(name));
}

RawModel parse_pet(const Field& checkpoint) {
  const std::string name = architecture_of(checkpoint);
  if (name != "pet") refuse_architecture(name);
  RawModel model = parse_raw_model(checkpoint);
  upgrade(model);
  return model;
}

pet::ModelData read_wrapped(const Field& checkpoint, TensorReader& reader) {
  const int format = parse_format(checkpoint, "LLPR", kNewestLlprFormat);
  const Field inner = checkpoint.at("wrapped_model_checkpoint");
  RawModel model = parse_pet(inner);
  const StateDict state = parse_llpr_state(checkpoint, format);
  take_trained_weights(state, model);
  pet::ModelData data = assemble(model, reader);
  data.llpr_format = format;
  data.llpr = read_llpr(state, data, reader);
  data.metadata = parse_metadata({checkpoint, inner});
  return data;
}

pet::ModelData read_archive(const ZipArchive& archive) {
  const std::string root = find_root(archive);
  refuse_export(archive, root);
  TensorReader reader(archive, root);
  require_little_endian(archive, root, reader.budget());
  const PickleDocument document = read_pickle(archive.read(root + "data.pkl", reader.budget()));
  const Field checkpoint(document.root(), "");
  const std::string name = architecture_of(checkpoint);
  if (name == "llpr") return read_wrapped(checkpoint, reader);
  if (name != "pet") refuse_architecture(name);
  pet::ModelData data = assemble(parse_pet(checkpoint), reader);
  data.metadata = parse_metadata({checkpoint});
  return data;
}

/// Puts the file's name before whatever goes wrong.
template <class Read>
pet::ModelData with_name(const std::string& name, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory,
         "{}: not enough memory for the weights, use a machine with more or a smaller model", name);
  }
}

}  // namespace

pet::ModelData read_checkpoint(const std::string& path) {
  return with_name(path, [&] {
    const std::string beginning = read_beginning(path, kBeginningBytes);
    require_zip(beginning, beginning.size());
    return read_archive(ZipArchive::open_file(path));
  });
}

pet::ModelData read_checkpoint(std::span<const std::byte> bytes, const std::string& name) {
  return with_name(name, [&] {
    require_zip(as_text(bytes.first(std::min(bytes.size(), kBeginningBytes))), bytes.size());
    return read_archive(ZipArchive::open_bytes(bytes));
  });
}

}  // namespace trine
