#include "fuzz/members.hpp"

#include <algorithm>

namespace trine::testing {
namespace {

void put_length(std::string& out, std::size_t length, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(length >> (8 * i) & 0xff);
}

std::string_view take_counted(std::string_view& text, std::size_t bytes) {
  std::size_t length = 0;
  for (std::size_t i = std::min(bytes, text.size()); i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(text[i]);
  }
  text.remove_prefix(std::min(bytes, text.size()));
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(taken.size());
  return taken;
}

}  // namespace

std::string join_members(const std::vector<ZipMember>& members) {
  std::string out(kMembersMark);
  for (const ZipMember& member : members) {
    put_length(out, member.name.size(), 1);
    out += member.name;
    put_length(out, member.data.size(), 3);
    out += member.data;
  }
  return out;
}

std::vector<ZipMember> split_members(std::string_view text) {
  std::vector<ZipMember> members;
  text.remove_prefix(std::min(text.size(), kMembersMark.size()));
  while (!text.empty()) {
    ZipMember member;
    member.name = take_counted(text, 1);
    member.data = take_counted(text, 3);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace trine::testing
