// Memory on a device that stands for the host memory of one call: what the call may read goes
// there, what it may write comes back, and everything else must come back as it went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tensor/buffer.hpp"
#include "tensor/view.hpp"

namespace trine::test {

class Mirror {
 public:
  /// Calls `call(make(*this))`; `make` turns views of host memory into views of the device's by
  /// calling the mirror with each, and runs twice: first only to learn where they are.
  template <class Make, class Call>
  void run(Make&& make, Call&& call) {
    ranges_.clear();
    placed_ = false;
    make(*this);
    send();
    call(make(*this));
    receive();
  }

  template <class T>
  Vector<T, MemSpace::device> operator()(Vector<T, MemSpace::host> v) {
    return {translate(v.data, v.size), v.size};
  }
  template <class T>
  Matrix<T, MemSpace::device> operator()(Matrix<T, MemSpace::host> m) {
    const bool none = m.rows == 0 || m.cols == 0;
    T* const data = translate(m.data, none ? 0 : (m.rows - 1) * m.stride + m.cols);
    return {data, m.rows, m.cols, m.stride};
  }

 private:
  /// Views that overlap share a range, so that they overlap on the device as well.
  struct Range {
    const std::byte* begin;
    const std::byte* end;
    bool writable;
    std::size_t offset = 0;  ///< of `begin` in the device's memory
    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  };

  /// Views without data stay so, whatever their size; views of nothing keep an address.
  template <class T>
  T* translate(T* data, std::int64_t count) {
    if (!data) return nullptr;
    const auto* begin = reinterpret_cast<const std::byte*>(data);
    if (placed_) return reinterpret_cast<T*>(on_device(begin));
    const auto* end = reinterpret_cast<const std::byte*>(data + count);
    ranges_.push_back({begin, end, !std::is_const_v<T>});
    return nullptr;
  }

  std::byte* on_device(const std::byte* address) const;
  void place();
  void send();
  void receive();

  bool placed_ = false;
  std::vector<Range> ranges_;
  std::vector<std::byte> image_;  ///< what was sent
  std::vector<std::byte> answer_;
  Buffer<std::byte, MemSpace::device> memory_;
};

}  // namespace trine::test
