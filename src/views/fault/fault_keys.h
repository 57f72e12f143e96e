// What a page fault is called, and the keys that only page faults have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "views/fault/fault_pairing.h"
#include "views/kit/keys.h"

namespace memtrace {

enum class FaultAccess : std::uint64_t { Unknown, Read, Write, Exec };

// As far as the recording shows; Open: no event has shown how it ended.
enum class FaultClass : std::uint64_t {
  Open,
  Minor,
  Major,
  ZeroFill,
  CopyOnWrite,
  FileMinor,
  FileMajor,
  SwapIn,
  Huge,
  Hugetlb,
  SharedMemory,
  SharedWrite,
  ZeroPageWrite,
  Segv,
  Bus,
  OutOfMemory,
};

// Precise for x86's error codes only.
FaultAccess access_of(const PageFault& fault);
FaultClass class_of(const Fault& fault);

std::string_view name_of(FaultAccess access);
// With `failed` for those that stayed open.
std::string_view name_of(FaultClass fault_class, bool failed);
std::string_view name_of(PlaceKind kind);

// What the columns of faults need to know of the recording.
struct FaultContext : CellContext {
  bool ends_seen = false;    // ends of page faults are recorded
  bool sampled = false;      // one in N: that an event is missing says nothing
  bool sizes_known = false;  // error codes and allocations of large folios are recorded

  bool failures_known() const { return ends_seen && !sampled; }

  // What faults made resident.
  bool resident_known() const { return failures_known() && sizes_known; }
};

FaultContext fault_context(const FaultEvents& seen, const World& world, View::Span span);

// What the keys of a fault are: its own (access, class, mode, page, kind, file, size, offset), and
// those that all events have.
class FaultKeys {
 public:
  // As KeySet::choose. Offsets of files are grouped in ranges of this many bytes.
  static Result<FaultKeys> choose(const ViewOptions& options,
                                  std::span<const std::string_view> names,
                                  std::uint64_t range_bytes = 4096);

  const KeySet& shared() const { return keys_; }

  KeyWords of(const Fault& fault) const;

  std::size_t size() const { return keys_.size(); }

  bool has(std::string_view name) const { return keys_.index_of(name).has_value(); }

  bool needs_resolving() const { return keys_.needs_resolving(); }

  KeyWords resolve_late(KeyWords keys, const CellContext& context) const {
    return keys_.resolve_late(keys, context);
  }

  std::vector<Column> columns() const { return keys_.columns(); }

  std::vector<Cell> cells(const KeyWords& keys, const FaultContext& context) const;

 private:
  struct OwnWord {
    std::size_t index = 0;
    std::uint64_t (*of)(const Fault& fault, std::uint64_t range_bytes) = nullptr;
  };

  KeySet keys_;
  std::vector<OwnWord> own_;
  std::uint64_t range_bytes_ = 0;
};

// If pages were swapped out during the recording.
inline constexpr std::string_view kSwapCacheNote =
    "the machine swapped while recording: faults on pages that were still in the swap cache are "
    "minor and look like faults on fresh pages";

// Why it is not known what is at the addresses, also for keys of places.
std::vector<std::string> place_notes(const FaultEvents& seen, const World& world);

// Why classes are not as precise as they could be: notes for a report that shows them.
std::vector<std::string> class_notes(const FaultEvents& seen, const World& world);

}  // namespace memtrace
