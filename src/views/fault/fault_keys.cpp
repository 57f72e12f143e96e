#include "views/fault/fault_keys.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

std::uint64_t no_word(const Event& /*event*/) {
  return 0;  // the fault fills it in
}

std::uint64_t no_block_word(const LiveBlock& /*block*/) {
  return 0;
}

Cell access_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(name_of(static_cast<FaultAccess>(word)));
}

// Of one without an end, FaultKeys::cells() knows more.
Cell class_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(name_of(static_cast<FaultClass>(word), false));
}

Cell mode_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(word != 0 ? "kernel" : "user");
}

Cell page_cell(std::uint64_t word, const CellContext& /*context*/) {
  return word;
}

std::uint64_t settle_page(std::uint64_t word, const CellContext& context) {
  return word & ~(context.world.page_size_bytes() - 1);
}

Cell kind_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(name_of(static_cast<PlaceKind>(word)));
}

// Memory without a file goes by its kind.
constexpr std::uint64_t kKindWord = std::uint64_t{1} << 32U;

Cell file_cell(std::uint64_t word, const CellContext& context) {
  if (word >= kKindWord) {
    return "[" + std::string(name_of(static_cast<PlaceKind>(word - kKindWord))) + "]";
  }
  return cell_of(context.world.strings().at(StringId{static_cast<std::uint32_t>(word)}));
}

Cell offset_cell(std::uint64_t word, const CellContext& /*context*/) {
  return when(word != kNoOffset, word);
}

// Of hugetlb no event says the size of the page.
constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};
constexpr std::uint64_t kSinglePage = 0;

std::uint64_t size_word(const Fault& fault) {
  return fault.place.kind == PlaceKind::Hugetlb ? kUnknownSize
         : fault.folio_bytes > 0                ? fault.folio_bytes
                                                : kSinglePage;
}

Cell size_cell(std::uint64_t word, const CellContext& context) {
  return when(word != kUnknownSize, word == kSinglePage ? context.world.page_size_bytes() : word);
}

std::uint64_t file_word(const Fault& fault) {
  const FaultPlace& place = fault.place;
  return place.file.valid() ? place.file.value : kKindWord + static_cast<std::uint64_t>(place.kind);
}

struct OwnKey {
  KeySpec spec;
  std::uint64_t (*of)(const Fault& fault, std::uint64_t range_bytes) = nullptr;
};

constexpr auto kOwnKeys = std::to_array<OwnKey>({
    {{.name = "access", .unit = Unit::Text, .of = no_word, .cell = access_cell},
     [](const Fault& f, std::uint64_t) { return static_cast<std::uint64_t>(access_of(f.entry)); }},
    {{.name = "class", .unit = Unit::Text, .of = no_word, .cell = class_cell},
     [](const Fault& f, std::uint64_t) { return static_cast<std::uint64_t>(class_of(f)); }},
    {{.name = "mode", .unit = Unit::Text, .of = no_word, .cell = mode_cell},
     [](const Fault& f, std::uint64_t) { return std::uint64_t{is_of_kernel(f.entry)}; }},
    {{.name = "page",
      .unit = Unit::Address,
      .of = no_word,
      .cell = page_cell,
      .resolve_late = settle_page},
     [](const Fault& f, std::uint64_t) { return page_of(f.entry); }},
    {{.name = "kind",
      .unit = Unit::Text,
      .of = no_word,
      .of_block = no_block_word,
      .cell = kind_cell},
     [](const Fault& f, std::uint64_t) { return static_cast<std::uint64_t>(f.place.kind); }},
    {{.name = "file",
      .unit = Unit::Text,
      .of = no_word,
      .of_block = no_block_word,
      .cell = file_cell},
     [](const Fault& f, std::uint64_t) { return file_word(f); }},
    {{.name = "size", .unit = Unit::Bytes, .of = no_word, .cell = size_cell},
     [](const Fault& f, std::uint64_t) { return size_word(f); }},
    {{.name = "offset", .unit = Unit::Address, .of = no_word, .cell = offset_cell},
     [](const Fault& f, std::uint64_t range_bytes) {
       return f.place.file.valid() ? f.place.file_offset / range_bytes * range_bytes : kNoOffset;
     }},
});

FaultClass class_in_file(const Fault& fault) {
  if (fault.is_write() && fault.is_present()) {
    return fault.place.is_private ? FaultClass::CopyOnWrite : FaultClass::SharedWrite;
  }
  if (fault.end == FaultEnd::Major) {
    return FaultClass::FileMajor;
  }
  // A private copy is made at once (mm/memory.c, do_cow_fault).
  return fault.is_write() && fault.place.is_private ? FaultClass::CopyOnWrite
                                                    : FaultClass::FileMinor;
}

FaultClass class_in_anonymous(const Fault& fault) {
  if (fault.of_zero_page) {
    return FaultClass::ZeroPageWrite;
  }
  if (fault.is_present()) {
    return fault.is_write() ? FaultClass::CopyOnWrite : FaultClass::Minor;
  }
  if (fault.end == FaultEnd::Major) {
    return FaultClass::SwapIn;
  }
  // Without the error code it may as well be a copy.
  return fault.entry.has_error_code ? FaultClass::ZeroFill : FaultClass::Minor;
}

FaultClass class_without_end(const Fault& fault) {
  if (fault.signal != 0) {
    return fault.signal == SIGBUS ? FaultClass::Bus : FaultClass::Segv;
  }
  return fault.out_of_memory ? FaultClass::OutOfMemory : FaultClass::Open;
}

}  // namespace

FaultAccess access_of(const PageFault& fault) {
  if (!fault.has_error_code) {
    return FaultAccess::Unknown;
  }
  if ((fault.error_code & kFaultExec) != 0) {
    return FaultAccess::Exec;
  }
  return (fault.error_code & kFaultWrite) != 0 ? FaultAccess::Write : FaultAccess::Read;
}

FaultClass class_of(const Fault& fault) {
  if (fault.end == FaultEnd::Open) {
    return class_without_end(fault);
  }
  if (fault.place.kind == PlaceKind::Hugetlb) {
    return FaultClass::Hugetlb;
  }
  if (fault.huge_pages > 0) {
    return FaultClass::Huge;
  }
  if (fault.place.kind == PlaceKind::File) {
    return class_in_file(fault);
  }
  if (fault.place.is_anonymous()) {
    return class_in_anonymous(fault);
  }
  const bool major = fault.end == FaultEnd::Major;
  if (fault.place.kind == PlaceKind::SharedMemory) {
    return major ? FaultClass::SwapIn : FaultClass::SharedMemory;
  }
  return major ? FaultClass::Major : FaultClass::Minor;
}

std::string_view name_of(FaultAccess access) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "read", "write", "exec"};
  return kNames[static_cast<std::size_t>(access)];
}

std::string_view name_of(FaultClass fault_class, bool failed) {
  constexpr std::array<std::string_view, 16> kNames = {"unknown",
                                                       "minor",
                                                       "major",
                                                       "zero-fill",
                                                       "copy-on-write",
                                                       "file minor",
                                                       "file major",
                                                       "swap-in",
                                                       "huge",
                                                       "hugetlb",
                                                       "shared memory",
                                                       "shared write",
                                                       "zero-page write",
                                                       "SIGSEGV",
                                                       "SIGBUS",
                                                       "out of memory"};
  return fault_class == FaultClass::Open && failed ? "failed"
                                                   : kNames[static_cast<std::size_t>(fault_class)];
}

std::string_view name_of(PlaceKind kind) {
  constexpr std::array<std::string_view, 9> kNames = {"unknown",
                                                      "unmapped",
                                                      "file",
                                                      "heap",
                                                      "stack",
                                                      "anonymous",
                                                      "shared memory",
                                                      "hugetlb",
                                                      "special"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<FaultKeys> FaultKeys::choose(const ViewOptions& options,
                                    std::span<const std::string_view> names,
                                    std::uint64_t range_bytes) {
  std::vector<KeySpec> specs;
  specs.reserve(kOwnKeys.size());
  for (const OwnKey& key : kOwnKeys) {
    specs.push_back(key.spec);
  }
  auto chosen = KeySet::choose(options, names, specs);
  if (!chosen.ok()) {
    return chosen.take_error();
  }
  FaultKeys keys;
  keys.keys_ = chosen.take();
  keys.range_bytes_ = range_bytes;
  for (const OwnKey& key : kOwnKeys) {
    if (const auto index = keys.keys_.index_of(key.spec.name)) {
      keys.own_.push_back({*index, key.of});
    }
  }
  return keys;
}

KeyWords FaultKeys::of(const Fault& fault) const {
  KeyWords keys = fault.keys;
  for (const OwnWord& own : own_) {
    keys.words[own.index] = own.of(fault, range_bytes_);
  }
  return keys;
}

std::vector<Cell> FaultKeys::cells(const KeyWords& keys, const FaultContext& context) const {
  std::vector<Cell> cells = keys_.cells(keys, context);
  if (const auto index = keys_.index_of("class")) {
    const auto fault_class = static_cast<FaultClass>(keys.words[*index]);
    cells[*index] = cell_of(name_of(fault_class, context.failures_known()));
  }
  return cells;
}

FaultContext fault_context(const FaultEvents& seen, const World& world, View::Span span) {
  return {{.world = world, .span = span},
          seen.ends,
          seen.sampled,
          seen.error_codes && seen.page_allocs};
}

std::vector<std::string> place_notes(const FaultEvents& seen, const World& world) {
  if (!seen.any() || knows_places(world)) {
    return {};
  }
  return {
      "what is mapped at the addresses of faults is not known: the recording has only mappings "
      "of code; record with --for faults"};
}

std::vector<std::string> class_notes(const FaultEvents& seen, const World& world) {
  std::vector<std::string> notes;
  if (!seen.any() || !seen.ends) {
    return notes;
  }
  if (!knows_places(world)) {
    notes.emplace_back(
        "the only classes are minor, major, huge and failed: the recording has no mappings of "
        "data");
    return notes;
  }
  if (world.vmstat_growth().contains("pswpout")) {
    notes.emplace_back(kSwapCacheNote);
  }
  if (!seen.error_codes) {
    notes.emplace_back(
        "zero-fill and copy-on-write faults are not distinguished: only "
        "exceptions:page_fault_user reports whether the page was present");
  }
  if (!seen.page_allocs) {
    notes.emplace_back(
        "faults served with a huge page are not distinguished: the recording lacks "
        "kmem:mm_page_alloc");
  }
  return notes;
}

}  // namespace memtrace
