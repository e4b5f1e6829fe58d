// Any bytes as a NumPy array, and as a TensorMap. Archives are given as plain members (see
// members.hpp), so that the fuzzer need not guess checksums; an input that begins like a zip
// archive is taken as it is.
#include <span>

#include "fuzz/members.hpp"
#include "fuzz/targets.hpp"
#include "models/checkpoint/metatensor.hpp"
#include "models/checkpoint/npy.hpp"

namespace {

using namespace trine::checkpoint;

void read_as_map(Bytes bytes) {
  try {
    ByteBudget budget(bytes.size());
    read_tensor_map(bytes, "map", budget);
  } catch (const trine::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const std::string_view text = as_text(bytes);
  if (text.starts_with("\x93NUMPY")) {
    try {
      read_npy(bytes, "array");
    } catch (const trine::Error&) {
    }
  } else if (text.starts_with("PK")) {
    read_as_map(bytes);
  } else {
    const std::string archive = trine::testing::make_zip(trine::testing::split_members(text));
    read_as_map(std::as_bytes(std::span(archive)));
  }
  return 0;
}
