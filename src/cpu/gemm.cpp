#include "cpu/gemm.hpp"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

#include "base/check.hpp"

namespace trine::cpu {
namespace {

using Tag = dnnl::memory::format_tag;
constexpr auto kFloat = dnnl::memory::data_type::f32;

const dnnl::engine& dnnl_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// oneDNN plans for the threads it sees when a primitive is made, and each panel belongs to one
/// thread.
class SingleThreaded {
 public:
  SingleThreaded() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreaded() { omp_set_num_threads(before_); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  int before_;
};

dnnl::matmul::primitive_desc describe(std::int64_t inner, std::int64_t columns) {
  const dnnl::memory::desc x({kPanelRows, inner}, kFloat, Tag::ab);
  const dnnl::memory::desc b({inner, columns}, kFloat, Tag::any);
  const dnnl::memory::desc y({kPanelRows, columns}, kFloat, Tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return {dnnl_engine(), x, b, y, attributes};
#else
  return {dnnl::matmul::desc(x, b, y), attributes, dnnl_engine()};
#endif
}

int to_int(std::int64_t n) {
  return static_cast<int>(n);
}

}  // namespace

std::vector<ColumnBlock> split_columns(std::int64_t columns, std::int64_t size) {
  std::vector<ColumnBlock> blocks;
  for (std::int64_t first = 0; first < columns; first += size) {
    blocks.push_back({first, std::min(size, columns - first)});
  }
  return blocks;
}

template <>
struct GemmThread<float>::Impl {
  dnnl::stream stream{dnnl_engine()};
  Buffer<std::byte> scratchpad;
};

template <>
struct GemmThread<double>::Impl {};

template <class Real>
GemmThread<Real>::GemmThread() : impl_(std::make_unique<Impl>()) {}
template <class Real>
GemmThread<Real>::GemmThread(GemmThread&&) noexcept = default;
template <class Real>
GemmThread<Real>::~GemmThread() = default;

template <>
struct PackedMatrix<float>::Impl {
  struct Block {
    dnnl::matmul::primitive_desc description;
    dnnl::matmul product;
    dnnl::memory packed;
  };
  std::vector<Block> blocks;
};

template <>
PackedMatrix<float>::PackedMatrix(Matrix<const float> w, Transpose transpose,
                                  std::vector<ColumnBlock> blocks)
    : PanelProduct(std::move(blocks)), impl_(std::make_unique<Impl>()) {
  const SingleThreaded guard;
  const std::int64_t inner = transpose == Transpose::yes ? w.cols : w.rows;
  dnnl::stream stream(dnnl_engine());
  for (const ColumnBlock& block : this->blocks()) {
    auto description = describe(inner, block.count);
    const bool flipped = transpose == Transpose::yes;
    const float* first = flipped ? w.row(block.first) : w.data + block.first;
    const dnnl::memory::dims strides =
        flipped ? dnnl::memory::dims{1, w.stride} : dnnl::memory::dims{w.stride, 1};
    dnnl::memory plain({{inner, block.count}, kFloat, strides}, dnnl_engine(),
                       const_cast<float*>(first));
    dnnl::memory packed(description.weights_desc(), dnnl_engine());
    dnnl::reorder(plain, packed).execute(stream, plain, packed);
    stream.wait();
    impl_->blocks.push_back({description, dnnl::matmul(description), packed});
  }
}

template <>
void PackedMatrix<float>::multiply(std::size_t block, const float* x, float* tile,
                                   GemmThread<float>& thread) const {
  const Impl::Block& b = impl_->blocks[block];
  auto& t = thread.impl();
  const auto scratchpad = b.description.scratchpad_desc();
  t.scratchpad.resize(std::max<std::int64_t>(1, static_cast<std::int64_t>(scratchpad.get_size())));
  const dnnl::memory source(b.description.src_desc(), dnnl_engine(), const_cast<float*>(x));
  const dnnl::memory target(b.description.dst_desc(), dnnl_engine(), tile);
  const dnnl::memory scratch(scratchpad, dnnl_engine(), t.scratchpad.data());
  b.product.execute(t.stream, {{DNNL_ARG_SRC, source},
                               {DNNL_ARG_WEIGHTS, b.packed},
                               {DNNL_ARG_DST, target},
                               {DNNL_ARG_SCRATCHPAD, scratch}});
}

template <>
struct PackedMatrix<double>::Impl {
  Buffer<double> values;  ///< (inner, columns) per block, one after another
  std::int64_t inner = 0;
};

template <>
PackedMatrix<double>::PackedMatrix(Matrix<const double> w, Transpose transpose,
                                   std::vector<ColumnBlock> blocks)
    : PanelProduct(std::move(blocks)), impl_(std::make_unique<Impl>()) {
  openblas_set_num_threads(1);  // panels are the unit of parallel work
  const bool flipped = transpose == Transpose::yes;
  impl_->inner = flipped ? w.cols : w.rows;
  impl_->values.resize(w.rows * w.cols);
  double* out = impl_->values.data();
  for (const ColumnBlock& block : this->blocks()) {
    for (std::int64_t k = 0; k < impl_->inner; ++k) {
      for (std::int64_t c = 0; c < block.count; ++c) {
        *out++ = flipped ? w.row(block.first + c)[k] : w.row(k)[block.first + c];
      }
    }
  }
}

template <>
void PackedMatrix<double>::multiply(std::size_t block, const double* x, double* tile,
                                    GemmThread<double>&) const {
  const ColumnBlock& b = blocks()[block];
  const std::int64_t inner = impl_->inner;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, to_int(kPanelRows), to_int(b.count),
              to_int(inner), 1.0, x, to_int(inner), impl_->values.data() + inner * b.first,
              to_int(b.count), 0.0, tile, to_int(b.count));
}

template <class Real>
PackedMatrix<Real>::~PackedMatrix() = default;

template class GemmThread<float>;
template class GemmThread<double>;
template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace trine::cpu
