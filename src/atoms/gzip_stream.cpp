#include "atoms/gzip_stream.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <istream>
#include <limits>
#include <new>
#include <utility>

#include "base/check.hpp"

namespace trine::atoms {
namespace {

constexpr std::size_t kInputBytes = std::size_t{1} << 15;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // how zlib is told to expect a gzip header

// Structures as text shrink 3 to 20 times. Data that grow much more than that, and beyond what a
// small file may legitimately unpack to, are made to exhaust memory.
constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 24;
constexpr std::uint64_t kLargestRatio = 200;

bool is_magic(const char* bytes) {
  return static_cast<unsigned char>(bytes[0]) == 0x1f &&
         static_cast<unsigned char>(bytes[1]) == 0x8b;
}

}  // namespace

struct GzipStream::Inflater {
  z_stream z{};

  Inflater() {
    if (inflateInit2(&z, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&z); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

GzipStream::GzipStream(std::istream& in, std::string name)
    : in_(in), name_(std::move(name)), input_(kInputBytes) {}

GzipStream::~GzipStream() = default;

bool GzipStream::fill() {
  if (begin_ > 0) {
    std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == input_.size()) return true;
  in_.read(input_.data() + end_, static_cast<std::streamsize>(input_.size() - end_));
  check(!in_.bad(), ErrorCode::bad_input,
        "{}: reading failed (a directory, or a device error), check the path", name_);
  const auto got = static_cast<std::size_t>(in_.gcount());
  end_ += got;
  bytes_in_ += got;
  return got > 0;
}

void GzipStream::start() {
  while (end_ - begin_ < 2 && fill()) {
  }
  if (end_ - begin_ >= 2 && is_magic(input_.data() + begin_)) {
    inflater_ = std::make_unique<Inflater>();
    state_ = State::inflating;
  } else {
    state_ = State::plain;
  }
}

std::size_t GzipStream::read(char* to, std::size_t capacity) {
  if (state_ == State::start) start();
  if (state_ == State::plain) return read_plain(to, capacity);
  std::size_t got = 0;
  while (got == 0 && state_ != State::done) {
    if (state_ == State::between_members) next_member();
    if (state_ == State::inflating) got = inflate_some(to, capacity);
  }
  return got;
}

std::size_t GzipStream::read_plain(char* to, std::size_t capacity) {
  if (begin_ == end_ && !fill()) return 0;
  const std::size_t got = std::min(capacity, end_ - begin_);
  std::memcpy(to, input_.data() + begin_, got);
  begin_ += got;
  return got;
}

std::size_t GzipStream::inflate_some(char* to, std::size_t capacity) {
  check(begin_ < end_ || fill(), ErrorCode::bad_input,
        "{}: the gzip data end too early (after {} bytes), the file was cut short: copy it again",
        name_, bytes_in_);
  capacity = std::min<std::size_t>(capacity, std::numeric_limits<uInt>::max());
  z_stream& z = inflater_->z;
  z.next_in = reinterpret_cast<Bytef*>(input_.data() + begin_);
  z.avail_in = static_cast<uInt>(end_ - begin_);
  z.next_out = reinterpret_cast<Bytef*>(to);
  z.avail_out = static_cast<uInt>(capacity);
  const int status = inflate(&z, Z_NO_FLUSH);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  check(status == Z_OK || status == Z_STREAM_END, ErrorCode::bad_input,
        "{}: the gzip data are damaged ({}), copy the file again", name_,
        z.msg != nullptr ? z.msg : "unreadable");
  begin_ = end_ - z.avail_in;
  if (status == Z_STREAM_END) state_ = State::between_members;
  const std::size_t got = capacity - z.avail_out;
  bytes_out_ += got;
  check_ratio();
  return got;
}

void GzipStream::next_member() {
  while (end_ - begin_ < 2 && fill()) {
  }
  // Tools that write to tapes pad with zeros.
  while (begin_ < end_ && input_[begin_] == '\0') ++begin_;
  if (begin_ == end_) {
    if (!fill()) state_ = State::done;
    return;
  }
  while (end_ - begin_ < 2 && fill()) {
  }
  check(end_ - begin_ >= 2 && is_magic(input_.data() + begin_), ErrorCode::bad_input,
        "{}: bytes that are not gzip follow the gzip data, copy the file again", name_);
  inflateReset(&inflater_->z);
  state_ = State::inflating;
}

void GzipStream::check_ratio() const {
  check(bytes_out_ <= kFreeBytes || bytes_out_ / kLargestRatio <= bytes_in_, ErrorCode::bad_input,
        "{}: the gzip data grow more than {} times (made to exhaust memory?), unpack the file with "
        "gunzip if you trust it",
        name_, kLargestRatio);
}

}  // namespace trine::atoms
