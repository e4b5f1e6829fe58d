#include "validate/faulty_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "checkpoint_impl.hpp"
#include "cpu/emulation/kernels.hpp"
#include "cpu/ops_impl.hpp"
#include "models/support/forwarding_ops.hpp"

namespace trine::test {
namespace {

using cpu::emulation::ChunkProduct;
using cpu::emulation::kTile;

constexpr MemSpace kHost = MemSpace::host;

// --- Kernels -------------------------------------------------------------------------------------

void accumulate_without_a_product(const ChunkProduct& c) {
  std::vector<WordProduct> kept;
  for (int p = 0; p < c.product_count; ++p) {
    if (c.products[p].x != 1 || c.products[p].w != 0) kept.push_back(c.products[p]);
  }
  ChunkProduct fewer = c;
  fewer.products = kept.data();
  fewer.product_count = static_cast<int>(kept.size());
  cpu::emulation::kernels().accumulate(fewer);
}

/// To a float, toward zero; for numbers that are normal as floats.
float truncated(double x) {
  constexpr std::uint64_t kLost = (std::uint64_t{1} << 29) - 1;  // 52 - 23 bits
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~kLost));
}

/// The hardware's steps with the sum in place of an accumulator that begins anew with the chunk.
void accumulate_without_promotion(const ChunkProduct& c) {
  constexpr double kUnlift = 1 / 0x1p80;  // of two words
  static_assert(2 * cpu::emulation::kLift == 80);
  for (int row = 0; row < c.rows; ++row) {
    float* sum = c.sum + row * kTile;
    const double scale = c.scale[row] * kUnlift;
    for (int p = 0; p < c.product_count; ++p) {
      const float* x = c.x->value[c.products[p].x] + row * c.chunk;
      const float* w = c.w->value[c.products[p].w];
      for (int first = 0; first < c.chunk; first += c.terms) {
        std::array<double, kTile> step{};
        for (int k = first; k < first + c.terms; ++k) {
          for (int i = 0; i < kTile; ++i) {
            step[static_cast<std::size_t>(i)] += static_cast<double>(x[k]) * w[k * kTile + i];
          }
        }
        for (int i = 0; i < kTile; ++i) {
          sum[i] = truncated(sum[i] + step[static_cast<std::size_t>(i)] * scale);
        }
      }
    }
  }
}

const cpu::emulation::Kernels& kernels_with(Fault fault) {
  static const auto with = [](void (*accumulate)(const ChunkProduct&)) {
    auto table = cpu::emulation::kernels();
    table.accumulate = accumulate;
    return table;
  };
  static const auto fewer = with(accumulate_without_a_product);
  static const auto longer = with(accumulate_without_promotion);
  switch (fault) {
    case Fault::dropped_product:
      return fewer;
    case Fault::no_promotion:
      return longer;
    case Fault::doubled_block:
    case Fault::wrong_reverse:
      break;
  }
  return cpu::emulation::kernels();
}

// --- Devices -------------------------------------------------------------------------------------

/// Weights by a method that has the fault come from a device whose kernels have it.
class FaultyProducts final : public ForwardingOps<float, kHost> {
 public:
  FaultyProducts(Fault fault, std::optional<GemmMethod> method, int threads)
      : ForwardingOps(cpu::make_ops<float>(threads)),
        fault_(fault),
        method_(method),
        faulty_(cpu::make_ops<float>(threads, kernels_with(fault))) {}

  std::unique_ptr<PackedLinear<float, kHost>> pack(const LinearWeights<float>& w) override {
    const bool has_fault = method_ ? w.method == *method_ : w.method != GemmMethod::fp32;
    if (!has_fault) return below().pack(w);
    if (fault_ != Fault::doubled_block || w.site != kDoubledSite) return faulty_->pack(w);
    std::vector<float> values;
    for (std::int64_t r = 0; r < w.weight.rows; ++r) {
      values.insert(values.end(), w.weight.row(r), w.weight.row(r) + w.weight.cols);
      const auto row = values.end() - w.weight.cols;
      const auto end = row + std::min<std::int64_t>(kTile, r < kTile ? w.weight.cols : 0);
      std::for_each(row, end, [](float& x) { x *= 2; });
    }
    auto doubled = w;
    doubled.weight = {values.data(), w.weight.rows, w.weight.cols};
    return below().pack(doubled);
  }

 private:
  Fault fault_;
  std::optional<GemmMethod> method_;
  std::unique_ptr<Ops<float, kHost>> faulty_;
};

template <class Real>
class WrongReverse final : public ForwardingOps<Real, kHost> {
 public:
  explicit WrongReverse(int threads) : ForwardingOps<Real, kHost>(cpu::make_ops<Real>(threads)) {}

  void select_edges(const SelectEdgesArgs<kHost>& a) override {
    ForwardingOps<Real, kHost>::select_edges(a);
    auto& reverse = a.edges->reverse;
    if (reverse.size() > 1) std::swap(reverse[0], reverse[reverse.size() / 2]);
  }
};

}  // namespace

Checkpoint faulty_checkpoint(const std::string& path, Fault fault,
                             std::optional<GemmMethod> method) {
  CpuMakers cpu;
  if (fault == Fault::wrong_reverse) {
    cpu.in_float = [](int threads) { return std::make_unique<WrongReverse<float>>(threads); };
    cpu.in_double = [](int threads) { return std::make_unique<WrongReverse<double>>(threads); };
  } else {
    cpu.in_float = [=](int threads) {
      return std::make_unique<FaultyProducts>(fault, method, threads);
    };
  }
  return CheckpointAccess::with_cpu(Checkpoint::read(path), std::move(cpu));
}

}  // namespace trine::test
