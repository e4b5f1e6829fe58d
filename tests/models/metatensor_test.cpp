#include "models/checkpoint/metatensor.hpp"

#include <gtest/gtest.h>

#include "models/checkpoint/npy.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/metatensor_writer.hpp"
#include "models/support/zip_writer.hpp"

namespace trine::checkpoint {
namespace {

using testing::BlockText;
using testing::bytes_of;
using testing::make_npy;

NpyArray parse(const std::string& text) {
  return read_npy(std::as_bytes(std::span(text)), "a");
}

TensorMap parse_map(const std::string& text) {
  ByteBudget budget(text.size());
  return read_tensor_map(std::as_bytes(std::span(text)), "m", budget);
}

TEST(Npy, ReadsRealsIntegersAndLabels) {
  const NpyArray reals = parse(testing::npy_reals({2, 1}, {1.5, -2}));
  EXPECT_EQ(reals.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(reals.reals, (std::vector<double>{1.5, -2}));
  const NpyArray labels = parse(testing::npy_labels({"system", "atom"}, {0, 5, 1, -6}));
  EXPECT_EQ(labels.fields, (std::vector<std::string>{"system", "atom"}));
  EXPECT_EQ(labels.shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(labels.integers, (std::vector<std::int64_t>{0, 5, 1, -6}));
}

TEST(Npy, ReadsOtherSpellings) {
  const std::string four = bytes_of<float>({0.5F});
  for (const char* header :
       {"{'descr':'<f4','fortran_order':False,'shape':(1,)}",
        "{\"shape\": (1), \"descr\": \"<f4\", \"fortran_order\": True}",
        " { 'fortran_order' : False , 'shape' : ( 1 , 1 ) , 'descr' : '<f4' , } "}) {
    EXPECT_EQ(parse(make_npy(header, four)).reals, (std::vector<double>{0.5})) << header;
  }
  const std::string scalar = make_npy("{'descr': '<i8', 'fortran_order': False, 'shape': ()}",
                                      bytes_of<std::int64_t>({-3}));
  EXPECT_EQ(parse(scalar).integers, (std::vector<std::int64_t>{-3}));
  std::string second = make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four);
  second[6] = 2;
  second.insert(10, std::string(2, '\0'));
  EXPECT_EQ(parse(second).reals, (std::vector<double>{0.5}));
}

TEST(Npy, RefusesDamage) {
  const auto with = [](const std::string& header) {
    return make_npy(header, std::string(8, '\0'));
  };
  struct Case {
    const char* text;
    std::string bytes;
  };
  std::string version = testing::npy_reals({1}, {1});
  version[6] = 9;
  std::string length = testing::npy_reals({1}, {1});
  length[9] = '\x7f';
  const std::vector<Case> cases = {
      {"is not a NumPy array", ""},
      {"is not a NumPy array", "\x93NUMPY"},
      {"is not a NumPy array", "PK123456789"},
      {"version 9", version},
      {"ends within its header", length},
      {"has 8 bytes of data where 16 belong",
       with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}")},
      {"where 18446744073709551615 belong",
       with("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}")},
      {"column-major", with("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1)}")},
      {"elements of type '>f8'", with("{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}")},
      {"elements of type '|O'", with("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}")},
      {"no list of labels",
       with("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1, 2)}")},
      {"no array description",
       with("{'descr': [('a', '<i4'), ('b', '<i8')], 'fortran_order': False, 'shape': (1,)}")},
      {"no array description", with("{'fortran_order': False, 'shape': (1,)}")},
      {"no array description", with("{'descr': '<f8', 'shape': (1")},
      {"no array description", with("{'descr': '<f8', 'shape': (-1,)}")},
      {"no array description", with("{'descr': '<f8', 'shape': (1234567890123456,)}")},
      {"no array description", with("{'descr': '<f8', 'order': 1}")},
      {"no array description", with("{'descr': '<f8', 'fortran_order': 0}")},
      {"no array description", with("{'descr': '<f8}")},
      {"no array description", with("")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    testing::expect_error(ErrorCode::bad_input, c.text, [&] { parse(c.bytes); });
  }
}

TEST(TensorMap, ReadsABlock) {
  const TensorMap map =
      parse_map(testing::make_tensor_map({{"system", "atom"}, {0, 1}, {3}, {1, 2, 3}}));
  ASSERT_EQ(map.blocks.size(), 1U);
  const TensorBlock& block = map.blocks[0];
  EXPECT_EQ(map.keys.names, (std::vector<std::string>{"_"}));
  EXPECT_EQ(block.shape, (std::vector<std::int64_t>{1, 3, 1}));
  EXPECT_EQ(block.values, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(block.samples.names, (std::vector<std::string>{"system", "atom"}));
  EXPECT_EQ(block.components.size(), 1U);
  EXPECT_EQ(block.properties.rows(), 1);
}

TEST(TensorMap, RefusesDamage) {
  using Members = std::vector<testing::ZipMember>;
  const auto one = testing::npy_labels({"_"}, {0});
  const auto labels = testing::npy_labels({"a"}, {0, 1});
  const auto reals = testing::npy_reals({2, 1}, {1, 2});
  const auto map = [&](const std::string& keys, const std::string& values,
                       const std::string& samples) {
    return testing::make_zip(Members{{.name = "keys.npy", .data = keys},
                                     {.name = "blocks/0/values.npy", .data = values},
                                     {.name = "blocks/0/samples.npy", .data = samples},
                                     {.name = "blocks/0/properties.npy", .data = one}});
  };
  EXPECT_EQ(parse_map(map(one, reals, labels)).blocks[0].values.size(), 2U);
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"no metatensor buffer", ""},
      {"no metatensor buffer", reals},
      {"'keys.npy' is missing", testing::make_zip(Members{{.name = "x", .data = one}})},
      {"names 9 blocks",
       map(testing::npy_labels({"_"}, std::vector<std::int32_t>(9)), reals, labels)},
      {"'blocks/1/values.npy' is missing", map(labels, reals, labels)},
      {"holds no labels", map(one, reals, reals)},
      {"holds no labels", map(reals, reals, labels)},
      {"do not fit its labels", map(one, reals, one)},
      {"do not fit its labels", map(one, labels, labels)},
      {"is not a NumPy array", map(one, "", labels)},
  };
  for (const auto& [text, bytes] : cases) {
    SCOPED_TRACE(text);
    testing::expect_error(ErrorCode::bad_input, text, [&, b = bytes] { parse_map(b); });
  }
}

}  // namespace
}  // namespace trine::checkpoint
