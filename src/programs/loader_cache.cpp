#include "programs/loader_cache.h"

#include <algorithm>
#include <cstdint>

#include "base/byte_reader.h"

namespace memtrace {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
// That of a large distribution has 300 KB.
constexpr std::uint64_t kCacheMaxBytes = std::uint64_t{4} << 20U;
constexpr std::size_t kHeaderBytes = 48;

// glibc, sysdeps/generic/dl-cache.h.
struct Entry {
  std::int32_t flags = 0;
  std::uint32_t name = 0;
  std::uint32_t path = 0;
  std::uint32_t os_version = 0;
  std::uint64_t processor = 0;  // 0: any
};

}  // namespace

// Until glibc 2.32 the format of libc5 stands in front of it.
LoaderCache LoaderCache::open(const std::string& path) {
  LoaderCache cache;
  const auto file = open_foreign_file(path);
  auto bytes = file.ok() ? ForeignBytes::map(file.value(), path, kCacheMaxBytes)
                         : Result<ForeignBytes>(ForeignBytes());
  if (!bytes.ok() || !bytes.value().valid()) {
    return cache;
  }
  cache.file_ = bytes.take();
  const auto all = cache.file_.bytes();
  const auto* start = reinterpret_cast<const char*>(all.data());
  const std::size_t at = std::string_view(start, all.size()).find(kMagic);
  cache.bytes_ = at == std::string_view::npos ? all.last(0) : all.subspan(at);
  return cache;
}

std::string_view LoaderCache::text_at(std::uint64_t offset) const {
  ByteReader reader(bytes_);
  reader.skip(offset);
  return reader.text(reader.failed() ? 0 : reader.remaining());
}

std::vector<std::string> LoaderCache::find(std::string_view name) const {
  std::vector<std::string> paths;
  std::vector<std::string> special;
  ByteReader reader(bytes_);
  reader.skip(kMagic.size());
  const auto count = reader.read<std::uint32_t>();
  reader.skip(kHeaderBytes - kMagic.size() - sizeof(count));
  for (std::uint32_t i = 0; i < count && reader.remaining() >= sizeof(Entry); ++i) {
    const auto entry = reader.read<Entry>();
    if (text_at(entry.name) == name) {
      (entry.processor == 0 ? paths : special).emplace_back(text_at(entry.path));
    }
  }
  paths.insert(paths.end(), special.begin(), special.end());
  return paths;
}

}  // namespace memtrace
