#include "frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "suggest.hpp"
#include "trine/error.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

std::vector<Structure> read_frames(const std::vector<std::string>& files) {
  if (std::count(files.begin(), files.end(), "-") > 1) {
    throw Error(ErrorCode::usage,
                "standard input given twice (it can be read once), name '-' once");
  }
  std::vector<Structure> frames;
  for (const auto& file : files) {
    auto more = read_structures(file);
    frames.insert(frames.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  }
  return frames;
}

void check_frames(std::span<const Structure> frames, const ModelInfo& info) {
  for (const auto& frame : frames) {
    validate(frame);
    for (std::size_t i = 0; i < frame.size(); ++i) {
      if (std::binary_search(info.species.begin(), info.species.end(), frame.species[i])) continue;
      std::vector<std::string> known;
      for (const int number : info.species) known.push_back(element_symbol(number));
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: atom {} is {}, which {} does not know (it knows {}), use another model",
                      frame.source, i + 1, element_symbol(frame.species[i]), info.path,
                      join(known, " ")));
    }
  }
}

}  // namespace trine::app
