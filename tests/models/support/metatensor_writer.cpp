#include "models/support/metatensor_writer.hpp"

#include <fmt/format.h>

#include "models/support/zip_writer.hpp"

namespace trine::testing {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) text += fmt::format("{}, ", extent);
  return text + ")";
}

}  // namespace

std::string make_npy(const std::string& header, const std::string& data) {
  std::string padded = header;
  while ((10 + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(padded.size() & 0xff);
  out += static_cast<char>(padded.size() >> 8);
  return out + padded + data;
}

std::string npy_reals(const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
  return make_npy(
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape_text(shape)),
      bytes_of(values));
}

std::string npy_labels(const std::vector<std::string>& names,
                       const std::vector<std::int32_t>& values) {
  std::string fields;
  for (const std::string& name : names) fields += fmt::format("('{}', '<i4'), ", name);
  const auto rows = static_cast<std::int64_t>(values.size() / names.size());
  return make_npy(fmt::format("{{'descr': [{}], 'fortran_order': False, 'shape': {}, }}", fields,
                              shape_text({rows})),
                  bytes_of(values));
}

std::string make_tensor_map(const BlockText& block) {
  const auto rows = static_cast<std::int64_t>(block.samples.size() / block.sample_names.size());
  std::vector<std::int64_t> shape = {rows};
  std::vector<std::int32_t> properties;
  for (std::int32_t p = 0; p < block.properties; ++p) properties.push_back(p);
  std::vector<ZipMember> members = {
      {"keys.npy", npy_labels(block.key_names, std::vector<std::int32_t>(block.key_names.size()))}};
  for (std::size_t c = 0; c < block.components.size(); ++c) {
    std::vector<std::int32_t> axis;
    for (std::int32_t k = 0; k < block.components[c]; ++k) axis.push_back(k);
    members.push_back({fmt::format("blocks/0/components/{}.npy", c), npy_labels({"xyz"}, axis)});
    shape.push_back(block.components[c]);
  }
  shape.push_back(block.properties);
  members.push_back({"blocks/0/values.npy", npy_reals(shape, block.values)});
  members.push_back({"blocks/0/samples.npy", npy_labels(block.sample_names, block.samples)});
  members.push_back({"blocks/0/properties.npy", npy_labels({"property"}, properties)});
  return make_zip(members);
}

}  // namespace trine::testing
