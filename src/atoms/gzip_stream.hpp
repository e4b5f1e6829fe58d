// Bytes of a stream, inflated on the way if they are gzip data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace trine::atoms {

/// Reads a stream piece by piece, never as a whole. Gzip is recognised by its two magic bytes;
/// several members in a row are one file. Damaged, truncated and absurdly compressed data are
/// `Error(bad_input)`.
class GzipStream {
 public:
  /// `in` must outlive the object; `name` is for messages.
  GzipStream(std::istream& in, std::string name);
  ~GzipStream();

  /// Fills up to `capacity` bytes and says how many; 0 at the end.
  std::size_t read(char* to, std::size_t capacity);

 private:
  struct Inflater;  // zlib's state
  enum class State { start, plain, inflating, between_members, done };

  bool fill();  // makes unread input available; false at the end of the stream
  void start();
  std::size_t read_plain(char* to, std::size_t capacity);
  std::size_t inflate_some(char* to, std::size_t capacity);
  void next_member();
  void check_ratio() const;

  std::istream& in_;
  std::string name_;
  std::vector<char> input_;
  std::size_t begin_ = 0;  // unread input is [begin_, end_)
  std::size_t end_ = 0;
  State state_ = State::start;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace trine::atoms
