#include "symbolize/code/sdt_notes.h"

#include <algorithm>
#include <map>

#include "base/byte_reader.h"
#include "base/text.h"
#include "symbolize/elf/debug_files.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/load_layout.h"

namespace memtrace {
namespace {

constexpr std::string_view kOwner = "stapsdt";
constexpr std::uint64_t kMaxNoteBytes = std::uint64_t{16} << 20U;  // QEMU's has 400 KB
constexpr std::uint32_t kProbeNote = 3;                            // NT_STAPSDT

struct Note {
  std::uint64_t pc = 0;
  std::uint64_t base = 0;  // where .stapsdt.base was when the file was linked
  std::uint64_t semaphore = 0;
  std::string_view provider;
  std::string_view name;
  std::string_view arguments;
};

std::string_view read_string(ByteReader& reader) {
  const std::size_t left_bytes = reader.remaining();
  ByteReader ahead = reader;
  const std::string_view text = ahead.text(left_bytes);
  reader.skip(text.size() + 1);
  return text;
}

std::optional<Note> parse_note(std::span<const std::byte> content, bool has_32_bits) {
  ByteReader reader(content);
  const auto word = [&]() -> std::uint64_t {
    return has_32_bits ? reader.read<std::uint32_t>() : reader.read<std::uint64_t>();
  };
  Note note;
  note.pc = word();
  note.base = word();
  note.semaphore = word();
  note.provider = read_string(reader);
  note.name = read_string(reader);
  note.arguments = read_string(reader);
  return reader.failed() ? std::nullopt : std::optional(note);
}

std::vector<Note> read_notes(const ElfFile& file, const ElfFile::Section& section) {
  std::vector<Note> notes;
  Elf_Data* data =
      section.header.sh_size <= kMaxNoteBytes ? ::elf_getdata(section.handle, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr) {
    return notes;
  }
  const std::span bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  const bool has_32_bits = ::gelf_getclass(file.handle()) == ELFCLASS32;
  std::size_t position = 0;
  std::size_t name_at = 0;
  std::size_t content_at = 0;
  GElf_Nhdr header;
  while ((position = ::gelf_getnote(data, position, &header, &name_at, &content_at)) > 0) {
    const std::string_view owner(reinterpret_cast<const char*>(bytes.data()) + name_at,
                                 header.n_namesz > 0 ? header.n_namesz - 1 : 0);
    if (owner != kOwner || header.n_type != kProbeNote) {
      continue;
    }
    if (const auto note = parse_note(bytes.subspan(content_at, header.n_descsz), has_32_bits)) {
      notes.push_back(*note);
    }
  }
  return notes;
}

using Addresses = std::map<std::string, std::uint64_t, std::less<>>;

// A local name that two source files use is ambiguous: 0.
void add_objects(const ElfFile& source,
                 std::uint32_t type,
                 std::uint64_t bias,
                 Addresses& objects) {
  ElfSymbols symbols(source, type);
  for (std::size_t i = 0; i < symbols.count(); ++i) {
    const auto symbol = symbols.at(i);
    if (!symbol || symbol->st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol->st_info) != STT_OBJECT) {
      continue;
    }
    const std::uint64_t svma = symbol->st_value + bias;
    const auto [known, is_new] = objects.try_emplace(symbols.name(*symbol), svma);
    known->second = is_new || known->second == svma ? svma : 0;
  }
}

Addresses objects_of(const ElfFile& file) {
  Addresses objects;
  add_objects(file, SHT_SYMTAB, 0, objects);
  add_objects(file, SHT_DYNSYM, 0, objects);
  const DebugPlaces places{.debug_directory = "/usr/lib/debug"};
  if (!file.section_of_type(SHT_SYMTAB)) {
    if (const auto debug = find_debug_file(file, file.path(), places)) {
      add_objects(*debug, SHT_SYMTAB, file.base_svma() - debug->base_svma(), objects);
    }
  }
  return objects;
}

// For @+OFFSET the kernel takes the probe's address less its file offset for the file's start in
// memory (translate_user_vaddr(), kernel/trace/trace_uprobe.c): right for data too, if the offset
// is counted as the addresses of code are, not as those of the file.
SdtSymbols symbols_for(const Addresses& objects, std::uint64_t code_bias) {
  return [&objects, code_bias](std::string_view symbol) -> std::optional<std::int64_t> {
    const auto found = objects.find(symbol);
    const bool is_known = found != objects.end() && found->second != 0;
    return is_known ? std::optional(static_cast<std::int64_t>(found->second - code_bias))
                    : std::nullopt;
  };
}

// Prelinking moves a file's addresses, but not those in its notes: the base section shows by how
// much.
std::uint64_t moved_by(const std::optional<ElfFile::Section>& base, const Note& note) {
  return base ? base->header.sh_addr - note.base : 0;
}

// "8@mp_+88(%rip)", or "8@mp_" where code lies at fixed addresses: a letter where else there is
// an operand's first sign or digit.
bool may_name_objects(std::string_view arguments) {
  const std::size_t at = arguments.find("(%rip)");
  const auto words = split(arguments, ' ');
  return at != std::string_view::npos ||
         std::any_of(words.begin(), words.end(), [](std::string_view word) {
           return !word.empty() && word.find_first_of("%$") == std::string_view::npos;
         });
}

}  // namespace

Result<std::vector<SdtProbe>> read_sdt_probes(const std::string& path) {
  auto opened = ElfFile::open(path);
  if (!opened.ok()) {
    return opened.take_error();
  }
  const ElfFile& file = opened.value();
  std::vector<SdtProbe> probes;
  const auto section = file.section(".note.stapsdt");
  if (!section) {
    return probes;
  }
  const auto base = file.section(".stapsdt.base");
  std::optional<Addresses> objects;  // read when the first argument asks: debug files are large
  for (const Note& note : read_notes(file, *section)) {
    const std::uint64_t moved = moved_by(base, note);
    const auto place = file_offset_of(file, note.pc + moved);
    const auto semaphore = note.semaphore == 0 ? std::optional<std::uint64_t>(0)
                                               : file_offset_of(file, note.semaphore + moved);
    if (!place || !semaphore) {
      continue;  // where nothing raises its semaphore, the program would never pass the probe
    }
    SdtProbe probe{.provider = std::string(note.provider), .name = std::string(note.name)};
    probe.file_offset = *place;
    probe.semaphore_file_offset = *semaphore;
    if (!objects && may_name_objects(note.arguments)) {
      objects = objects_of(file);
    }
    const Addresses none;
    probe.arguments = parse_sdt_arguments(
        note.arguments, symbols_for(objects ? *objects : none, note.pc + moved - *place));
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace memtrace
