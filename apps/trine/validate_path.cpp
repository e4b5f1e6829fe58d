#include "validate_path.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "held_atoms.hpp"
#include "options.hpp"
#include "trine/error.hpp"
#include "trine/structure_io.hpp"

namespace trine::app {

namespace {

constexpr const char* kRange = "1.2:6.0:60";

double dot(const Vec3& a, const Vec3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vec3 plus(const Vec3& a, double factor, const Vec3& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

std::vector<std::int64_t> atoms_of(const std::string& list, const Structure& frame) {
  std::vector<std::int64_t> atoms;
  for (const AtomRange& range : parse_atoms(list, "--pull")) {
    if (range.last > frame.size()) {
      throw Error(ErrorCode::usage,
                  fmt::format("--pull names atom {}, but {} has {}, correct it", range.last,
                              frame.source, counted(frame.size(), "atom")));
    }
    for (std::size_t i = range.first; i <= range.last; ++i) {
      const auto atom = static_cast<std::int64_t>(i) - 1;
      if (std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) atoms.push_back(atom);
    }
  }
  return atoms;
}

double moved(const Structure& from, const Structure& to) {
  double squares = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Vec3 way = plus(to.positions[i], -1, from.positions[i]);
    squares += dot(way, way);
  }
  return std::sqrt(squares);
}

}  // namespace

void PathFlags::declare(CLI::App& app) {
  app.add_option("--pull", pull_,
                 "smoothness: these atoms, e.g. 65-66, counted from 1, are pulled away rigidly "
                 "(default: an atom through its cutoff)")
      ->type_name("LIST");
  app.add_option("--pull-from", from_,
                 "the atom that the first of them is pulled from, straight away (default: the "
                 "nearest of the others)")
      ->type_name("ATOM")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--pull-range", range_,
         fmt::format("distances of the two, A: from, to, number of points (default {})", kRange))
      ->type_name("A:B:N");
  app.add_option("--path", file_, "smoothness: the frames of this file are the path")
      ->type_name("FILE");
}

const char* PathFlags::typed() const {
  if (!file_.empty()) return "--path";
  if (!pull_.empty()) return "--pull";
  if (from_ > 0) return "--pull-from";
  return range_.empty() ? nullptr : "--pull-range";
}

std::optional<Path> PathFlags::resolve(const Structure& frame) const {
  const bool pulls = !pull_.empty() || from_ > 0 || !range_.empty();
  if (pulls && !file_.empty()) {
    throw Error(ErrorCode::usage,
                "--path and --pull contradict each other (there is one path), "
                "leave one of them out");
  }
  if (pulls && pull_.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{} means nothing here (nothing is pulled), add "
                                              "--pull or leave it out",
                                              typed()));
  }
  if (pulls) return pulled(frame);
  if (file_.empty()) return std::nullopt;
  Path path = path_of_frames(read_structures(file_), file_);
  if (path.points.front().species != frame.species) {
    throw Error(ErrorCode::bad_input,
                fmt::format("the atoms of {} are not those of {} (a path is of the structure that "
                            "is validated), correct one of them",
                            file_, frame.source));
  }
  return path;
}

Path PathFlags::pulled(const Structure& frame) const {
  const auto atoms = atoms_of(pull_, frame);
  const auto first = static_cast<std::size_t>(atoms.front());
  const std::size_t from = origin(frame, atoms);
  const Vec3 back = to_nearest_image(frame, first, from);
  if (!(dot(back, back) > 0)) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: atoms {} and {} are at one place (there is no direction to pull "
                            "in), name another --pull-from",
                            frame.source, first + 1, from + 1));
  }
  const auto distances = parse_distances(range_.empty() ? kRange : range_);
  Path path =
      pull_path(frame, atoms, plus(frame.positions[first], 1, back), plus({}, -1, back), distances);
  path.description = fmt::format("atoms {} pulled from atom {}, {} to {} A", pull_, from + 1,
                                 distances.front(), distances.back());
  return path;
}

/// From 0.
std::size_t PathFlags::origin(const Structure& frame,
                              const std::vector<std::int64_t>& pulled) const {
  const auto is_pulled = [&pulled](std::size_t i) {
    return std::find(pulled.begin(), pulled.end(), static_cast<std::int64_t>(i)) != pulled.end();
  };
  if (from_ > 0) {
    if (from_ > frame.size() || is_pulled(from_ - 1)) {
      throw Error(ErrorCode::usage,
                  fmt::format("--pull-from {} is no atom to pull from ({}), correct it", from_,
                              from_ > frame.size() ? fmt::format("{} has {}", frame.source,
                                                                 counted(frame.size(), "atom"))
                                                   : "it is pulled itself"));
    }
    return from_ - 1;
  }
  std::optional<std::size_t> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (is_pulled(i)) continue;
    const Vec3 way = to_nearest_image(frame, static_cast<std::size_t>(pulled.front()), i);
    if (!(dot(way, way) < least)) continue;
    least = dot(way, way);
    nearest = i;
  }
  if (nearest) return *nearest;
  throw Error(ErrorCode::usage, fmt::format("--pull {} names all atoms of {} (none is left to pull "
                                            "from), leave one out",
                                            pull_, frame.source));
}

std::vector<double> parse_distances(const std::string& range) {
  double from = 0, to = 0;
  int points = 0, end = 0;
  const int found = std::sscanf(range.c_str(), "%lf:%lf:%d%n", &from, &to, &points, &end);
  const bool whole = found == 3 && static_cast<std::size_t>(end) == range.size();
  if (!whole || !(from > 0 && to > from && std::isfinite(to)) || points < 3 || points > 100000) {
    throw Error(ErrorCode::usage,
                fmt::format("--pull-range {} is no range (from above 0, to above that, at least 3 "
                            "points), write for example {}",
                            range, kRange));
  }
  std::vector<double> distances;
  for (int k = 0; k < points; ++k) distances.push_back(from + (to - from) * k / (points - 1));
  return distances;
}

Vec3 to_nearest_image(const Structure& frame, std::size_t i, std::size_t j) {
  Vec3 way = plus(frame.positions[j], -1, frame.positions[i]);
  // Near by whole vectors one after the other, then the best of all images around.
  constexpr int kTurns = 4, kAround = 2;
  std::array<int, 3> around{};
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (!frame.pbc[k]) continue;
      around[k] = kAround;
      const Vec3& a = frame.cell[k];
      way = plus(way, -std::round(dot(way, a) / dot(a, a)), a);
    }
  }
  Vec3 best = way;
  for (int x = -around[0]; x <= around[0]; ++x) {
    for (int y = -around[1]; y <= around[1]; ++y) {
      for (int z = -around[2]; z <= around[2]; ++z) {
        const Vec3 image =
            plus(plus(plus(way, x, frame.cell[0]), y, frame.cell[1]), z, frame.cell[2]);
        if (dot(image, image) < dot(best, best)) best = image;
      }
    }
  }
  return best;
}

Path path_of_frames(std::vector<Structure> frames, const std::string& file) {
  if (frames.size() < 3) {
    throw Error(ErrorCode::bad_input, fmt::format("{} holds {} (a path needs 3), name another file",
                                                  file, counted(frames.size(), "frame")));
  }
  Path path;
  path.coordinate = {0};
  for (std::size_t k = 1; k < frames.size(); ++k) {
    const Structure &before = frames[k - 1], &now = frames[k];
    if (now.species != before.species || now.cell != before.cell || now.pbc != before.pbc) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{} has other atoms or another cell than the frame before (along a "
                              "path atoms move and nothing else), correct it",
                              now.source));
    }
    const double way = moved(before, now);
    if (!(way > 0)) {
      throw Error(ErrorCode::bad_input, fmt::format("{} has its atoms where the frame before has "
                                                    "them (a path goes on), leave it out",
                                                    now.source));
    }
    path.coordinate.push_back(path.coordinate.back() + way);
  }
  path.description = fmt::format("{} of {}", counted(frames.size(), "frame"), file);
  path.points = std::move(frames);
  return path;
}

}  // namespace trine::app
