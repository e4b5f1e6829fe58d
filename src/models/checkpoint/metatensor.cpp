#include "models/checkpoint/metatensor.hpp"

#include "models/checkpoint/npy.hpp"
#include "models/checkpoint/zip_archive.hpp"

namespace trine::checkpoint {
namespace {

class MapReader {
 public:
  MapReader(Bytes bytes, std::string_view name, ByteBudget& budget)
      : archive_(ZipArchive::open_bytes(bytes)), name_(name), budget_(budget) {}

  TensorMap read() {
    TensorMap map;
    map.keys = labels("keys.npy");
    // Members of the archive bound the number of blocks: each block needs some.
    require(map.keys.rows() <= static_cast<std::int64_t>(archive_.names().size()),
            "'{}' names {} blocks that it does not hold", printable(name_), map.keys.rows());
    for (std::int64_t b = 0; b < map.keys.rows(); ++b) map.blocks.push_back(block(b));
    return map;
  }

 private:
  NpyArray array(const std::string& member) {
    const SharedBytes bytes = archive_.read(member, budget_);
    return read_npy(bytes.span(), fmt::format("{}/{}", name_, member));
  }

  Labels labels(const std::string& member) {
    NpyArray labels = array(member);
    require(!labels.fields.empty() && labels.reals.empty(), "'{}/{}' holds no labels",
            printable(name_), member);
    return {std::move(labels.fields), std::move(labels.integers)};
  }

  TensorBlock block(std::int64_t b) {
    const std::string folder = fmt::format("blocks/{}/", b);
    TensorBlock block;
    NpyArray values = array(folder + "values.npy");
    block.shape = std::move(values.shape);
    block.values = std::move(values.reals);
    block.samples = labels(folder + "samples.npy");
    block.properties = labels(folder + "properties.npy");
    for (int c = 0; archive_.contains(fmt::format("{}components/{}.npy", folder, c)); ++c) {
      block.components.push_back(labels(fmt::format("{}components/{}.npy", folder, c)));
    }
    require(values.fields.empty() && values.integers.empty() && fits(block),
            "the values of '{}/{}' do not fit its labels", printable(name_), folder);
    return block;
  }

  static bool fits(const TensorBlock& block) {
    std::vector<std::int64_t> shape = {block.samples.rows()};
    for (const Labels& component : block.components) shape.push_back(component.rows());
    shape.push_back(block.properties.rows());
    return shape == block.shape;
  }

  ZipArchive archive_;

  std::string_view name_;
  ByteBudget& budget_;
};

}  // namespace

std::int64_t Labels::rows() const {
  return names.empty() ? 0 : static_cast<std::int64_t>(values.size() / names.size());
}

TensorMap read_tensor_map(Bytes bytes, std::string_view name, ByteBudget& budget) {
  require(as_text(bytes).starts_with("PK\3\4"), "'{}' is no metatensor buffer", printable(name));
  return MapReader(bytes, name, budget).read();
}

}  // namespace trine::checkpoint
