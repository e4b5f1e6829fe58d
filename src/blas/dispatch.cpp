#include "blas/dispatch.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <thread>

#include "blas/device.hpp"
#include "blas/original.hpp"
#include "blas/record.hpp"
#include "blas/settings.hpp"
#include "trine/gemm.hpp"

namespace trine::blas {
namespace {

/// What needs no look at a device.
std::string why_original(const Product& product, const Settings& wanted) {
  if (!wanted.off.empty()) return wanted.off;
  if (const std::string_view unfit = why_unfit(product); !unfit.empty()) return std::string(unfit);
  if (flop(product) < wanted.min_flop) {
    return product.batch > 1 ? "the products of the batch are small" : "the product is small";
  }
  return "";
}

Served multiply_on_cpu(const Product& p, const Settings& wanted) {
  if (!wanted.on_cpu) return refuse("on the CPU, without TRINE_GEMM_CPU=1");
  if (!wanted.method) return refuse("on the CPU auto is what the original computes");
  if (p.beta != 0) return refuse("the emulation has no beta");
  const Arrangement as = arrange(p);
  const EmulatedGemm gemm(*wanted.method, GemmArch::sm_90, p.a, p.lda, as.n, as.k);
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (as.forward) {
    gemm.forward(as.rows, p.b, p.ldb, p.d, p.ldd, threads);
  } else {
    gemm.backward(as.rows, p.b, p.ldb, p.d, p.ldd, threads);
  }
  return {Outcome::done, std::string(gemm_method_info(*wanted.method).name), false};
}

using Multiply = Served (*)(const Product&, const Settings&);

/// A product that does not get further than an exception is the original's: nothing is written yet.
Served serve(const Product& product, Multiply multiply) {
  const Settings& wanted = settings();
  if (std::string reason = why_original(product, wanted); !reason.empty())
    return refuse(std::move(reason));
  try {
    return multiply(product, wanted);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}

Tally* count(Record* record, const Product& product, const Served& served) {
  if (!record) return nullptr;
  const bool done = served.outcome == Outcome::done;
  return &record->add(product, done ? served.text : "", done ? "" : served.text);
}

}  // namespace

int serve_on_device(const Product& product, const std::function<int()>& original) {
  const Inside inside;
  Record* const record = Record::of_process();
  Stopwatch watch(product.stream, record != nullptr);
  const Served served = serve(product, multiply_on_device);
  int status = served.outcome == Outcome::done ? kSuccess : kExecutionFailed;
  if (served.outcome == Outcome::refused) status = original();
  Tally* const tally = count(record, product, served);
  if (tally && !served.prepared) watch.stop(*record, *tally);
  return status;
}

void serve_on_cpu(const Product& product, const std::function<void()>& original) {
  const Inside inside;
  const Served served = serve(product, multiply_on_cpu);
  if (served.outcome == Outcome::refused) original();
  count(Record::of_process(), product, served);
}

}  // namespace trine::blas
