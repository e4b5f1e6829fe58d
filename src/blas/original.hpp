// The functions that the interposed ones stand before.
#pragma once

namespace trine::blas {

/// The next definition of `symbol` in the process: where the program looks for it by default, else
/// in a cuBLAS that was loaded without showing its symbols (Python loads extension modules so).
/// Null if there is none.
void* find_original(const char* symbol);

/// As long as one lives, calls of this thread are the originals': they come from inside a library
/// whose call is being served.
class Inside {
 public:
  Inside() { ++depth_; }
  ~Inside() { --depth_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool a_call() { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

}  // namespace trine::blas
