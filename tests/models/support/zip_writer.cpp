#include "models/support/zip_writer.hpp"

#include <zlib.h>

#include <stdexcept>

namespace trine::testing {
namespace {

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string deflated(const std::string& data) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib does not start");
  }
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class Writer {
 public:
  std::string write(const std::vector<ZipMember>& members) {
    for (const ZipMember& member : members) add(member);
    const std::uint64_t offset = out_.size();
    out_ += directory_;
    if (zip64_) end64(offset, members.size());
    put(out_, 0x06054b50, 4);
    put(out_, 0, 4);  // disks
    put(out_, zip64_ ? 0xffff : members.size(), 2);
    put(out_, zip64_ ? 0xffff : members.size(), 2);
    put(out_, zip64_ ? 0xffffffff : directory_.size(), 4);
    put(out_, zip64_ ? 0xffffffff : offset, 4);
    put(out_, 0, 2);
    return out_;
  }

 private:
  void add(const ZipMember& member) {
    const std::string data = member.deflate ? deflated(member.data) : member.data;
    const std::uint64_t offset = out_.size();
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(member.data.data()),
                           static_cast<uInt>(member.data.size())) ^
                     member.crc_error;
    const std::uint64_t size = member.size.value_or(static_cast<std::uint32_t>(member.data.size()));
    std::string common;
    put(common, 20, 2);
    put(common, member.flags, 2);
    put(common, member.method.value_or(member.deflate ? 8 : 0), 2);
    put(common, 0, 4);  // time
    put(common, crc, 4);
    put(common, member.zip64 ? 0xffffffff : data.size(), 4);
    put(common, member.zip64 ? 0xffffffff : size, 4);
    put(common, member.name.size(), 2);

    std::string sizes;
    put(sizes, size, 8);
    put(sizes, data.size(), 8);
    put(out_, 0x04034b50, 4);
    out_ += common;
    put(out_, member.zip64 ? 20 : 0, 2);
    out_ += member.name;
    if (member.zip64) out_ += extra64(sizes);
    out_ += data;

    put(directory_, 0x02014b50, 4);
    put(directory_, 20, 2);
    directory_ += common;
    put(directory_, member.zip64 ? 28 : 0, 2);
    put(directory_, 0, 2);  // comment
    put(directory_, 0, 8);  // disk, attributes
    put(directory_, member.zip64 ? 0xffffffff : offset, 4);
    directory_ += member.name;
    if (member.zip64) {
      put(sizes, offset, 8);
      directory_ += extra64(sizes);
      zip64_ = true;
    }
  }

  static std::string extra64(const std::string& numbers) {
    std::string extra;
    put(extra, 1, 2);
    put(extra, numbers.size(), 2);
    return extra + numbers;
  }

  void end64(std::uint64_t directory_offset, std::uint64_t count) {
    const std::uint64_t offset = out_.size();
    put(out_, 0x06064b50, 4);
    put(out_, 44, 8);
    put(out_, 45, 2);
    put(out_, 45, 2);
    put(out_, 0, 8);  // disks
    put(out_, count, 8);
    put(out_, count, 8);
    put(out_, directory_.size(), 8);
    put(out_, directory_offset, 8);
    put(out_, 0x07064b50, 4);
    put(out_, 0, 4);
    put(out_, offset, 8);
    put(out_, 1, 4);
  }

  std::string out_;
  std::string directory_;
  bool zip64_ = false;
};

}  // namespace

std::string make_zip(const std::vector<ZipMember>& members) {
  return Writer().write(members);
}

}  // namespace trine::testing
