#include "models/checkpoint/pickle.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "models/support/expect_error.hpp"
#include "models/support/pickle_writer.hpp"

namespace trine::checkpoint {
namespace {

using namespace std::string_literals;
namespace pickle = testing::pickle;

PickleDocument parse(const std::string& bytes) {
  auto data = std::make_shared<std::byte[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(data.get(), bytes.data(), bytes.size());
  return read_pickle({std::move(data), bytes.size()});
}

/// A short rendering, to compare whole values at once.
std::string show(const Node& node) {
  const auto items = [&] {
    std::string all;
    for (const Node* item : node.items) all += (all.empty() ? "" : ",") + show(*item);
    return all;
  };
  switch (node.kind) {
    case NodeKind::none:
      return "None";
    case NodeKind::boolean:
      return node.integer != 0 ? "True" : "False";
    case NodeKind::integer:
      return std::to_string(node.integer);
    case NodeKind::real:
      return fmt::format("{}", node.real) + "r";
    case NodeKind::text:
      return "'" + std::string(node.text) + "'";
    case NodeKind::bytes:
      return "b'" + std::string(node.text) + "'";
    case NodeKind::list:
      return "[" + items() + "]";
    case NodeKind::tuple:
      return "(" + items() + ")";
    case NodeKind::dict:
      return "{" + items() + "}";
    case NodeKind::set:
      return "<" + items() + ">";
    case NodeKind::global:
      return "name " + std::string(node.text);
    case NodeKind::object:
      return std::string(node.text) + "(" + items() + ")" +
             (node.state != nullptr ? "@" + show(*node.state) : "");
    case NodeKind::persistent:
      return "outside" + show(*node.state);
    case NodeKind::too_large:
      return "large";
  }
  return "?";
}

struct Case {
  std::string bytes;
  const char* expected;
};

void check_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(show(parse(c.bytes).root()), c.expected);
}

TEST(Pickle, ReadsEveryScalar) {
  check_all({
      {"\x80\x02N.", "None"},
      {"\x88.", "True"},
      {"\x89.", "False"},
      {"K\xff.", "255"},
      {"M\x01\x02.", "513"},
      {"J\xfe\xff\xff\xff.", "-2"},
      {"\x8a\x00."s, "0"},
      {"\x8a\x01\x80.", "-128"},
      {"\x8a\x02\xff\x00."s, "255"},
      {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", "9223372036854775807"},
      {"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s, "large"},
      {"\x8b\x01\x00\x00\x00\x05."s, "5"},
      {"G\x3f\xf8\x00\x00\x00\x00\x00\x00."s, "1.5r"},
      {"X\x02\x00\x00\x00\xc3\x85."s, "'\xc3\x85'"},
      {"\x8c\x02hi.", "'hi'"},
      {"\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi."s, "'hi'"},
      {"U\x02hi.", "'hi'"},
      {"T\x02\x00\x00\x00hi."s, "'hi'"},
      {"U\x01\xff.", "b'\xff'"},
      {"C\x02hi.", "b'hi'"},
      {"B\x02\x00\x00\x00hi."s, "b'hi'"},
      {"\x8e\x02\x00\x00\x00\x00\x00\x00\x00hi."s, "b'hi'"},
      {"\x96\x02\x00\x00\x00\x00\x00\x00\x00hi."s, "b'hi'"},
  });
}

TEST(Pickle, ReadsEveryContainer) {
  check_all({
      {"].", "[]"},
      {").", "()"},
      {"}.", "{}"},
      {"\x8f.", "<>"},
      {"(K\x01K\x02l.", "[1,2]"},
      {"(K\x01K\x02"
       "d.",
       "{1,2}"},
      {"(K\x01K\x02t.", "(1,2)"},
      {"(K\x01\x91.", "<1>"},
      {"K\x01\x85.", "(1)"},
      {"K\x01K\x02\x86.", "(1,2)"},
      {"K\x01K\x02K\x03\x87.", "(1,2,3)"},
      {"]K\x01"
       "a.",
       "[1]"},
      {"](K\x01K\x02"
       "e.",
       "[1,2]"},
      {"\x8f(K\x01\x90.", "<1>"},
      {"}K\x01K\x02s.", "{1,2}"},
      {"}(K\x01K\x02K\x03K\x04u.", "{1,2,3,4}"},
      {"](K\x01K\x02"
       "0K\x03"
       "e.",
       "[1,3]"},
      {"](K\x01K\x02"
       "1.",
       "[]"},
      {"](0.", "[]"},
      {"K\x07"
       "2\x86.",
       "(7,7)"},
  });
}

TEST(Pickle, RemembersValuesInAllWays) {
  check_all({
      {"K\x07q\x00h\x00\x86."s, "(7,7)"},
      {"K\x07r\x03\x00\x00\x00j\x03\x00\x00\x00\x86."s, "(7,7)"},
      {"\x80\x04\x95\x08\x00\x00\x00\x00\x00\x00\x00K\x07\x94h\x00\x86."s, "(7,7)"},
  });
}

TEST(Pickle, NamesStayNames) {
  check_all({
      {"cnumpy\ndtype\n.", "name numpy.dtype"},
      {"\x8c\x05numpy\x8c\x05"
       "dtype\x93.",
       "name numpy.dtype"},
      {pickle::file(pickle::call(pickle::global("numpy", "dtype"), {pickle::text("f8")})),
       "numpy.dtype('f8')"},
      {pickle::file(
           pickle::object(pickle::global("a.b", "C"), pickle::dict({{"x", pickle::none()}}))),
       "a.b.C()@{'x',None}"},
      {"ca\nC\n)}\x92.", "a.C()"},
      {pickle::file(pickle::integers({1, 2}) + "Q"), "outside(1,2)"},
      // Items and state of unknown containers are taken in and not needed.
      {"ca\nC\n)\x81(K\x01K\x02u(K\x03"
       "e.",
       "a.C()"},
      // A call of what a call returned.
      {"ca\nC\n)R)R.", "a.C()"},
  });
}

TEST(Pickle, BuildsPythonsOwnContainers) {
  const auto pair = pickle::list({pickle::text("k"), pickle::integer(1)});
  check_all({
      {pickle::file(pickle::call(pickle::global("collections", "OrderedDict"), {})), "{}"},
      {pickle::file(
           pickle::call(pickle::global("collections", "OrderedDict"), {pickle::list({pair})})),
       "{'k',1}"},
      {pickle::file(pickle::call(pickle::global("collections", "OrderedDict"), {}) +
                    pickle::dict({{"_metadata", pickle::none()}}) + "b"),
       "{}"},
      {pickle::file(pickle::call(pickle::global("__builtin__", "set"),
                                 {pickle::list({pickle::integer(6)})})),
       "<6>"},
      {pickle::file(pickle::call(pickle::global("builtins", "frozenset"),
                                 {pickle::list({pickle::integer(6)})})),
       "<6>"},
  });
}

TEST(Pickle, CyclesAreHarmless) {
  const PickleDocument document = parse(
      "]q\x00h\x00"
      "a."s);
  EXPECT_EQ(document.root().items[0], &document.root());
}

TEST(Pickle, RefusesWhatAttacksAreMadeOf) {
  for (const auto& name :
       std::vector<std::pair<std::string, std::string>>{{"os", "system"},
                                                        {"posix", "system"},
                                                        {"nt", "system"},
                                                        {"os.path", "join"},
                                                        {"subprocess", "Popen"},
                                                        {"builtins", "eval"},
                                                        {"__builtin__", "exec"},
                                                        {"builtins", "__import__"},
                                                        {"sys", "exit"},
                                                        {"runpy", "run_path"}}) {
    testing::expect_error(
        ErrorCode::bad_input, "wants to run " + name.first + "." + name.second, [&] {
          parse(pickle::file(
              pickle::call(pickle::global(name.first, name.second), {pickle::text("id")})));
        });
  }
}

TEST(Pickle, RefusesDamage) {
  const std::vector<Case> cases = {
      {"", "ends early"},
      {"N", "ends early"},
      {"X\xff\xff\xff\xffhi", "ends early"},
      {"\x8e\xff\xff\xff\xff\xff\xff\xff\xffhi", "ends early"},
      {"G\x00\x00."s, "ends early"},
      {".", "ends with 0 values"},
      {"NN.", "ends with 2 values"},
      {"(N.", "ends with 1 values"},
      {"(.", "ends with 0 values"},
      {"\x80\x06N.", "protocol is 6"},
      {"h\x00."s, "recalls value 0"},
      {"j\xff\xff\xff\xff.", "recalls value 4294967295"},
      {"Nr\xff\xff\xff\xff.", "under the number 4294967295"},
      {"t.", "closes what it did not open"},
      {"\x85.", "takes more than it has"},
      {"N(\x85.", "takes more than it has"},
      {"q\x00."s, "takes more than it has"},
      {"N(u.", "sets items of None"},
      {"}(Nu.", "key without a value"},
      {"(Nd.", "key without a value"},
      {"a.", "fills nothing"},
      {"(Na.", "fills nothing"},
      {"](e(a.", "fills nothing"},
      {"NNa.", "appends to None"},
      {"N(N\x90.", "appends to None"},
      {"K\x01)R.", "calls the number 1"},
      {"ca\nb\nNR.", "has None for arguments"},
      {"](}b.", "takes more than it has"},
      {"]}b.", "sets attributes of a list"},
      {"ca\nb", "does not end"},
      {"c" + std::string(2000, 'a') + "\nb\n.", "does not end"},
      {"X\x01\x00\x00\x00\xff."s, "not UTF-8"},
      {"X\x02\x00\x00\x00\xc0\x80."s, "not UTF-8"},
      {"X\x03\x00\x00\x00\xed\xa0\x80."s, "not UTF-8"},
      {"X\x04\x00\x00\x00\xf4\x90\x80\x80."s, "not UTF-8"},
      {"X\x02\x00\x00\x00\xe2\x82."s, "not UTF-8"},
      {"K\x01\x8c\x01\x61\x93.", "not text"},
      {"I1\n.", "instruction that no checkpoint needs"},
      {"\xff.", "instruction that no checkpoint needs"},
      {"\x97.", "instruction that no checkpoint needs"},
      {pickle::file(pickle::call(pickle::global("collections", "OrderedDict"),
                                 {pickle::list({pickle::list({pickle::none()})})})),
       "made from a list of 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.expected);
    testing::expect_error(ErrorCode::bad_input, c.expected, [&] { parse(c.bytes); });
  }
}

TEST(Pickle, BoundsWhatItTakesIn) {
  testing::expect_error(ErrorCode::bad_input, "nested more than",
                        [] { parse(std::string(kDeepestMarks + 1, '(')); });
  testing::expect_error(ErrorCode::bad_input, "stack holds more than",
                        [] { parse(std::string(kDeepestStack + 1, 'N')); });
  testing::expect_error(ErrorCode::bad_input, "more than 2000000 values", [] {
    std::string bytes;
    for (std::size_t i = 0; i <= kMostNodes; ++i) bytes += "]0";
    parse(bytes);
  });
  testing::expect_error(ErrorCode::bad_input, "references", [] {
    std::string bytes = "(" + std::string(100'000, 'N') + "lq\0"s;
    for (int i = 0; i < 50; ++i) bytes += "0cbuiltins\nset\nh\0\x85R"s;
    parse(bytes + ".");
  });
}

}  // namespace
}  // namespace trine::checkpoint
