#include "cuda/gemm/blas_library.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/check.hpp"

#define TRINE_TEXT_OF(text) #text
#define TRINE_TEXT(macro) TRINE_TEXT_OF(macro)  // of what the macro stands for

namespace trine::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMajor = TRINE_TEXT(CUBLAS_VER_MAJOR);

/// The folder of this code's own file; empty if it has none.
fs::path own_folder() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&blas), &self) == 0 || self.dli_fname == nullptr)
    return {};
  return fs::path(self.dli_fname).parent_path();
}

void* load(const std::string& name) {
  // Finds what is loaded already, too.
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const char* why = dlerror();
  const std::string reason = why != nullptr ? why : "unknown";
  // This library is in site-packages/trine/lib.
  const fs::path site = own_folder() / "../..";
  for (const auto& package : {"nvidia/cu" + std::string(kMajor), std::string("nvidia/cublas")}) {
    const std::string file = (site / package / "lib" / name).string();
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  fail(ErrorCode::not_supported,
       "cannot load cuBLAS {} ({}), install it with \"pip install 'nvidia-cublas=={}.*'\" or as a "
       "part of the CUDA toolkit, or name its folder in LD_LIBRARY_PATH",
       kMajor, reason, kMajor);
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  check(function != nullptr, ErrorCode::not_supported,
        "cuBLAS has no {} (the library that was found is not whole), install cuBLAS {} anew", name,
        kMajor);
}

BlasLibrary load_all() {
  BlasLibrary all;
  const std::string version = std::string(".so.") + kMajor;
  // The second library is a part of the first: in this order they are of one version.
  void* const blas = load("libcublas" + version);
  void* const lt = load("libcublasLt" + version);
#define TRINE_FIND(name) find(blas, TRINE_TEXT(name), all.name);
  TRINE_CUBLAS_FUNCTIONS(TRINE_FIND)
#undef TRINE_FIND
#define TRINE_FIND(name) find(lt, TRINE_TEXT(name), all.name);
  TRINE_CUBLASLT_FUNCTIONS(TRINE_FIND)
#undef TRINE_FIND
  return all;
}

}  // namespace

const BlasLibrary& blas() {
  static const BlasLibrary loaded = load_all();
  return loaded;
}

std::string why_no_blas() {
  try {
    blas();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace trine::cuda
