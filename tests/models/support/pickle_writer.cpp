#include "models/support/pickle_writer.hpp"

#include <array>
#include <bit>
#include <string_view>

namespace trine::testing::pickle {
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

/// Names that every tensor needs: each file begins by remembering them, to be small.
constexpr std::array<std::string_view, 6> kShared = {"ctorch._utils\n_rebuild_tensor_v2\n",
                                                     "ccollections\nOrderedDict\n",
                                                     "ctorch\nFloatStorage\n",
                                                     "ctorch\nByteStorage\n",
                                                     "\x8c\x07storage",
                                                     "\x8c\x03"
                                                     "cpu"};

Piece shared(std::string_view piece) {
  for (std::size_t i = 0; i < kShared.size(); ++i) {
    if (kShared[i] == piece) return {'h', static_cast<char>(i)};
  }
  return Piece(piece);
}

std::string joined(const std::vector<Piece>& items) {
  std::string out;
  for (const Piece& item : items) out += item;
  return out;
}

}  // namespace

Piece none() {
  return "N";
}

Piece boolean(bool value) {
  return value ? "\x88" : "\x89";
}

Piece integer(std::int64_t value) {
  if (value >= 0 && value < 256) return "K" + little_endian(static_cast<std::uint64_t>(value), 1);
  return "\x8a\x08" + little_endian(static_cast<std::uint64_t>(value), 8);
}

Piece real(double value) {
  const std::string reversed = little_endian(std::bit_cast<std::uint64_t>(value), 8);
  return "G" + std::string(reversed.rbegin(), reversed.rend());
}

Piece text(const std::string& value) {
  return "X" + little_endian(value.size(), 4) + value;
}

Piece list(const std::vector<Piece>& items) {
  return "](" + joined(items) + "e";
}

Piece tuple(const std::vector<Piece>& items) {
  return "(" + joined(items) + "t";
}

Piece dict(const std::vector<std::pair<std::string, Piece>>& entries) {
  std::string out = "}(";
  for (const auto& [key, value] : entries) out += text(key) + value;
  return out + "u";
}

Piece integers(const std::vector<std::int64_t>& values) {
  std::vector<Piece> items;
  for (const std::int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}

Piece global(const std::string& module, const std::string& name) {
  return shared("c" + module + "\n" + name + "\n");
}

Piece call(const Piece& callee, const std::vector<Piece>& arguments) {
  return callee + tuple(arguments) + "R";
}

Piece object(const Piece& class_name, const Piece& state) {
  return class_name + ")\x81" + state + "b";
}

Piece tensor(const TensorPiece& t) {
  const Piece storage = tuple({shared(kShared[4]), global("torch", t.storage_class), text(t.key),
                               shared(kShared[5]), integer(t.storage_size)}) +
                        "Q";
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              {storage, integer(t.offset), integers(t.shape), integers(t.stride), boolean(false),
               call(global("collections", "OrderedDict"), {})});
}

std::string file(const Piece& value) {
  std::string out = "\x80\x02";
  for (std::size_t i = 0; i < kShared.size(); ++i) {
    out += Piece(kShared[i]) + Piece{'q', static_cast<char>(i), '0'};
  }
  return out + value + ".";
}

}  // namespace trine::testing::pickle
