#include "symbolize/cfi/cfi_check.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_reader.h"

namespace memtrace {
namespace {

// Far above what any machine has, and what any compiler nests.
constexpr std::uint64_t kMaxRegisters = 1024;
constexpr int kMaxRemembered = 64;
constexpr std::uint8_t kHighBits = 0xC0;  // of an instruction that holds its operand itself

std::uint64_t leb128(ByteReader& reader) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = reader.read<std::uint8_t>();
    value |= shift < 64 ? std::uint64_t{byte & 0x7FU} << shift : 0;
    if (reader.failed() || (byte & 0x80U) == 0) {
      return value;
    }
  }
}

void skip_block(ByteReader& reader) {
  const std::uint64_t size_bytes = leb128(reader);
  reader.skip(std::min<std::uint64_t>(size_bytes, reader.remaining()));
}

std::size_t address_bytes(std::uint8_t encoding) {
  switch (encoding & 0x0FU) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
      return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    case DW_EH_PE_uleb128:
    case DW_EH_PE_sleb128:
      return 0;
    default:
      return 8;
  }
}

void skip_address(ByteReader& reader, std::uint8_t encoding) {
  const std::size_t size_bytes = address_bytes(encoding);
  if (size_bytes == 0) {
    leb128(reader);
  } else {
    reader.skip(size_bytes);
  }
}

// What a description's entries have in common.
struct Common {
  std::uint8_t encoding = DW_EH_PE_absptr;
  bool has_size = false;  // of augmentation data in each entry
};

// One stream of instructions (DWARF, 6.4.2, and binutils' GNU ones).
class Instructions {
 public:
  Instructions(std::span<const std::byte> bytes, std::uint8_t encoding)
      : reader_(bytes), encoding_(encoding) {}

  bool are_modest() {
    while (reader_.remaining() > 0 && !reader_.failed() && is_modest_ && is_known_) {
      step(reader_.read<std::uint8_t>());
    }
    return is_modest_;
  }

 private:
  void name_register() { is_modest_ = is_modest_ && leb128(reader_) < kMaxRegisters; }

  void step(std::uint8_t code);
  void step_extended(std::uint8_t code);

  ByteReader reader_;
  std::uint8_t encoding_;
  int remembered_ = 0;
  bool is_modest_ = true;
  bool is_known_ = true;  // libdw stops at what it does not know, too
};

void Instructions::step(std::uint8_t code) {
  switch (code & kHighBits) {
    case DW_CFA_advance_loc:
    case DW_CFA_restore:
      return;
    case DW_CFA_offset:
      leb128(reader_);
      return;
    default:
      step_extended(code);
  }
}

void Instructions::step_extended(std::uint8_t code) {
  switch (code) {
    case DW_CFA_nop:
    case DW_CFA_GNU_window_save:
      return;
    case DW_CFA_set_loc:
      return skip_address(reader_, encoding_);
    case DW_CFA_advance_loc1:
      return reader_.skip(1);
    case DW_CFA_advance_loc2:
      return reader_.skip(2);
    case DW_CFA_advance_loc4:
      return reader_.skip(4);
    case DW_CFA_MIPS_advance_loc8:
      return reader_.skip(8);
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_GNU_args_size:
      leb128(reader_);
      return;
    case DW_CFA_def_cfa_expression:
      return skip_block(reader_);
    case DW_CFA_remember_state:
      is_modest_ = ++remembered_ <= kMaxRemembered;
      return;
    case DW_CFA_restore_state:
      --remembered_;
      return;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_def_cfa_register:
      return name_register();
    case DW_CFA_register:
      name_register();
      return name_register();
    case DW_CFA_offset_extended:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
    case DW_CFA_GNU_negative_offset_extended:
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
      name_register();
      leb128(reader_);
      return;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      name_register();
      return skip_block(reader_);
    default:
      is_known_ = false;
  }
}

std::span<const std::byte> bytes_between(const std::uint8_t* start, const std::uint8_t* end) {
  return start == nullptr || end < start ? std::span<const std::byte>()
                                         : std::as_bytes(std::span(start, end));
}

// The letters of the augmentation say what lies in its data, in order.
Common common_of(const Dwarf_CIE& cie) {
  Common common;
  const std::string_view letters = cie.augmentation == nullptr ? "" : cie.augmentation;
  common.has_size = letters.starts_with('z');
  ByteReader data(
      bytes_between(cie.augmentation_data, cie.augmentation_data + cie.augmentation_data_size));
  for (const char letter : letters.substr(common.has_size ? 1 : 0)) {
    if (letter == 'R') {
      common.encoding = data.read<std::uint8_t>();
    } else if (letter == 'P') {
      skip_address(data, data.read<std::uint8_t>());
    } else if (letter == 'L') {
      data.skip(1);
    }
  }
  return common;
}

std::span<const std::byte> instructions_of(const Dwarf_FDE& fde, const Common& common) {
  const auto bytes = bytes_between(fde.start, fde.end);
  ByteReader reader(bytes);
  skip_address(reader, common.encoding);
  skip_address(reader, common.encoding);
  if (common.has_size) {
    skip_block(reader);
  }
  return bytes.last(reader.failed() ? 0 : reader.remaining());
}

// Far above what the largest programs have, two million: 8 bytes each are held for a moment.
constexpr std::size_t kMaxEntries = std::size_t{1} << 23U;
constexpr std::size_t kMaxCommons = std::size_t{1} << 18U;
constexpr std::size_t kMaxTerminators = 4096;  // one for each file that was linked together
constexpr std::size_t kMaxBytes = std::size_t{1} << 29U;

using Places = std::vector<Dwarf_Off>;  // ascending

using Commons = std::unordered_map<Dwarf_Off, Common>;

// Of the CIE that is there, which it notes, or that the FDE names. Null: none that came before, or
// there are too many.
const Common* common_of(const Dwarf_CFI_Entry& entry, Dwarf_Off at, Commons& known) {
  const bool is_cie = dwarf_cfi_cie_p(&entry);
  if (is_cie) {
    known[at] = common_of(entry.cie);
  }
  const auto common = known.find(is_cie ? at : entry.fde.CIE_pointer);
  const bool is_known = common != known.end() && known.size() <= kMaxCommons;
  return is_known ? &common->second : nullptr;
}

std::span<const std::byte> instructions_of(const Dwarf_CFI_Entry& entry, const Common& common) {
  return dwarf_cfi_cie_p(&entry)
             ? bytes_between(entry.cie.initial_instructions, entry.cie.initial_instructions_end)
             : instructions_of(entry.fde, common);
}

// Adds the place of each entry. False: one is not modest, or cannot be read.
bool are_modest(const ElfFile& file, Elf_Data* data, bool is_eh_frame, Places& places) {
  constexpr Dwarf_Off kTerminatorBytes = 4;
  const auto* ident =
      reinterpret_cast<const unsigned char*>(::elf_getident(file.handle(), nullptr));
  Commons known;
  std::size_t terminator_count = 0;
  Dwarf_CFI_Entry entry;
  for (Dwarf_Off at = 0; at < data->d_size;) {
    Dwarf_Off next = 0;
    const int status = ::dwarf_next_cfi(ident, data, is_eh_frame, at, &next, &entry);
    if (status > 0 && ++terminator_count <= kMaxTerminators) {
      at += kTerminatorBytes;  // linkers put several files behind each other
      continue;
    }
    if (status != 0 || next <= at || places.size() == kMaxEntries) {
      return false;
    }
    const Common* common = common_of(entry, at, known);
    if (common == nullptr ||
        !Instructions(instructions_of(entry, *common), common->encoding).are_modest()) {
      return false;
    }
    places.push_back(at);
    at = next;
  }
  return true;
}

// The table of .eh_frame_hdr as all linkers write it (LSB, 10.6.2): version, three encodings, where
// .eh_frame is, how many entries, and for each where its code and itself are, from the section's
// own address.
bool leads_to(const ElfFile& file, const ElfFile::Section& frames, const Places& places) {
  constexpr std::size_t kPairBytes = 8;
  constexpr std::uint8_t kTableEncoding = DW_EH_PE_datarel | DW_EH_PE_sdata4;
  const auto section = file.section(".eh_frame_hdr");
  if (!section) {
    return true;
  }
  ByteReader reader(section->content());
  reader.skip(1);
  const auto where = reader.read<std::uint8_t>();
  const auto count_encoding = reader.read<std::uint8_t>();
  const auto table_encoding = reader.read<std::uint8_t>();
  skip_address(reader, where);
  if (count_encoding == DW_EH_PE_omit || table_encoding == DW_EH_PE_omit) {
    return true;
  }
  if (count_encoding != DW_EH_PE_udata4 || table_encoding != kTableEncoding) {
    return false;
  }
  const auto count = reader.read<std::uint32_t>();
  if (count > places.size()) {
    return false;
  }
  for (std::uint32_t i = 0; i < count && reader.remaining() >= kPairBytes; ++i) {
    reader.skip(sizeof(std::int32_t));
    const auto distance = std::int64_t{reader.read<std::int32_t>()};
    const std::uint64_t address = section->header.sh_addr + static_cast<std::uint64_t>(distance);
    if (!std::binary_search(places.begin(), places.end(), address - frames.header.sh_addr)) {
      return false;
    }
  }
  return true;
}

Elf_Data* data_of(const std::optional<ElfFile::Section>& section) {
  Elf_Data* data = section && section->header.sh_type != SHT_NOBITS
                       ? ::elf_getdata(section->handle, nullptr)
                       : nullptr;
  const bool is_readable = data != nullptr && data->d_buf != nullptr && data->d_size <= kMaxBytes;
  return is_readable ? data : nullptr;
}

}  // namespace

bool is_modest_eh_frame(const ElfFile& file) {
  const auto section = file.section(".eh_frame");
  Elf_Data* data = data_of(section);
  Places places;
  return data != nullptr && are_modest(file, data, true, places) &&
         leads_to(file, *section, places);
}

bool is_modest_debug_frame(const ElfFile& file) {
  Elf_Data* data = data_of(file.section(".debug_frame"));
  Places places;
  return data != nullptr && are_modest(file, data, false, places);
}

}  // namespace memtrace
