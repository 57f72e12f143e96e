#include "perf/file_in/file_header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "base/byte_reader.h"
#include "base/text.h"
#include "perf/record/record_bytes.h"

namespace memtrace {
namespace {

constexpr std::size_t kOldestAttrBytes = 64;  // PERF_ATTR_SIZE_VER0
constexpr std::size_t kNewestAttrBytes = 4096;

// Nothing when the section does not lie in the file as a whole.
std::optional<Bytes> section_of(Bytes file, FileSection section) {
  if (section.offset > file.size() || section.size_bytes > file.size() - section.offset) {
    return std::nullopt;
  }
  return file.subspan(section.offset, section.size_bytes);
}

Error cut_error(const std::string& path) {
  return {path + " is cut before its first event description",
          0,
          "the recorder was stopped at its very start or the copy is incomplete; record or copy it "
          "again"};
}

// The ids of events. Their sections lie one behind the other: where all of them may be the whole
// file, a small one has any number of ids.
class IdSections {
 public:
  explicit IdSections(Bytes file) : file_(file), room_bytes_(file.size()) {}

  // Nothing when they are not there, or when there are more than the file can hold.
  std::optional<std::vector<std::uint64_t>> read(FileSection section) {
    const auto bytes = section_of(file_, section);
    if (!bytes || bytes->size() > room_bytes_) {
      return std::nullopt;
    }
    room_bytes_ -= bytes->size();
    std::vector<std::uint64_t> ids(bytes->size() / sizeof(std::uint64_t));
    if (!ids.empty()) {  // memcpy(3) takes no null pointer, not even for no bytes
      std::memcpy(ids.data(), bytes->data(), ids.size() * sizeof(std::uint64_t));
    }
    return ids;
  }

 private:
  Bytes file_;
  std::size_t room_bytes_ = 0;
};

Result<> read_attrs(Bytes file, const FileHeader& header, RecordingBuilder& builder) {
  const auto attrs = section_of(file, header.attrs);
  const std::uint64_t entry_bytes = header.attr_size_bytes;
  const bool plausible =
      entry_bytes >= kOldestAttrBytes + sizeof(FileSection) && entry_bytes <= kNewestAttrBytes;
  if (!attrs || !plausible || attrs->size() < entry_bytes) {
    return Error{"no event description", 0, ""};
  }
  IdSections sections(file);
  for (std::size_t at = 0; at + entry_bytes <= attrs->size(); at += entry_bytes) {
    const std::size_t attr_bytes = entry_bytes - sizeof(FileSection);
    FileSection place;
    std::memcpy(&place, attrs->data() + at + attr_bytes, sizeof(place));
    const auto ids = sections.read(place);
    if (!ids) {
      builder.add_caveat(
          "The ids of some events are cut off; their samples cannot be distinguished.");
    }
    builder.add_event(attrs->subspan(at, attr_bytes), ids.value_or(std::vector<std::uint64_t>()));
  }
  return kDone;
}

// Features that memtrace's own writer puts before the data as well.
std::set<std::uint32_t> read_early_copy(Bytes file, std::size_t offset, RecordingBuilder& builder) {
  ByteReader reader(file.subspan(std::min(offset, file.size())));
  std::set<std::uint32_t> found;
  const auto early = reader.read<EarlyHeader>();
  if (early.magic != kEarlyMagic) {
    return found;
  }
  for (std::uint32_t i = 0; i < early.count; ++i) {
    const auto entry = reader.read<EarlyEntry>();
    const Bytes body = reader.take(entry.size_bytes);
    if (reader.failed()) {
      break;
    }
    builder.add_feature(entry.feature, body);
    found.insert(entry.feature);
    reader.skip(std::min(padded_to_8(body.size()) - body.size(), reader.remaining()));
  }
  return found;
}

bool has_feature(const FileHeader& header, std::uint32_t feature) {
  return (header.features[feature / 64] >> (feature % 64) & 1) != 0;
}

// The table of feature sections lies right behind the data, one entry for each bit that is set. An
// entry that points before the data is the early copy.
void read_feature_table(Bytes file,
                        const FileHeader& header,
                        const std::set<std::uint32_t>& known,
                        RecordingBuilder& builder) {
  const std::uint64_t table = header.data.offset + header.data.size_bytes;
  ByteReader reader(file.subspan(std::min<std::uint64_t>(table, file.size())));
  for (std::uint32_t feature = 0; feature < 64 * kFeatureMapWords; ++feature) {
    if (!has_feature(header, feature)) {
      continue;
    }
    const auto section = reader.read<FileSection>();
    const auto body = section_of(file, section);
    if (reader.failed() || !body) {
      builder.add_caveat(
          "The end of the file is cut off; the information stored there is missing.");
    } else if (!known.contains(feature) || section.offset >= table) {
      builder.add_feature(feature, *body);
    }
  }
}

DataRange find_data(Bytes file, const FileHeader& header, RecordingBuilder& builder) {
  const std::uint64_t offset = header.data.offset;
  const std::uint64_t size_bytes = header.data.size_bytes;
  if (offset > file.size()) {
    builder.add_caveat("The file is cut off before its first record.");
    return {file.size(), file.size()};
  }
  if (size_bytes == 0) {
    builder.add_caveat(offset < file.size()
                           ? "The recorder was killed before it could finish the file; its last "
                             "records may be missing."
                           : "The recorder was killed before it wrote a record: record again.");
    return {offset, file.size()};
  }
  if (size_bytes > file.size() - offset) {
    builder.add_caveat("The file is cut off; its last records are missing.");
    return {offset, file.size()};
  }
  return {offset, offset + size_bytes};
}

}  // namespace

Result<> check_magic(Bytes start, const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  ByteReader reader(start);
  const auto magic = reader.read<std::uint64_t>();
  if (start.empty()) {
    return Error{name + " is empty", 0, "the recording did not start; record again"};
  }
  if (magic == kMagicBigEndian) {
    return Error{name + " was recorded on a big-endian machine",
                 0,
                 "memtrace reads little-endian perf.data files only; use perf report for it"};
  }
  if (magic == kMagicVersion1) {
    return Error{name + " is a perf.data file of version 1 (PERFFILE)",
                 0,
                 "it was made by a perf older than Linux 3.7; record again with a newer one"};
  }
  if (start.size() >= 4 && std::memcmp(start.data(),
                                       "\x7f"
                                       "ELF",
                                       4) == 0) {
    return Error{name + " is a program (ELF), not a perf.data file",
                 0,
                 "to record a program: memtrace record -- PROGRAM"};
  }
  if (magic != kMagic || start.size() < sizeof(PipeHeader)) {
    return Error{
        name + " is not a perf.data file",
        0,
        "give a file made by 'memtrace record' or 'perf record', not compressed as a whole"};
  }
  return kDone;
}

Result<DataRange> read_file_head(Bytes file, const std::string& path, RecordingBuilder& builder) {
  FileHeader header;
  if (file.size() < sizeof(header)) {
    return cut_error(path);
  }
  std::memcpy(&header, file.data(), sizeof(header));
  if (!section_of(file, header.attrs)) {
    header.attrs = header.event_types;  // behind the data, and cut off
    builder.add_caveat("The end of the file is cut off; the information stored there is missing.");
  }
  if (!read_attrs(file, header, builder).ok()) {
    return cut_error(path);
  }
  const DataRange data = find_data(file, header, builder);
  const auto known = read_early_copy(file, header.attrs.offset + header.attrs.size_bytes, builder);
  if (header.data.size_bytes != 0 && data.end == header.data.offset + header.data.size_bytes) {
    read_feature_table(file, header, known, builder);
  }
  builder.complete_events();
  return data;
}

}  // namespace memtrace
