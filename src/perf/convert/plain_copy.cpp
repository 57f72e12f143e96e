#include "perf/convert/plain_copy.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>

#include "base/byte_reader.h"
#include "perf/file_in/file_header.h"
#include "perf/file_in/file_input.h"
#include "perf/file_out/async_output.h"
#include "perf/file_out/output_file.h"
#include "perf/record/perf_format.h"
#include "perf/unpack/zstd_reader.h"

namespace memtrace {
namespace {

using Bytes = std::span<const std::byte>;

// Where the parts of a perf.data file lie:
//
//   header | attrs ... | records               | feature table | features, attrs
//   0                  data.offset             data end                          end of file
//
// In a pipe's file records follow the short header at once, up to the end.
struct Parts {
  FileHeader header;
  std::uint64_t data_offset = sizeof(PipeHeader);
  std::uint64_t data_end = 0;
  bool is_finished = false;  // there is something behind the records, and the header knows where
};

Error damaged(const std::string& path, std::uint64_t position, const std::string& why) {
  return {fmt::format("{} is damaged at byte {}: {}", path, position, why),
          0,
          "memtrace report reads what is before it"};
}

Result<Parts> find_parts(Bytes file, const std::string& path) {
  TRY(check_magic(file.first(std::min(file.size(), sizeof(PipeHeader))), path));
  PipeHeader pipe;
  std::memcpy(&pipe, file.data(), sizeof(pipe));
  Parts parts;
  parts.data_end = file.size();
  if (pipe.size_bytes == sizeof(pipe)) {
    return parts;
  }
  if (file.size() < sizeof(parts.header)) {
    return damaged(path, file.size(), "it ends within its header");
  }
  std::memcpy(&parts.header, file.data(), sizeof(parts.header));
  const FileSection& data = parts.header.data;
  if (data.offset < sizeof(parts.header) || data.offset > file.size() ||
      data.size_bytes > file.size() - data.offset) {
    return damaged(path, file.size(), "its records are cut off");
  }
  parts.data_offset = data.offset;
  parts.is_finished = data.size_bytes != 0;
  if (parts.is_finished) {
    parts.data_end = data.offset + data.size_bytes;
  }
  return parts;
}

// COMPRESSED2 says how many of its bytes are no padding.
Bytes unpadded(ByteReader& body) {
  const auto size_bytes = body.read<std::uint64_t>();
  return body.take(std::min<std::uint64_t>(size_bytes, body.remaining()));
}

class PlainCopier {
 public:
  PlainCopier(Bytes file, const std::string& path, const Parts& parts, UniqueFd output)
      : file_(file), path_(path), parts_(parts), output_(std::move(output)) {}

  Result<PlainCopy> copy() {
    append_in_pieces(file_.first(parts_.data_offset));
    while (position_ < parts_.data_end) {
      TRY(copy_one());
    }
    copy_.compressed_bytes = parts_.data_end - parts_.data_offset;
    copy_.plain_bytes = plain_bytes_;
    if (parts_.is_finished) {
      copy_end();
    }
    output_.drain();
    if (output_.failure() != 0) {
      return Error{"write", output_.failure(), "make room on the disk"};
    }
    return parts_.is_finished ? finish_header() : Result<PlainCopy>(copy_);
  }

 private:
  // One record of the file, with what follows it without being counted in its size.
  Result<> copy_one() {
    const Bytes rest = file_.subspan(position_, parts_.data_end - position_);
    const RecordHeader header = header_of(rest);
    if (rest.size() < sizeof(header) || header.size_bytes < sizeof(header) ||
        header.size_bytes > rest.size()) {
      return damaged(path_, position_, "a record has an impossible size");
    }
    ByteReader body(rest.first(header.size_bytes));
    body.skip(sizeof(header));
    switch (header.type) {
      case kCompressed:
        TRY(unpack(body.take(body.remaining())));
        break;
      case kCompressed2:
        TRY(unpack(unpadded(body)));
        break;
      case kHeaderFeature:  // of a pipe
        if (body.read<std::uint64_t>() != kCompression) {
          put(rest.first(header.size_bytes));
        }
        break;
      default:
        return copy_with_payload(rest, header, body);
    }
    position_ += header.size_bytes;
    return kDone;
  }

  Result<> copy_with_payload(Bytes rest, const RecordHeader& header, ByteReader& body) {
    std::uint64_t payload_bytes = 0;
    if (header.type == kTracingDataRecord) {
      payload_bytes = padded_to_8(body.read<std::uint32_t>());
    } else if (header.type == kAuxTrace) {
      payload_bytes = body.read<std::uint64_t>();
    }
    if (payload_bytes > rest.size() - header.size_bytes) {
      return damaged(path_, position_, "the last record is cut off");
    }
    put(rest.first(header.size_bytes + payload_bytes));
    position_ += header.size_bytes + payload_bytes;
    return kDone;
  }

  Result<> unpack(Bytes payload) {
    zstd_.feed(payload);
    while (true) {
      const auto record = zstd_.next();
      if (!record.ok()) {
        return damaged(path_, position_, record.error().message);
      }
      if (!record.value()) {
        return output_.failure() == 0 ? Result<>(kDone)
                                      : Error{"write", output_.failure(), "make room on the disk"};
      }
      put(*record.value());
    }
  }

  void put(Bytes bytes) {
    output_.append(bytes);
    plain_bytes_ += bytes.size();
  }

  // Behind the records everything moves by the same distance. The table of features has an entry
  // for each bit of the header in order: that of the compression goes, and what it took stays empty
  // between the table and the first feature.
  void copy_end() {
    const Bytes end = file_.subspan(parts_.data_end);
    ByteReader table(end);
    std::vector<FileSection> sections;
    for (std::uint32_t feature = 0; feature < 64 * kFeatureMapWords; ++feature) {
      if (!has_feature(feature)) {
        continue;
      }
      auto section = table.read<FileSection>();
      move(section);
      if (feature != kCompression) {
        sections.push_back(section);
      }
    }
    const std::size_t table_bytes = end.size() - table.remaining();
    const Bytes moved = std::as_bytes(std::span(sections));
    output_.append(moved);
    output_.append(std::vector<std::byte>(table_bytes - std::min(table_bytes, moved.size())));
    copy_features(end.subspan(table_bytes));
  }

  // AsyncOutput holds all bytes of one call in memory, and the end of a file may be large.
  void append_in_pieces(Bytes bytes) {
    while (!bytes.empty()) {
      const Bytes piece = bytes.first(std::min(bytes.size(), AsyncOutput::kBlockBytes));
      output_.append(piece);
      bytes = bytes.subspan(piece.size());
    }
  }

  // The ids of events may stand behind the records with their attrs, which say where.
  void copy_features(Bytes rest) {
    const std::uint64_t offset = file_.size() - rest.size();
    const FileSection& attrs = parts_.header.attrs;
    const std::uint64_t entry_bytes = parts_.header.attr_size_bytes;
    if (attrs.offset < offset || entry_bytes <= sizeof(FileSection)) {
      append_in_pieces(rest);
      return;
    }
    const std::uint64_t begin = std::min(attrs.offset - offset, rest.size());
    append_in_pieces(rest.first(begin));
    rest = rest.subspan(begin);
    std::uint64_t attrs_left = std::min(attrs.size_bytes, rest.size());
    for (; attrs_left >= entry_bytes; attrs_left -= entry_bytes) {
      FileSection ids;
      std::memcpy(&ids, rest.data() + entry_bytes - sizeof(ids), sizeof(ids));
      move(ids);
      output_.append(rest.first(entry_bytes - sizeof(ids)));
      output_.append(std::as_bytes(std::span(&ids, 1)));
      rest = rest.subspan(entry_bytes);
    }
    append_in_pieces(rest);
  }

  Result<PlainCopy> finish_header() {
    FileHeader header = parts_.header;
    header.data.size_bytes = plain_bytes_;
    move(header.attrs);
    header.features[kCompression / 64] &= ~(std::uint64_t{1} << (kCompression % 64));
    if (::pwrite(output_.fd(), &header, sizeof(header), 0) != sizeof(header)) {
      return Error{"write", errno, "make room on the disk"};
    }
    return copy_;
  }

  void move(FileSection& section) const {
    if (section.offset >= parts_.data_end) {
      section.offset += plain_bytes_ - (parts_.data_end - parts_.data_offset);
    }
  }

  bool has_feature(std::uint32_t feature) const {
    return (parts_.header.features[feature / 64] >> (feature % 64) & 1) != 0;
  }

  Bytes file_;
  const std::string& path_;
  const Parts& parts_;
  AsyncOutput output_;
  ZstdReader zstd_;
  std::uint64_t position_ = parts_.data_offset;
  std::uint64_t plain_bytes_ = 0;
  PlainCopy copy_;
};

}  // namespace

Result<PlainCopy> make_plain_copy(const std::string& from, const std::string& to) {
  if (from == "-") {
    return Error{"a recording from a pipe",
                 0,
                 "'memtrace record -o -' does not compress it: there is nothing to convert",
                 ErrorKind::Usage};
  }
  auto input = FileInput::open(from);
  if (!input.ok()) {
    return input.take_error();
  }
  TRY(input.value().read_all());
  auto parts = find_parts(input.value().whole(), from);
  if (!parts.ok()) {
    return parts.take_error();
  }
  auto output = OutputFile::create(to, nullptr);
  if (!output.ok()) {
    return output.take_error();
  }
  if (output.value().is_stream()) {
    return Error{to + " is no regular file",
                 0,
                 "the header is written last: give the name of a file",
                 ErrorKind::Usage};
  }
  PlainCopier copier(input.value().whole(), from, parts.value(), output.value().take_fd());
  auto copied = copier.copy();
  if (copied.ok() && input.value().was_cut()) {
    copied = Error{from + " became shorter while it was read", 0, "copy it again"};
  }
  if (!copied.ok()) {
    output.value().take_back();
  }
  return copied;
}

}  // namespace memtrace
