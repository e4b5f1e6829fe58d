// Any bytes as a whole checkpoint. Archives are given as plain members (see members.hpp), so that
// the fuzzer need not guess checksums; an input that begins like a zip archive is taken as it is.
#include <span>

#include "fuzz/members.hpp"
#include "fuzz/targets.hpp"
#include "models/checkpoint/read_checkpoint.hpp"
#include "trine/error.hpp"

namespace {

void read(std::string_view bytes) {
  try {
    const trine::pet::ModelData data =
        trine::read_checkpoint(std::as_bytes(std::span(bytes)), "fuzzed");
    for (const auto& [name, tensor] : data.tensors) tensor.to_vector<float>();
  } catch (const trine::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("PK") || !text.starts_with(trine::testing::kMembersMark)) {
    read(text);
  } else {
    read(trine::testing::make_zip(trine::testing::split_members(text)));
  }
  return 0;
}
