#include "models/checkpoint/torch_storage.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace trine::checkpoint {
namespace {

struct StorageClass {
  std::string_view name;
  DType type;
};

constexpr std::array kStorageClasses = {
    StorageClass{"torch.DoubleStorage", DType::float64},
    StorageClass{"torch.FloatStorage", DType::float32},
    StorageClass{"torch.HalfStorage", DType::float16},
    StorageClass{"torch.BFloat16Storage", DType::bfloat16},
    StorageClass{"torch.LongStorage", DType::int64},
    StorageClass{"torch.IntStorage", DType::int32},
    StorageClass{"torch.ShortStorage", DType::int16},
    StorageClass{"torch.CharStorage", DType::int8},
    StorageClass{"torch.ByteStorage", DType::uint8},
    StorageClass{"torch.BoolStorage", DType::boolean},
};

constexpr std::size_t kMostDimensions = 16;
/// Sizes below this bound can be multiplied by an element size without overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";

DType storage_type(const Field& field) {
  field.expect(NodeKind::global, "a storage class");
  for (const StorageClass& known : kStorageClasses) {
    if (field.node().text == known.name) return known.type;
  }
  fail_damaged("'{}' is stored as {}, which no network uses", printable(field.path()),
               printable(field.node().text));
}

void parse_storage(const Field& field, TensorRef& ref) {
  field.expect(NodeKind::persistent, "a reference to a storage");
  const Field id(*field.node().state, field.path());
  require(id.count() >= 5 && id.at(std::size_t{0}).text() == "storage",
          "'{}' refers to {} where a storage was expected", printable(id.path()), id.node());
  ref.type = storage_type(id.at(1));
  ref.storage = id.at(2).text();
  ref.storage_size = id.at(4).integer();
  require(ref.storage_size >= 0 && ref.storage_size <= kMostElements,
          "'{}' has a storage of {} elements", printable(id.path()), ref.storage_size);
}

void check_view(const TensorRef& ref, const std::string& path) {
  require(ref.shape.size() == ref.stride.size() && ref.shape.size() <= kMostDimensions,
          "'{}' has {} dimensions and {} strides", printable(path), ref.shape.size(),
          ref.stride.size());
  constexpr auto kMost = static_cast<std::uint64_t>(kMostElements);
  std::uint64_t elements =
      1;  // counting an empty dimension as 1, so that no product overflows later
  std::uint64_t last = static_cast<std::uint64_t>(ref.offset);
  bool empty = false;
  bool in_range = ref.offset >= 0;
  for (std::size_t i = 0; in_range && i < ref.shape.size(); ++i) {
    in_range = ref.shape[i] >= 0 && ref.stride[i] >= 0;
    if (!in_range) break;
    empty = empty || ref.shape[i] == 0;
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(ref.shape[i], 1));
    elements = saturating_product(elements, extent);
    const auto reach = saturating_product(static_cast<std::uint64_t>(ref.stride[i]), extent - 1);
    in_range = elements <= kMost && reach <= kMost && (last += reach) <= kMost;
  }
  require(in_range, "'{}' has an impossible shape, stride or offset", printable(path));
  require(empty || last < static_cast<std::uint64_t>(ref.storage_size),
          "'{}' reaches element {} of a storage of {}", printable(path), last, ref.storage_size);
}

template <class Bits>
bool any_with_all_bits(Bytes bytes, Bits mask) {
  bool found = false;
  for (std::size_t i = 0; i < bytes.size() / sizeof(Bits); ++i) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
    found |= (bits & mask) == mask;
  }
  return found;
}

/// A real number is infinite or NaN exactly if all bits of its exponent are set.
bool all_finite(DType type, Bytes bytes) {
  switch (type) {
    case DType::float64:
      return !any_with_all_bits<std::uint64_t>(bytes, std::uint64_t{0x7ff} << 52);
    case DType::float32:
      return !any_with_all_bits<std::uint32_t>(bytes, 0x7f800000U);
    case DType::float16:
      return !any_with_all_bits<std::uint16_t>(bytes, 0x7c00U);
    case DType::bfloat16:
      return !any_with_all_bits<std::uint16_t>(bytes, 0x7f80U);
    default:
      return true;
  }
}

/// Copies the view to row-major order, one row of the last dimension at a time.
void gather(const TensorRef& ref, std::size_t width, const std::byte* from, std::byte* to) {
  std::vector<std::int64_t> index(ref.shape.size(), 0);
  const std::int64_t inner = ref.shape.empty() ? 1 : ref.shape.back();
  const std::int64_t inner_stride = ref.shape.empty() ? 1 : ref.stride.back();
  std::int64_t row = ref.offset;
  for (std::int64_t left = ref.size(); left > 0; left -= inner) {
    for (std::int64_t k = 0; k < inner; ++k, to += width) {
      std::memcpy(to, from + static_cast<std::size_t>(row + k * inner_stride) * width, width);
    }
    for (std::size_t d = ref.shape.size() - std::min<std::size_t>(1, ref.shape.size()); d-- > 0;) {
      row += ref.stride[d];
      if (++index[d] < ref.shape[d]) break;
      row -= ref.stride[d] * ref.shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace

bool TensorRef::contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && stride[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::int64_t TensorRef::size() const {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  return elements;
}

bool is_tensor(const Field& field) {
  return field.is_object(kRebuildTensor) || field.is_object(kRebuildParameter);
}

TensorRef parse_tensor(const Field& field) {
  if (field.is_object(kRebuildParameter)) {
    const Field inner = field.at(std::size_t{0});
    require(!inner.is_object(kRebuildParameter), "'{}' is a parameter of a parameter",
            printable(field.path()));
    return parse_tensor({inner.node(), field.path()});
  }
  require(field.is_object(kRebuildTensor), "'{}' is {} where a tensor was expected",
          printable(field.path()), field.node());
  TensorRef ref;
  parse_storage({field.at(std::size_t{0}).node(), field.path()}, ref);
  ref.offset = field.at(1).integer();
  ref.shape = field.at(2).integers();
  ref.stride = field.at(3).integers();
  check_view(ref, field.path());
  return ref;
}

TensorReader::TensorReader(const ZipArchive& archive, std::string root)
    : archive_(archive), root_(std::move(root)), budget_(archive.archive_size()) {}

SharedBytes TensorReader::storage(const TensorRef& ref, std::string_view name) {
  const std::string member = fmt::format("{}data/{}", root_, ref.storage);
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(ref.storage_size) * element_size(ref.type);
  require(archive_.contains(member), "the data of '{}' is missing: there is no member '{}'",
          printable(name), printable(member));
  require(archive_.size_of(member) == wanted, "the data of '{}' has {} bytes where {} belong",
          printable(name), archive_.size_of(member), wanted);
  const auto known = storages_.find(ref.storage);
  if (known != storages_.end()) return known->second;
  SharedBytes bytes = archive_.read(member, budget_);
  storages_.emplace(std::string(ref.storage), bytes);
  return bytes;
}

HostTensor TensorReader::read(const TensorRef& ref, std::string_view name) {
  const SharedBytes bytes = storage(ref, name);
  const std::size_t width = element_size(ref.type);
  const std::size_t length = static_cast<std::size_t>(ref.size()) * width;
  HostTensor tensor{ref.type, ref.shape, nullptr};
  if (ref.contiguous()) {
    const std::size_t first = length > 0 ? static_cast<std::size_t>(ref.offset) * width : 0;
    tensor.bytes = std::shared_ptr<const std::byte[]>(bytes.data, bytes.data.get() + first);
  } else {
    budget_.charge(length, name);
    auto copy = std::make_shared_for_overwrite<std::byte[]>(length);
    if (length > 0) gather(ref, width, bytes.data.get(), copy.get());
    tensor.bytes = std::move(copy);
  }
  check(
      all_finite(ref.type, {tensor.bytes.get(), length}), ErrorCode::bad_input,
      "'{}' holds NaN or infinite numbers (training diverged, or the file is damaged), use another "
      "checkpoint",
      printable(name));
  return tensor;
}

}  // namespace trine::checkpoint
