#include "symbolize/elf/build_id.h"

#include <elf.h>

#include <utility>

#include "base/byte_reader.h"
#include "base/text.h"
#include "os/system.h"
#include "symbolize/elf/elf_file.h"

namespace memtrace {

namespace {

std::size_t padded_to_word(std::size_t size_bytes) {
  return (size_bytes + 3) & ~std::size_t{3};
}

}  // namespace

std::string read_build_id(const std::string& path) {
  const auto file = ElfFile::open(path);
  return file.ok() ? file.value().build_id() : "";
}

bool same_build_id(std::string_view left, std::string_view right) {
  if (left.size() > right.size()) {
    std::swap(left, right);
  }
  const auto padding = right.substr(left.size());
  return !left.empty() && right.starts_with(left) &&
         padding.find_first_not_of('0') == std::string_view::npos;
}

std::string build_id_in_notes(std::span<const std::byte> notes) {
  ByteReader reader(notes);
  while (reader.remaining() > 0 && !reader.failed()) {
    const auto header = reader.read<Elf64_Nhdr>();
    const auto name = reader.take(header.n_namesz);
    reader.skip(padded_to_word(header.n_namesz) - header.n_namesz);
    const auto content = reader.take(header.n_descsz);
    const bool is_gnu = name.size() == 4 && std::memcmp(name.data(), "GNU", 4) == 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID) {
      return to_hex(content);
    }
    reader.skip(padded_to_word(header.n_descsz) - header.n_descsz);
  }
  return "";
}

std::string running_kernel_build_id() {
  const auto notes = read_file("/sys/kernel/notes");
  return notes.ok() ? build_id_in_notes(std::as_bytes(std::span(notes.value()))) : "";
}

}  // namespace memtrace
