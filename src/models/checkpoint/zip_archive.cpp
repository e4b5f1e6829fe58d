#include "models/checkpoint/zip_archive.hpp"

#include <zip.h>

#include <filesystem>
#include <utility>

namespace trine::checkpoint {
namespace {

/// Far above what training writes: some 5000 for the largest published network.
constexpr std::uint64_t kMostMembers = 1'000'000;
/// Deflate cannot do better than 1032 to 1.
constexpr std::uint64_t kBestDeflateRatio = 1040;

std::string text_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

[[noreturn]] void fail_to_open(const std::string& why) {
  fail(ErrorCode::bad_input,
       "this begins like a zip archive but its directory is unreadable ({}: the file is probably "
       "incomplete), copy or download it again",
       why);
}

bool leaves_archive(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos) return true;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return true;
    name = slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
  }
  return false;
}

}  // namespace

void ZipArchive::Closer::operator()(zip* archive) const {
  zip_discard(archive);
}

ZipArchive ZipArchive::open_file(const std::string& path) {
  int code = 0;
  std::unique_ptr<zip, Closer> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) fail_to_open(text_of(code));
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  return ZipArchive(std::move(archive), ignored ? 0 : size);
}

ZipArchive ZipArchive::open_bytes(Bytes bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  std::unique_ptr<zip, Closer> archive;
  if (source != nullptr) {
    archive.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    if (!archive) zip_source_free(source);
  }
  const std::string why = archive ? "" : zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!archive) fail_to_open(why);
  return ZipArchive(std::move(archive), bytes.size());
}

ZipArchive::ZipArchive(std::unique_ptr<zip, Closer> archive, std::uint64_t archive_size)
    : archive_(std::move(archive)), archive_size_(archive_size) {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  require(count >= 0 && static_cast<std::uint64_t>(count) <= kMostMembers,
          "the archive has {} members", count);
  names_.reserve(static_cast<std::size_t>(count));
  for (zip_int64_t i = 0; i < count; ++i) add_member(static_cast<std::uint64_t>(i));
}

void ZipArchive::add_member(std::uint64_t index) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  require(zip_stat_index(archive_.get(), index, ZIP_FL_ENC_RAW, &stat) == 0 &&
              (stat.valid & kNeeded) == kNeeded,
          "member {} of the archive cannot be described", index);
  const std::string name = stat.name;
  require(!leaves_archive(name), "member '{}' points outside the archive", printable(name));
  require(stat.encryption_method == ZIP_EM_NONE, "member '{}' is encrypted", printable(name));
  require(stat.comp_method == ZIP_CM_STORE || stat.comp_method == ZIP_CM_DEFLATE,
          "member '{}' is compressed with method {}, which is neither 'stored' nor 'deflate'",
          printable(name), stat.comp_method);
  const bool stored = stat.comp_method == ZIP_CM_STORE;
  require(stored ? stat.size == stat.comp_size : stat.size / kBestDeflateRatio <= stat.comp_size,
          "member '{}' cannot hold {} bytes in {}", printable(name), stat.size, stat.comp_size);
  require(members_.emplace(name, Member{index, stat.size}).second, "member '{}' is there twice",
          printable(name));
  names_.push_back(name);
}

std::uint64_t ZipArchive::size_of(std::string_view name) const {
  const auto member = members_.find(name);
  require(member != members_.end(), "member '{}' is missing", printable(name));
  return member->second.size;
}

SharedBytes ZipArchive::read(std::string_view name, ByteBudget& budget) const {
  const std::uint64_t size = size_of(name);
  budget.charge(size, name);
  const std::uint64_t index = members_.find(name)->second.index;
  const auto close = [](zip_file_t* file) { zip_fclose(file); };
  std::unique_ptr<zip_file_t, decltype(close)> file(zip_fopen_index(archive_.get(), index, 0),
                                                    close);
  require(file != nullptr, "member '{}' cannot be opened: {}", printable(name),
          zip_strerror(archive_.get()));

  auto data = std::make_shared_for_overwrite<std::byte[]>(size);
  std::uint64_t done = 0;
  zip_int64_t got = 1;
  while (done < size && got > 0) {
    got = zip_fread(file.get(), data.get() + done, size - done);
    if (got > 0) done += static_cast<std::uint64_t>(got);
  }
  // The checksum is compared at the end of the member: reading on must find that end, and no error.
  std::byte beyond{};
  const bool complete = done == size && zip_fread(file.get(), &beyond, 1) == 0;
  require(complete, "member '{}' is damaged: {}", printable(name),
          got < 0 || done == size ? zip_file_strerror(file.get()) : "it ends early");
  return {std::move(data), size};
}

}  // namespace trine::checkpoint
