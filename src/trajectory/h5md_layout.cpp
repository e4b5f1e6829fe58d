#include "trajectory/h5md_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "trine/version.hpp"

namespace trine::trajectory {
namespace {

constexpr hsize_t kFrameChunk = hsize_t{1} << 18;  // bytes; small frames share a chunk
constexpr hsize_t kAtomChunk = hsize_t{1} << 22;   // bytes; a frame of more atoms has several
constexpr hsize_t kMostFrames = 1024;              // in a chunk

/// One eV per atom is so many kJ/mol (2019 SI: elementary charge times Avogadro's number / 1000).
constexpr double kKilojoulePerMole = 1.602176634e-19 * 6.02214076e23 / 1000;

const double* first(const std::vector<Vec3>& vectors) {
  return vectors.empty() ? nullptr : vectors.front().data();
}

Handle string_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  require(H5Tset_size(type, H5T_VARIABLE));
  require(H5Tset_cset(type, H5T_CSET_UTF8));
  return type;
}

void add_attribute(const Handle& owner, const char* name, const Handle& space, hid_t type,
                   const void* value) {
  const Handle attribute(H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require(H5Awrite(attribute, type, value));
}

void add_text(const Handle& owner, const char* name, const char* text) {
  add_attribute(owner, name, Handle(H5Screate(H5S_SCALAR), H5Sclose), string_type(), &text);
}

Handle new_group(const Handle& file, const char* name) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  require(H5Pset_create_intermediate_group(links, 1));
  return Handle(H5Gcreate2(file, name, links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
}

/// Atoms of a chunk, or rows of a matrix.
hsize_t chunk_rows(const std::vector<hsize_t>& shape) {
  constexpr hsize_t kRow = 3 * sizeof(double);
  return std::clamp<hsize_t>(shape.front(), 1, kAtomChunk / kRow);
}

Handle chunked(const std::vector<hsize_t>& shape) {
  std::vector<hsize_t> chunk = {1};
  chunk.insert(chunk.end(), shape.begin(), shape.end());
  hsize_t bytes = sizeof(double);
  if (!shape.empty()) chunk[1] = chunk_rows(shape);
  for (const hsize_t extent : chunk) bytes *= extent;
  chunk[0] = std::clamp<hsize_t>(kFrameChunk / bytes, 1, kMostFrames);
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  require(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()));
  return properties;
}

/// A dataset that grows frame by frame.
Handle new_dataset(const Handle& file, const std::string& name, hid_t type,
                   const std::vector<hsize_t>& shape, const Handle& properties) {
  std::vector<hsize_t> now = {0};
  std::vector<hsize_t> limit = {H5S_UNLIMITED};
  now.insert(now.end(), shape.begin(), shape.end());
  limit.insert(limit.end(), shape.begin(), shape.end());
  if (!shape.empty()) limit[1] = std::max<hsize_t>(limit[1], 1);  // HDF5: no less than a chunk
  const Handle space(H5Screate_simple(static_cast<int>(now.size()), now.data(), limit.data()),
                     H5Sclose);
  return Handle(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                H5Dclose);
}

void add_headings(const Handle& file) {
  const Handle h5md = new_group(file, "/h5md");
  const hsize_t two = 2;
  const int version[] = {1, 1};
  add_attribute(h5md, "version", Handle(H5Screate_simple(1, &two, nullptr), H5Sclose),
                H5T_NATIVE_INT, version);
  add_text(new_group(file, "/h5md/author"), "name", "not given");
  const Handle creator = new_group(file, "/h5md/creator");
  add_text(creator, "name", "trine");
  add_text(creator, "version", trine::version());
}

void add_box(const Handle& file, const std::array<bool, 3>& pbc) {
  const Handle box = new_group(file, kBox);
  const int dimension = 3;
  add_attribute(box, "dimension", Handle(H5Screate(H5S_SCALAR), H5Sclose), H5T_NATIVE_INT,
                &dimension);
  const char* boundary[3];
  for (std::size_t k = 0; k < 3; ++k) boundary[k] = pbc[k] ? "periodic" : "none";
  const hsize_t three = 3;
  add_attribute(box, "boundary", Handle(H5Screate_simple(1, &three, nullptr), H5Sclose),
                string_type(), boundary);
}

void add_species(const Handle& file, const std::vector<int>& species) {
  const hsize_t atoms = species.size();
  const Handle space(H5Screate_simple(1, &atoms, nullptr), H5Sclose);
  const Handle dataset(
      H5Dcreate2(file, kSpecies, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  require(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, species.data()));
}

/// The steps and times, in the group of the positions; the other groups link to them.
void add_steps(const Handle& file) {
  const Handle numbered = chunked({});
  const std::int64_t none = kNoStep;
  require(H5Pset_fill_value(numbered, H5T_NATIVE_INT64, &none));
  new_dataset(file, kStep, H5T_STD_I64LE, {}, numbered);
  add_text(new_dataset(file, kTime, H5T_IEEE_F64LE, {}, chunked({})), "unit", "fs");
}

void add_series(const Handle& file, const Series& series, bool owns_steps) {
  const Handle group = new_group(file, series.group);
  add_text(new_dataset(group, "value", H5T_IEEE_F64LE, series.shape, chunked(series.shape)), "unit",
           series.unit);
  if (owns_steps) {
    add_steps(file);
    return;
  }
  require(H5Lcreate_hard(file, kStep, group, "step", H5P_DEFAULT, H5P_DEFAULT));
  require(H5Lcreate_hard(file, kTime, group, "time", H5P_DEFAULT, H5P_DEFAULT));
}

std::vector<int> read_species(const Handle& file) {
  const Handle dataset(H5Dopen2(file, kSpecies, H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  std::vector<int> species(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  require(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, species.data()));
  return species;
}

std::array<bool, 3> read_boundary(const Handle& file) {
  const Handle box(H5Gopen2(file, kBox, H5P_DEFAULT), H5Gclose);
  const Handle attribute(H5Aopen(box, "boundary", H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  require(H5Sget_simple_extent_npoints(space) == 3 ? 0 : -1);
  std::array<char*, 3> text{};
  require(H5Aread(attribute, string_type(), text.data()));
  std::array<bool, 3> pbc{};
  for (std::size_t k = 0; k < 3; ++k) {
    pbc[k] = text[k] != nullptr && std::string(text[k]) == "periodic";
    H5free_memory(text[k]);
  }
  return pbc;
}

}  // namespace

H5mdContents contents_of(const TrajectoryFrame& frame) {
  H5mdContents contents;
  contents.species = frame.structure->species;
  contents.pbc = frame.structure->pbc;
  contents.velocities = !frame.velocities.empty();
  contents.forces = !frame.forces.empty();
  contents.potential_energy = frame.potential_energy.has_value();
  contents.kinetic_energy = frame.kinetic_energy.has_value();
  contents.conserved_energy = frame.conserved_energy.has_value();
  contents.stress = frame.stress.has_value();
  return contents;
}

std::vector<Series> series_of(const H5mdContents& contents) {
  const std::vector<hsize_t> atoms = {contents.species.size(), 3};
  std::vector<Series> all = {
      {"/particles/trajectory/position", "Angstrom", atoms,
       [](const StoredFrame& f) { return first(f.structure.positions); }},
      {"/particles/trajectory/box/edges",
       "Angstrom",
       {3, 3},
       [](const StoredFrame& f) { return f.structure.cell.front().data(); }},
  };
  const auto add = [&all](bool there, Series series) {
    if (there) all.push_back(std::move(series));
  };
  add(contents.velocities, {"/particles/trajectory/velocity", "Angstrom fs-1", atoms,
                            [](const StoredFrame& f) { return first(f.results.velocities); }});
  add(contents.forces,
      {"/particles/trajectory/force", "kJ mol-1 Angstrom-1", atoms,
       [](const StoredFrame& f) { return first(f.results.forces); }, kKilojoulePerMole});
  add(contents.potential_energy,
      {"/observables/potential_energy", "eV", {}, [](const StoredFrame& f) {
         return &*f.results.energy;
       }});
  add(contents.kinetic_energy, {"/observables/kinetic_energy", "eV", {}, [](const StoredFrame& f) {
                                  return &*f.kinetic_energy;
                                }});
  add(contents.conserved_energy,
      {"/observables/conserved_energy", "eV", {}, [](const StoredFrame& f) {
         return &*f.conserved_energy;
       }});
  add(contents.stress, {"/observables/stress", "eV Angstrom-3", {3, 3}, [](const StoredFrame& f) {
                          return f.results.stress->front().data();
                        }});
  return all;
}

void create_h5md(const Handle& file, const H5mdContents& contents) {
  add_headings(file);
  add_box(file, contents.pbc);
  add_species(file, contents.species);
  bool owns_steps = true;
  for (const Series& series : series_of(contents)) {
    add_series(file, series, owns_steps);
    owns_steps = false;
  }
}

H5mdContents read_contents(const Handle& file) {
  H5mdContents contents;
  contents.species = read_species(file);
  contents.pbc = read_boundary(file);
  const auto has = [&file](const char* name) { return H5Lexists(file, name, H5P_DEFAULT) > 0; };
  contents.velocities = has("/particles/trajectory/velocity");
  contents.forces = has("/particles/trajectory/force");
  contents.potential_energy = has("/observables/potential_energy");
  contents.kinetic_energy = has("/observables/kinetic_energy");
  contents.conserved_energy = has("/observables/conserved_energy");
  contents.stress = has("/observables/stress");
  return contents;
}

}  // namespace trine::trajectory
