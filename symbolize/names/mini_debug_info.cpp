#include "symbolize/names/mini_debug_info.h"

#include <lzma.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"

namespace memtrace {

namespace {

// What the decoder takes for itself is mostly its dictionary: 8 MiB as rpm's find-debuginfo.sh
// calls xz, 64 MiB by xz -9.
constexpr std::uint64_t kDecoderBytes = std::uint64_t{80} << 20U;
constexpr std::size_t kUnpackedPieceBytes = std::size_t{1} << 20U;

Error broken(const std::string& why) {
  return Error{"its .gnu_debugdata " + why, 0, ""};
}

Result<std::vector<std::byte>> decode_all(lzma_stream& stream) {
  std::vector<std::byte> image;
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    const std::size_t before = image.size();
    if (before >= MiniDebugInfo::kMaxBytes) {
      return broken("unpacks to more than " + print_bytes(MiniDebugInfo::kMaxBytes));
    }
    image.resize(before + kUnpackedPieceBytes);
    stream.next_out = reinterpret_cast<std::uint8_t*>(image.data() + before);
    stream.avail_out = kUnpackedPieceBytes;
    status = ::lzma_code(&stream, LZMA_FINISH);
    image.resize(image.size() - stream.avail_out);
  }
  if (status == LZMA_MEMLIMIT_ERROR) {
    return broken("takes more than " + print_bytes(kDecoderBytes) + " to unpack");
  }
  return status == LZMA_STREAM_END ? Result(std::move(image)) : broken("cannot be unpacked");
}

Result<std::vector<std::byte>> decode(std::span<const std::byte> packed) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (::lzma_stream_decoder(&stream, kDecoderBytes, 0) != LZMA_OK) {
    return broken("cannot be unpacked");
  }
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  auto image = decode_all(stream);
  ::lzma_end(&stream);
  return image;
}

}  // namespace

Result<> MiniDebugInfo::unpack(const ElfFile& file) {
  const auto section = file.section(".gnu_debugdata");
  if (!section) {
    return kDone;
  }
  if (!memory_.grow(kMaxBytes)) {
    return broken("was not unpacked: other files have taken the memory for that");
  }
  auto image = decode(section->content());
  if (!image.ok()) {
    return image.take_error();
  }
  image.value().shrink_to_fit();
  memory_.shrink(image.value().size());
  auto unpacked = ElfFile::from_image(image.take());
  if (!unpacked.ok()) {
    return broken("is not an ELF file");
  }
  file_ = unpacked.take();
  return kDone;
}

MiniDebugInfo MiniDebugInfo::load(const ElfFile& file, SymbolTable& table) {
  MiniDebugInfo info;
  const auto unpacked = info.unpack(file);
  if (!unpacked.ok()) {
    info.problem_ = unpacked.error().message;
    info.memory_.shrink(0);
  } else if (info.file_) {
    table.add_section(*info.file_, SHT_SYMTAB, file.base_svma() - info.file_->base_svma());
  }
  return info;
}

}  // namespace memtrace
