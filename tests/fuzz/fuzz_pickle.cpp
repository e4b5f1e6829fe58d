// Any bytes as a pickle, then a walk over what came out of it.
#include <cstring>

#include "fuzz/targets.hpp"
#include "models/checkpoint/hypers.hpp"
#include "models/checkpoint/pickle.hpp"
#include "models/checkpoint/raw_model.hpp"

namespace {

using namespace trine::checkpoint;

/// Runs a reader that may refuse its input.
template <class Read>
void attempt(Read read) {
  try {
    read();
  } catch (const trine::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attempt([&] {
    auto bytes = std::make_shared<std::byte[]>(size);
    if (size > 0) std::memcpy(bytes.get(), data, size);
    const PickleDocument document = read_pickle({std::move(bytes), size});
    const Field root(document.root(), "");
    attempt([&] { describe(root.node()); });
    attempt([&] { parse_config(Hypers(root)); });
    attempt([&] { Hypers(root).as_text(); });
    attempt([&] { parse_state_dict(root); });
    attempt([&] { parse_raw_model(root); });
  });
  return 0;
}
