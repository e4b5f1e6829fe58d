// cuBLAS is found where it may lie, and missed with an error that helps. Needs no GPU.
#include "cuda/gemm/blas_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "trine/devices.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

namespace fs = std::filesystem;

/// What the program, started again by a test, is to find.
constexpr const char* kExpected = "TRINE_TEST_EXPECTED_BLAS";

fs::path file_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

template <class Function>
fs::path file_of(Function* function) {
  return file_of(reinterpret_cast<const void*>(function));
}

class BlasLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv(kExpected) == nullptr && !cuda::why_no_blas().empty()) {
      GTEST_SKIP() << "no cuBLAS here";
    }
    folder_ = fs::temp_directory_path() / ("trine_blas_library_" + std::to_string(::getpid()));
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  /// Makes the dynamic linker fail for cuBLAS: the first file of that name is none.
  fs::path hide() const {
    fs::create_directories(folder_ / "hidden");
    std::ofstream(folder_ / ("hidden/libcublas.so." + std::to_string(CUBLAS_VER_MAJOR))) << "";
    return folder_ / "hidden";
  }

  /// The exit status of this program's child test in a process that looks in this folder first.
  static int run_child(const std::string& folder, const std::string& expected) {
    const pid_t child = ::fork();
    if (child == 0) {
      const char* before = std::getenv("LD_LIBRARY_PATH");
      ::setenv("LD_LIBRARY_PATH", (folder + ":" + (before ? before : "")).c_str(), 1);
      ::setenv(kExpected, expected.c_str(), 1);
      ::execl("/proc/self/exe", "child", "--gtest_filter=BlasLibrary.Child", nullptr);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  fs::path folder_;
};

TEST_F(BlasLibrary, IsTheVersionOfTheHeaders) {
  int major = 0;
  EXPECT_EQ(cuda::blas().cublasGetProperty(MAJOR_VERSION, &major), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(major, CUBLAS_VER_MAJOR);
  EXPECT_STREQ(cuda::blas().cublasGetStatusString(CUBLAS_STATUS_NOT_INITIALIZED),
               "the library was not initialized");
  EXPECT_EQ(&cuda::blas(), &cuda::blas());
}

TEST_F(BlasLibrary, AnErrorSaysWhatToInstall) {
  EXPECT_EQ(run_child(hide(), "none"), 0);
}

TEST_F(BlasLibrary, IsFoundInFoldersThatNoLinkerKnows) {
  const fs::path pip = folder_ / "nvidia/lib";
  fs::create_directories(pip);
  for (const fs::path& part :
       {file_of(cuda::blas().cublasGetProperty), file_of(cuda::blas().cublasLtCreate)}) {
    fs::create_symlink(fs::canonical(part), pip / part.filename());
  }
  EXPECT_EQ(run_child(hide(), pip), 0);
}

/// Run by the tests above in a process of its own.
TEST_F(BlasLibrary, Child) {
  const char* expected = std::getenv(kExpected);
  if (expected == nullptr) return;
  if (std::string(expected) == "none") {
    const std::string why = cuda::why_no_blas();
    EXPECT_NE(why.find("cannot load cuBLAS"), std::string::npos) << why;
    EXPECT_NE(why.find("pip install 'nvidia-cublas"), std::string::npos) << why;
    EXPECT_THROW(cuda::blas(), Error);
  } else {
    set_cublas_folders({"/absent", expected});
    EXPECT_EQ(fs::canonical(file_of(cuda::blas().cublasGetProperty).parent_path()), expected);
  }
}

}  // namespace
}  // namespace trine::test
