#include "cuda/gemm/blas_library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <utility>

#include "base/check.hpp"

#define TRINE_TEXT_OF(text) #text
#define TRINE_TEXT(macro) TRINE_TEXT_OF(macro)  // of what the macro stands for

namespace trine::cuda {
namespace {

constexpr const char* kMajor = TRINE_TEXT(CUBLAS_VER_MAJOR);
/// pip's name of it.
constexpr const char* kPackage = CUBLAS_VER_MAJOR >= 13
                                     ? "nvidia-cublas==" TRINE_TEXT(CUBLAS_VER_MAJOR) ".*"
                                     : "nvidia-cublas-cu" TRINE_TEXT(CUBLAS_VER_MAJOR);

std::mutex g_mutex;
std::vector<std::string> g_folders;

std::vector<std::string> folders() {
  const std::scoped_lock lock(g_mutex);
  return g_folders;
}

void* load(const std::string& name) {
  // Finds what is loaded already, too.
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const char* why = dlerror();
  const std::string reason = why != nullptr ? why : "unknown";
  for (const auto& folder : folders()) {
    if (void* library = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
  }
  fail(ErrorCode::not_supported,
       "cannot load cuBLAS {} ({}), install it with \"pip install '{}'\" or as a part of the CUDA "
       "toolkit, or name its folder in LD_LIBRARY_PATH",
       kMajor, reason, kPackage);
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

void set_blas_folders(std::vector<std::string> wanted) {
  const std::scoped_lock lock(g_mutex);
  g_folders = std::move(wanted);
}

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
