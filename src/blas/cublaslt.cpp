// cublasLtMatmul with FP32 numbers, with a bias or without.
#include "blas/interpose.hpp"

namespace trine::blas {
namespace {

using Descriptor = void*;
using GetAttribute = int (*)(Descriptor, int, void*, std::size_t, std::size_t*);

/// Reads attributes of descriptors; remembers if one could not be read.
class Reader {
 public:
  Reader(GetAttribute get, Descriptor descriptor) : get_(get), descriptor_(descriptor) {}

  template <class T>
  T read(int attribute) {
    T value{};
    std::size_t written = 0;
    if (!get_ || !descriptor_ ||
        get_(descriptor_, attribute, &value, sizeof value, &written) != kSuccess ||
        written != sizeof value) {
      failed_ = true;
    }
    return value;
  }
  bool failed() const { return failed_; }

 private:
  GetAttribute get_;
  Descriptor descriptor_;
  bool failed_ = false;
};

/// A matrix as its layout describes it.
struct Layout {
  std::string_view unfit;
  std::int64_t rows = 0, columns = 0, stride = 0;
};

Layout read_layout(Descriptor descriptor) {
  static Original<GetAttribute> get("cublasLtMatrixLayoutGetAttribute");
  Reader reader(get.get(), descriptor);
  Layout layout;
  const auto type = reader.read<std::uint32_t>(abi::kLayoutType);
  const auto order = reader.read<std::int32_t>(abi::kLayoutOrder);
  layout.rows = static_cast<std::int64_t>(reader.read<std::uint64_t>(abi::kLayoutRows));
  layout.columns = static_cast<std::int64_t>(reader.read<std::uint64_t>(abi::kLayoutColumns));
  layout.stride = reader.read<std::int64_t>(abi::kLayoutStride);
  const auto batch = reader.read<std::int32_t>(abi::kLayoutBatch);
  if (reader.failed()) {
    layout.unfit = "a descriptor does not say what it describes";
  } else if (type != abi::kFloat) {
    layout.unfit = "not all operands are FP32";
  } else if (order != abi::kColumns) {
    layout.unfit = "a matrix is not stored in columns";
  } else if (batch != 1) {
    layout.unfit = "a batch of cublasLtMatmul";
  }
  return layout;
}

/// Scales of operands, which FP32 ones do not have, and the largest number of the result.
bool has_scales(Reader& reader) {
  for (int attribute = abi::kMatmulScaleOfA; attribute <= abi::kMatmulLargestOfD; ++attribute) {
    if (reader.read<const void*>(attribute)) return true;
  }
  return false;
}

std::string_view describe_epilogue(Product& p, Reader& reader) {
  const auto epilogue = reader.read<std::uint32_t>(abi::kMatmulEpilogue);
  if (epilogue == abi::kNothing) return {};
  if (epilogue != abi::kBias) return "something else than a bias follows the product";
  const auto type = reader.read<std::int32_t>(abi::kMatmulBiasType);
  if (type != -1 && type != abi::kFloat) return "the bias is not FP32";
  p.bias = reader.read<const float*>(abi::kMatmulBias);
  return p.bias ? std::string_view{} : "the bias is missing";
}

/// Fills in what the descriptor of the operation says; why this is nothing for trine, or "".
std::string_view describe_operation(Product& p, Descriptor operation) {
  static Original<GetAttribute> get("cublasLtMatmulDescGetAttribute");
  Reader reader(get.get(), operation);
  const auto compute = reader.read<std::int32_t>(abi::kMatmulCompute);
  const auto scale = reader.read<std::int32_t>(abi::kMatmulScale);
  const auto pointers = reader.read<std::int32_t>(abi::kMatmulPointerMode);
  p.transposed_a = reader.read<std::int32_t>(abi::kMatmulTransA) != abi::kN;
  p.transposed_b = reader.read<std::int32_t>(abi::kMatmulTransB) != abi::kN;
  const auto op_c = reader.read<std::int32_t>(abi::kMatmulTransC);
  const auto fill = reader.read<std::int32_t>(abi::kMatmulFill);
  const bool scaled = has_scales(reader);
  const std::string_view epilogue = describe_epilogue(p, reader);
  if (reader.failed()) return "a descriptor does not say what it describes";
  if (compute != abi::kCompute32F || scale != abi::kFloat)
    return "the call asks for an arithmetic of its own";
  if (pointers != abi::kHost) return "alpha and beta are on the device";
  if (op_c != abi::kN || fill != abi::kFull || scaled) return "an unusual form of the result";
  return epilogue;
}

void describe_matmul(Product& p, void* /*handle*/, Descriptor operation, const void* alpha,
                     const void* a, Descriptor layout_a, const void* b, Descriptor layout_b,
                     const void* beta, const void* c, Descriptor layout_c, void* d,
                     Descriptor layout_d, const void* /*algorithm*/, void* /*workspace*/,
                     std::size_t /*bytes*/, void* stream) {
  const Inside inside;
  p.stream = stream;
  p.unfit = describe_operation(p, operation);
  const Layout of_a = read_layout(layout_a), of_b = read_layout(layout_b),
               of_c = read_layout(layout_c), of_d = read_layout(layout_d);
  for (const Layout& layout : {of_a, of_b, of_c, of_d}) {
    if (p.unfit.empty()) p.unfit = layout.unfit;
  }
  p.m = of_d.rows, p.n = of_d.columns, p.k = p.transposed_a ? of_a.rows : of_a.columns;
  p.a = static_cast<const float*>(a), p.lda = of_a.stride;
  p.b = static_cast<const float*>(b), p.ldb = of_b.stride;
  p.c = static_cast<const float*>(c), p.ldc = of_c.stride;
  p.d = static_cast<float*>(d), p.ldd = of_d.stride;
  const std::int64_t a_rows = p.transposed_a ? of_a.columns : of_a.rows;
  const std::int64_t b_rows = p.transposed_b ? of_b.columns : of_b.rows;
  const std::int64_t b_columns = p.transposed_b ? of_b.rows : of_b.columns;
  const bool fits =
      a_rows == p.m && b_rows == p.k && b_columns == p.n && of_c.rows == p.m && of_c.columns == p.n;
  if (p.unfit.empty() && !(fits && alpha && beta))
    p.unfit = "the arguments are not those of a product";
  if (!p.unfit.empty()) return;
  p.alpha = *static_cast<const float*>(alpha);
  p.beta = *static_cast<const float*>(beta);
}

}  // namespace
}  // namespace trine::blas

TRINE_INTERPOSED int cublasLtMatmul(void* handle, void* operation, const void* alpha, const void* a,
                                    void* layout_a, const void* b, void* layout_b, const void* beta,
                                    const void* c, void* layout_c, void* d, void* layout_d,
                                    const void* algorithm, void* workspace, std::size_t bytes,
                                    void* stream) {
  static trine::blas::Original<decltype(&cublasLtMatmul)> original("cublasLtMatmul");
  return trine::blas::interpose("cublasLtMatmul", original.get(), trine::blas::describe_matmul,
                                handle, operation, alpha, a, layout_a, b, layout_b, beta, c,
                                layout_c, d, layout_d, algorithm, workspace, bytes, stream);
}
