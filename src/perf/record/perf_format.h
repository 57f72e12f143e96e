// What a perf.data file is made of: structs, feature ids and the record types that perf adds to the
// kernel's. Source: tools/perf/util/{header,event}.h and
// tools/perf/Documentation/perf.data-file-format.txt, Linux 4.0 to 6.18.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace memtrace {

inline constexpr std::uint64_t kMagic = 0x32454c4946524550U;           // "PERFILE2"
inline constexpr std::uint64_t kMagicBigEndian = 0x50455246494c4532U;  // the same, bytes swapped
inline constexpr std::uint64_t kMagicVersion1 = 0x454c494646524550U;   // "PERFFILE"

struct FileSection {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

inline constexpr std::size_t kFeatureMapWords = 4;

struct FileHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t size_bytes = 0;
  std::uint64_t attr_size_bytes = 0;  // of one FileAttr: the attr and the section of its ids
  FileSection attrs;
  FileSection data;
  // Unused since Linux 3.0. memtrace puts here where the attrs before the data are, when those of
  // all events stand behind it.
  FileSection event_types;
  std::array<std::uint64_t, kFeatureMapWords> features{};
};

static_assert(sizeof(FileHeader) == 104);

struct PipeHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t size_bytes = 16;
};

static_assert(sizeof(PipeHeader) == 16);

struct RecordHeader {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint16_t size_bytes = 0;
};

static_assert(sizeof(RecordHeader) == 8);

inline RecordHeader header_of(std::span<const std::byte> record) {
  RecordHeader header;
  if (record.size() >= sizeof(header)) {
    std::memcpy(&header, record.data(), sizeof(header));
  }
  return header;
}

// Record types from here up are perf's own.
inline constexpr std::uint32_t kFirstUserType = 64;

inline constexpr std::uint32_t kHeaderAttr = 64;
inline constexpr std::uint32_t kEventType = 65;
// Followed by its payload, which header.size does not count.
inline constexpr std::uint32_t kTracingDataRecord = 66;
inline constexpr std::uint32_t kBuildIdRecord = 67;
inline constexpr std::uint32_t kFinishedRound = 68;
inline constexpr std::uint32_t kIdIndex = 69;
inline constexpr std::uint32_t kAuxTrace = 71;  // followed by a payload as well
inline constexpr std::uint32_t kEventUpdate = 78;
inline constexpr std::uint32_t kHeaderFeature = 80;
inline constexpr std::uint32_t kCompressed = 81;
inline constexpr std::uint32_t kCompressed2 = 83;

// EVENT_UPDATE's kinds: only names are of use here.
inline constexpr std::uint64_t kUpdateName = 2;

// Feature sections.
inline constexpr std::uint32_t kTracingData = 1;
inline constexpr std::uint32_t kBuildId = 2;
inline constexpr std::uint32_t kHostName = 3;
inline constexpr std::uint32_t kOsRelease = 4;
inline constexpr std::uint32_t kVersion = 5;
inline constexpr std::uint32_t kArch = 6;
inline constexpr std::uint32_t kCpuCount = 7;
inline constexpr std::uint32_t kCpuDescription = 8;
inline constexpr std::uint32_t kTotalMemory = 10;
inline constexpr std::uint32_t kCommandLine = 11;
inline constexpr std::uint32_t kEventDescription = 12;
inline constexpr std::uint32_t kSampleTime = 21;
inline constexpr std::uint32_t kClockId = 23;
inline constexpr std::uint32_t kDirFormat = 24;
inline constexpr std::uint32_t kCompression = 27;
inline constexpr std::uint32_t kClockData = 29;

// Feature sections of our own, far above those that perf numbers (perf 6.1 skips what it does not
// know up to bit 255).
inline constexpr std::uint32_t kSymbolsFeature = 200;
inline constexpr std::uint32_t kAboutFeature = 201;
inline constexpr std::uint32_t kIdentitiesFeature = 202;
inline constexpr std::uint32_t kPartFeature = 204;
// A kind of EVENT_UPDATE: an event that was added while recording, for the reader of a file that
// was never finished.
inline constexpr std::uint32_t kAddedEvent = 203;

// memtrace's early copy: right after the attrs, before the data. {magic, count, size of all}, then
// `count` times {feature id, 0, size, bytes padded to 8}.
inline constexpr std::uint64_t kEarlyMagic = 0x31594c524145544dU;  // "MTEARLY1"

struct EarlyHeader {
  std::uint64_t magic = kEarlyMagic;
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
};

struct EarlyEntry {
  std::uint32_t feature = 0;
  std::uint32_t reserved = 0;
  std::uint64_t size_bytes = 0;
};

// misc of a build id's record: the size byte behind the id is valid (Linux 5.12).
inline constexpr std::uint16_t kMiscBuildIdSize = 1U << 15;

inline constexpr std::size_t padded_to_8(std::size_t size_bytes) {
  return (size_bytes + 7) & ~std::size_t{7};
}

}  // namespace memtrace
