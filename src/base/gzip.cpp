#include "base/gzip.h"

#include <zlib.h>

#include <array>

namespace memtrace {
namespace {

constexpr std::size_t kMaxBytes = 16U << 20U;
// zlib.h: the largest window, and 16 for a gzip header alone.
constexpr int kGzipWindow = MAX_WBITS + 16;

Error broken(const char* why) {
  return Error{
      "reading what gzip compressed: " + std::string(why == nullptr ? "it is cut off" : why),
      0,
      ""};
}

Result<std::string> inflate_all(z_stream& stream) {
  std::string text;
  std::array<char, 65536> piece{};
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    status = ::inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) {
      return broken(stream.msg);
    }
    text.append(piece.data(), piece.size() - stream.avail_out);
    if (text.size() > kMaxBytes) {
      return broken("it is too large");
    }
  }
  return text;
}

}  // namespace

Result<std::string> gunzip(std::string_view compressed) {
  z_stream stream{};
  // zlib's own type; it does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  if (::inflateInit2(&stream, kGzipWindow) != Z_OK) {
    return broken(stream.msg);
  }
  auto text = inflate_all(stream);
  ::inflateEnd(&stream);
  return text;
}

std::string gzip(std::string_view text) {
  constexpr int kMemoryLevel = 8;  // zlib.h: the default
  z_stream stream{};
  // Fails only for want of memory, which ends the program anyway.
  if (::deflateInit2(&stream,
                     Z_DEFAULT_COMPRESSION,
                     Z_DEFLATED,
                     kGzipWindow,
                     kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string compressed(::deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  ::deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return compressed;
}

}  // namespace memtrace
