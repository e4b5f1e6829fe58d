#include "models/checkpoint/pickle_value.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "models/checkpoint/pickle.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/pickle_writer.hpp"

namespace trine::checkpoint {
namespace {

namespace pickle = testing::pickle;

PickleDocument parse(const std::string& bytes) {
  auto data = std::make_shared<std::byte[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(data.get(), bytes.data(), bytes.size());
  return read_pickle({std::move(data), bytes.size()});
}

TEST(Field, SaysWhereAValueIsNotWhatItShouldBe) {
  const PickleDocument document = parse(pickle::file(
      pickle::dict({{"a", pickle::dict({{"b", pickle::text("x")}, {"none", pickle::none()}})},
                    {"list", pickle::list({pickle::integer(1), pickle::text("y")})},
                    {"object", pickle::call(pickle::global("c", "d"), {})}})));
  const Field root(document.root(), "");
  EXPECT_EQ(root.at("a").at("b").text(), "x");
  EXPECT_FALSE(root.at("a").find("none").has_value());
  EXPECT_FALSE(root.find("z").has_value());
  const std::vector<std::pair<const char*, void (*)(const Field&)>> cases = {
      {"'a.b' is the text 'x' where an integer was expected",
       [](const Field& f) { f.at("a").at("b").integer(); }},
      {"'a.c' is missing", [](const Field& f) { f.at("a").at("c"); }},
      {"'a.none' is missing", [](const Field& f) { f.at("a").at("none"); }},
      {"'list' is a list of 2 where a list of integers was expected",
       [](const Field& f) { f.at("list").integers(); }},
      {"'list' is a list of 2 where at least 6 elements",
       [](const Field& f) { f.at("list").at(5); }},
      {"'list' is a list of 2 where a dict was expected",
       [](const Field& f) { f.at("list").find("a"); }},
      {"'object' is an object made by c.d where text was expected",
       [](const Field& f) { f.at("object").text(); }},
      {"'object' is an object made by c.d without contents",
       [](const Field& f) { f.at("object").state(); }},
      {"'a' is a dict of 2 where a sequence was expected",
       [](const Field& f) { f.at("a").at(std::size_t{0}); }},
  };
  for (const auto& [text, call] : cases) {
    testing::expect_error(ErrorCode::bad_input, text, [&, c = call] { c(root); });
  }
}

TEST(Field, TheLastOfEqualKeysCounts) {
  const PickleDocument document =
      parse(pickle::file(pickle::dict({{"a", pickle::integer(1)}, {"a", pickle::integer(2)}})));
  EXPECT_EQ(Field(document.root(), "").at("a").integer(), 2);
}

TEST(Describe, SaysWhatAValueIs) {
  const std::vector<std::pair<pickle::Piece, const char*>> cases = {
      {pickle::none(), "None"},
      {pickle::boolean(true), "True"},
      {pickle::real(0.5), "the number 0.5"},
      {pickle::integers({1, 2}), "a tuple of 2"},
      {pickle::dict({{"a", pickle::none()}}), "a dict of 1"},
      {"C\x03"
       "abc",
       "3 bytes"},
      {"\x8f", "a set of 0"},
      {pickle::global("io", "getcwd"), "the name io.getcwd"},
      {pickle::none() + "Q", "a reference to data outside the pickle"},
      {"\x8a\x09" + std::string(9, '\x01'), "an integer of more than 64 bits"},
  };
  for (const auto& [piece, text] : cases) {
    const PickleDocument document = parse(pickle::file(piece));
    EXPECT_EQ(describe(document.root()), text);
  }
}

}  // namespace
}  // namespace trine::checkpoint
