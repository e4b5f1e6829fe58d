#include "models/checkpoint/torch_storage.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "models/checkpoint/pickle.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/metatensor_writer.hpp"
#include "models/support/pickle_writer.hpp"
#include "models/support/zip_writer.hpp"

namespace trine::checkpoint {
namespace {

namespace pickle = testing::pickle;
using testing::bytes_of;
using testing::pickle::TensorPiece;

/// Reads tensors, in the order given, from an archive with one storage, "0".
std::vector<HostTensor> read_all(const std::vector<pickle::Piece>& pieces,
                                 const std::string& storage) {
  const std::string archive = testing::make_zip({{.name = "m/data/0", .data = storage}});
  const ZipArchive zip = ZipArchive::open_bytes(std::as_bytes(std::span(archive)));
  TensorReader reader(zip, "m/");
  const std::string bytes = pickle::file(pickle::list(pieces));
  auto data = std::make_shared<std::byte[]>(bytes.size());
  std::memcpy(data.get(), bytes.data(), bytes.size());
  const PickleDocument document = read_pickle({std::move(data), bytes.size()});
  const Field list(document.root(), "list");
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < list.count(); ++i) {
    EXPECT_TRUE(is_tensor(list.at(i)));
    tensors.push_back(reader.read(parse_tensor(list.at(i)), "t"));
  }
  return tensors;
}

HostTensor read_one(const TensorPiece& piece, const std::string& storage) {
  return read_all({pickle::tensor(piece)}, storage).front();
}

const std::vector<float> kNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

TEST(TorchStorage, ReadsEveryKindOfElement) {
  struct Case {
    const char* storage_class;
    DType type;
    std::string bytes;
  };
  const std::vector<Case> cases = {
      {"DoubleStorage", DType::float64, bytes_of<double>({1, -2})},
      {"FloatStorage", DType::float32, bytes_of<float>({1, -2})},
      {"HalfStorage", DType::float16, bytes_of<std::uint16_t>({0x3c00, 0xc000})},
      {"BFloat16Storage", DType::bfloat16, bytes_of<std::uint16_t>({0x3f80, 0xc000})},
      {"LongStorage", DType::int64, bytes_of<std::int64_t>({1, -2})},
      {"IntStorage", DType::int32, bytes_of<std::int32_t>({1, -2})},
      {"ShortStorage", DType::int16, bytes_of<std::int16_t>({1, -2})},
      {"CharStorage", DType::int8, bytes_of<std::int8_t>({1, -2})},
  };
  for (const Case& c : cases) {
    const HostTensor tensor = read_one({c.storage_class, "0", 2, 0, {2}, {1}}, c.bytes);
    EXPECT_EQ(tensor.type, c.type) << c.storage_class;
    EXPECT_EQ(tensor.to_vector<double>(), (std::vector<double>{1, -2})) << c.storage_class;
  }
  EXPECT_EQ(read_one({"ByteStorage", "0", 2, 0, {2}, {1}}, "\x01\xff").to_vector<double>(),
            (std::vector<double>{1, 255}));
  EXPECT_EQ(read_one({"BoolStorage", "0", 2, 0, {2}, {1}}, std::string("\x01\x00", 2))
                .to_vector<double>(),
            (std::vector<double>{1, 0}));
}

TEST(TorchStorage, ReadsViews) {
  struct Case {
    const char* what;
    std::int64_t offset;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> stride;
    std::vector<double> expected;
  };
  const std::vector<Case> cases = {
      {"slice", 4, {3}, {1}, {4, 5, 6}},
      {"transposed", 0, {3, 2}, {1, 3}, {0, 3, 1, 4, 2, 5}},
      {"every other", 1, {2, 2}, {6, 2}, {1, 3, 7, 9}},
      {"permuted", 0, {2, 2, 3}, {3, 6, 1}, {0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}},
      {"broadcast", 7, {2, 3}, {0, 0}, {7, 7, 7, 7, 7, 7}},
      {"scalar", 11, {}, {}, {11}},
      {"one element, odd stride", 11, {1, 1}, {99, 77}, {11}},
      {"empty", 0, {0, 5}, {5, 1}, {}},
      {"empty beyond the end", 500, {2, 0}, {1, 1}, {}},
  };
  for (const Case& c : cases) {
    const HostTensor tensor =
        read_one({"FloatStorage", "0", 12, c.offset, c.shape, c.stride}, bytes_of(kNumbers));
    EXPECT_EQ(tensor.shape, c.shape) << c.what;
    EXPECT_EQ(tensor.to_vector<double>(), c.expected) << c.what;
  }
}

TEST(TorchStorage, ContiguousViewsShareTheirStorage) {
  const auto whole = pickle::tensor({"FloatStorage", "0", 12, 0, {3, 4}, {4, 1}});
  const auto part = pickle::tensor({"FloatStorage", "0", 12, 4, {2, 4}, {4, 1}});
  const auto across = pickle::tensor({"FloatStorage", "0", 12, 0, {4, 3}, {1, 4}});
  const auto tensors = read_all({whole, part, across}, bytes_of(kNumbers));
  EXPECT_EQ(tensors[1].bytes.get(), tensors[0].bytes.get() + 4 * sizeof(float));
  EXPECT_EQ(tensors[1].to_vector<float>().front(), 4);
  EXPECT_EQ(tensors[2].to_vector<float>()[1], 4);
}

TEST(TorchStorage, UnwrapsParameters) {
  const auto parameter = pickle::call(pickle::global("torch._utils", "_rebuild_parameter"),
                                      {pickle::tensor({"FloatStorage", "0", 12, 0, {2}, {1}}),
                                       pickle::boolean(true), pickle::none()});
  EXPECT_EQ(read_all({parameter}, bytes_of(kNumbers)).front().to_vector<float>(),
            (std::vector<float>{0, 1}));
}

TEST(TorchStorage, RefusesViewsThatLeaveTheStorage) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  struct Case {
    const char* text;
    TensorPiece tensor;
  };
  const std::vector<Case> cases = {
      {"reaches element 12 of a storage of 12", {"FloatStorage", "0", 12, 0, {13}, {1}}},
      {"reaches element 12", {"FloatStorage", "0", 12, 12, {1}, {1}}},
      {"reaches element 12", {"FloatStorage", "0", 12, 0, {3, 3}, {5, 1}}},
      {"impossible", {"FloatStorage", "0", 12, -1, {1}, {1}}},
      {"impossible", {"FloatStorage", "0", 12, 11, {2}, {-1}}},
      {"impossible", {"FloatStorage", "0", 12, 0, {-1}, {1}}},
      {"impossible", {"FloatStorage", "0", 12, 0, {kHuge, 4}, {0, 0}}},
      {"impossible", {"FloatStorage", "0", 12, 0, {0, kHuge, 4}, {0, 0, 0}}},
      {"impossible", {"FloatStorage", "0", 12, 0, {3}, {kHuge}}},
      {"impossible", {"FloatStorage", "0", 12, 0, {kHuge}, {kHuge}}},
      {"2 dimensions and 1 strides", {"FloatStorage", "0", 12, 0, {1, 1}, {1}}},
      {"17 dimensions",
       {"FloatStorage", "0", 12, 0, std::vector<std::int64_t>(17, 1),
        std::vector<std::int64_t>(17, 1)}},
      {"storage of -1 elements", {"FloatStorage", "0", -1, 0, {1}, {1}}},
      {"has a storage of", {"FloatStorage", "0", kHuge, 0, {1}, {1}}},
      {"has 48 bytes where 96 belong", {"DoubleStorage", "0", 12, 0, {1}, {1}}},
      {"has 48 bytes where 44 belong", {"FloatStorage", "0", 11, 0, {1}, {1}}},
      {"no member 'm/data/1'", {"FloatStorage", "1", 12, 0, {1}, {1}}},
      {"no member 'm/data/../x'", {"FloatStorage", "../x", 12, 0, {1}, {1}}},
      {"torch.ComplexFloatStorage, which no network uses",
       {"ComplexFloatStorage", "0", 6, 0, {1}, {1}}},
      {"far more than the file can hold", {"FloatStorage", "0", 12, 0, {1 << 20, 1 << 10}, {0, 0}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    testing::expect_error(ErrorCode::bad_input, c.text,
                          [&] { read_one(c.tensor, bytes_of(kNumbers)); });
  }
}

TEST(TorchStorage, RefusesNumbersThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  struct Case {
    const char* storage_class;
    std::string bytes;
  };
  const std::vector<Case> cases = {{"DoubleStorage", bytes_of<double>({0, nan})},
                                   {"FloatStorage", bytes_of<float>({0, -infinity})},
                                   {"HalfStorage", bytes_of<std::uint16_t>({0, 0x7c00})},
                                   {"BFloat16Storage", bytes_of<std::uint16_t>({0, 0xffc0})}};
  for (const Case& c : cases) {
    testing::expect_error(ErrorCode::bad_input, "'t' holds NaN or infinite numbers", [&] {
      read_one({c.storage_class, "0", 2, 0, {2}, {1}}, c.bytes);
    });
    // Elements outside the view do not matter.
    EXPECT_EQ(read_one({c.storage_class, "0", 2, 0, {1}, {1}}, c.bytes).size(), 1);
  }
}

}  // namespace
}  // namespace trine::checkpoint
