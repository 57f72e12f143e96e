#include "perf/file_in/file_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "os/system.h"
#include "perf/ahead/ahead_source.h"
#include "perf/file_in/file_header.h"
#include "perf/file_in/file_input.h"
#include "perf/file_in/file_losses.h"
#include "perf/file_in/group_source.h"
#include "perf/file_in/header_records.h"
#include "perf/file_in/record_sorter.h"
#include "perf/file_in/record_unpacker.h"
#include "perf/file_in/recording_builder.h"
#include "perf/record/perf_format.h"
#include "perf/record/record_bytes.h"
#include "perf/unpack/payload_walk.h"
#include "perf/unpack/record_keeper.h"

namespace memtrace {
namespace {

constexpr std::size_t kAlignment = 8;
// Far enough that memory has answered when the record is looked at; a prefetch cannot fault.
constexpr std::size_t kReadAheadBytes = 1024;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
// All formats of a machine together have some 3 MB, RHEL 6's kallsyms 4 MB.
constexpr std::uint64_t kTracingDataMaxBytes = std::uint64_t{1} << 28;

// input -> (decompressed) -> sorted -> parsed. Records are parsed when they go out: until then the
// sorter holds only their times and places.
class FileSource final : public HoldingSource {
 public:
  FileSource(FileInput input, std::string path)
      : input_(std::move(input)), path_(std::move(path)) {}

  // Reads all that must be known before the first record goes out.
  Result<> start();

  Result<std::optional<Record>> next() override;
  Result<std::optional<Held>> take() override;

  void release(std::uint64_t number) override { keeper_.release(number); }

  void on_change(std::function<void()> before) override { before_change_ = std::move(before); }

  // Only a file can be, and only before its records are asked for.
  bool can_be_read_ahead() const { return input_.is_mapped(); }

  void unpack_ahead();

  const Recording& recording() const override { return builder_.recording(); }

  void release_texts() override { builder_.release_texts(); }

  RecordingBuilder& builder() { return builder_; }

 private:
  Result<> read_one();
  Result<> handle_user_record(Bytes record);
  Result<> read_payload(std::uint64_t size_bytes, bool is_tracing_data);
  void unpack();
  void add_record(Bytes record, const RecordMemory& memory);
  void stop(std::string caveat);
  void end();
  void note_cut();
  void announce_change() const;
  Held record_of(const RecordSorter::Entry& entry);

  FileInput input_;
  std::string path_;
  RecordingBuilder builder_;
  RecordSorter sorter_;
  RecordKeeper keeper_;
  RecordUnpacker unpacker_;
  RecordCopies copies_;
  std::uint64_t data_end_ = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> lent_;  // number of the record that next() gave out
  std::function<void()> before_change_;
  std::uint64_t given_time_ns_ = 0;
  FileLosses losses_;
  bool has_records_ = false;
  bool ended_ = false;
  bool told_cut_ = false;
};

Result<> FileSource::start() {
  TRY(input_.fill(sizeof(PipeHeader)));
  TRY(check_magic(input_.window(), path_));
  PipeHeader header;
  std::memcpy(&header, input_.window().data(), sizeof(header));
  if (header.size_bytes != sizeof(header)) {
    TRY(input_.read_all());
    auto data = read_file_head(input_.whole(), path_, builder_);
    if (!data.ok()) {
      return data.take_error();
    }
    input_.seek(data.value().offset);
    data_end_ = data.value().end;
    return kDone;
  }
  input_.consume(sizeof(header));
  while (!has_records_ && !ended_) {
    TRY(read_one());
  }
  builder_.complete_events();  // the first record needs its event's format
  if (builder_.recording().events.empty()) {
    return Error{path_ + " is cut before its first event description",
                 0,
                 "did the recording program at the other end of the pipe start?"};
  }
  return kDone;
}

void FileSource::unpack_ahead() {
  const auto whole = input_.whole();
  const std::uint64_t end = std::min<std::uint64_t>(data_end_, whole.size());
  const std::uint64_t start = std::min(input_.position(), end);
  unpacker_.unpack_ahead(whole.subspan(start, end - start));
}

Result<std::optional<Record>> FileSource::next() {
  if (lent_) {
    keeper_.release(*lent_);
    lent_.reset();
  }
  auto taken = take();
  if (!taken.ok()) {
    return taken.take_error();
  }
  Result<std::optional<Record>> result{std::optional<Record>()};
  if (taken.value()) {
    lent_ = taken.value()->number;
    result.value().emplace(taken.value()->record);
  }
  return result;
}

Result<std::optional<HoldingSource::Held>> FileSource::take() {
  while (true) {
    if (const auto entry = sorter_.pop()) {
      Result<std::optional<Held>> result{std::optional<Held>()};
      result.value().emplace(record_of(*entry));
      return result;
    }
    if (auto late = losses_.next_late(sorter_.late_count(), given_time_ns_)) {
      return std::optional<Held>({.record = *late, .number = {}});
    }
    if (ended_) {
      note_cut();
      return std::optional<Held>();
    }
    TRY(read_one());
  }
}

void FileSource::announce_change() const {
  if (before_change_) {
    before_change_();
  }
}

// The file's owner may do so at any time, until the last record has been given out.
void FileSource::note_cut() {
  if (input_.was_cut() && !std::exchange(told_cut_, true)) {
    announce_change();
    builder_.add_caveat(
        "The file became shorter while it was read, or its disk cannot be read; its last records "
        "are missing.");
  }
}

HoldingSource::Held FileSource::record_of(const RecordSorter::Entry& entry) {
  given_time_ns_ = entry.time_ns;
  const std::size_t size_bytes = header_of({entry.record, sizeof(RecordHeader)}).size_bytes;
  auto parsed = builder_.parser().parse({entry.record, size_bytes});
  if (!parsed.ok()) {
    parsed = Record{.stamp = {}, .payload = Lost{1, LossReason::Malformed}, .bytes = {}};
  } else if (std::holds_alternative<Lost>(parsed.value().payload)) {
    losses_.count_once(parsed.value());
  }
  // A record without a time has that of the one before it in the file: times never go back.
  parsed.value().stamp.time_ns = entry.time_ns;
  parsed.value().stamp.sequence = entry.sequence;
  return {.record = parsed.value(), .number = entry.sequence};
}

void FileSource::end() {
  announce_change();
  ended_ = true;
  builder_.complete_events();
  builder_.note_missing_formats();
  unpacker_.end();
  sorter_.finish();
}

void FileSource::stop(std::string caveat) {
  announce_change();
  if (!input_.was_cut()) {  // else note_cut() has the reason
    builder_.add_caveat(std::move(caveat));
  }
  end();
}

// One record of the file or pipe.
Result<> FileSource::read_one() {
  if (unpacker_.has_more()) {
    unpack();
    return kDone;
  }
  if (input_.window().size() < sizeof(RecordHeader)) {
    TRY(input_.fill(sizeof(RecordHeader)));
  }
  const std::uint64_t left_bytes = data_end_ - std::min(input_.position(), data_end_);
  if (left_bytes == 0 || input_.window().empty()) {
    end();
    return kDone;
  }
  const bool has_header = input_.window().size() >= sizeof(RecordHeader);
  const std::size_t size_bytes = header_of(input_.window()).size_bytes;
  if (has_header && size_bytes < sizeof(RecordHeader)) {
    stop(fmt::format("The record at byte {} has an impossible size; nothing behind it was read.",
                     input_.position()));
    return kDone;
  }
  if (input_.window().size() < size_bytes) {
    TRY(input_.fill(size_bytes));
  }
  if (!has_header || std::min<std::uint64_t>(input_.window().size(), left_bytes) < size_bytes) {
    stop("The last record is cut off.");
    return kDone;
  }
  const Bytes record = input_.window().first(size_bytes);
  __builtin_prefetch(record.data() + kReadAheadBytes);
  input_.consume(size_bytes);
  if (header_of(record).type >= kFirstUserType) {
    return handle_user_record(record);
  }
  add_record(record, input_.memory());
  return kDone;
}

Result<> FileSource::handle_user_record(Bytes record) {
  switch (header_of(record).type) {
    case kFinishedRound:
      unpacker_.begin_round();
      sorter_.finish_round();
      return kDone;
    case kCompressed:
    case kCompressed2:
      unpacker_.feed(*packed_payload(record));
      unpack();
      return kDone;
    case kTracingDataRecord:
      return read_payload(bytes_behind(record), true);
    case kAuxTrace:
      return read_payload(bytes_behind(record), false);
    default:
      announce_change();
      read_header_record(record, builder_);
      return kDone;
  }
}

// What follows a record without being counted in its size.
Result<> FileSource::read_payload(std::uint64_t size_bytes, bool is_tracing_data) {
  if (is_tracing_data && size_bytes > kTracingDataMaxBytes) {
    stop("The tracing data has an impossible size; nothing behind it was read.");
    return kDone;
  }
  while (size_bytes > 0) {
    const std::size_t wanted_bytes =
        is_tracing_data ? size_bytes : std::min<std::uint64_t>(size_bytes, kPieceBytes);
    TRY(input_.fill(wanted_bytes));
    const Bytes piece = input_.window().first(std::min(wanted_bytes, input_.window().size()));
    if (is_tracing_data) {
      announce_change();
      builder_.add_feature(kTracingData, piece);
    }
    input_.consume(piece.size());
    if (piece.size() < wanted_bytes) {
      stop("The last record is cut off.");
      return kDone;
    }
    size_bytes -= wanted_bytes;
  }
  return kDone;
}

// All of what is packed, or as much as may be held: the rest waits until that has been given out.
void FileSource::unpack() {
  while (true) {
    auto record = unpacker_.next();
    if (!record.ok()) {
      stop("The compressed data is damaged (" + record.error().message +
           "); nothing behind it was read.");
      return;
    }
    if (!record.value()) {
      return;
    }
    add_record(*record.value(), unpacker_.memory());
    if (unpacker_.is_full()) {
      sorter_.finish_round();
      return;
    }
  }
}

void FileSource::add_record(Bytes record, const RecordMemory& memory) {
  has_records_ = true;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(record.data()) % kAlignment == 0;
  const Bytes bytes = is_aligned ? record : copies_.copy(record);
  const bool is_sample = header_of(bytes).type == PERF_RECORD_SAMPLE;
  const auto late = is_sample ? RecordSorter::Late::Drop : RecordSorter::Late::GiveOut;
  const auto sequence = sorter_.add(builder_.parser().time_ns(bytes), bytes.data(), late);
  if (sequence) {
    keeper_.keep(*sequence, is_aligned ? memory : copies_.memory());
  }
}

}  // namespace

Result<std::unique_ptr<RecordSource>> open_file_source(const std::string& path, ReadAhead ahead) {
  auto input = FileInput::open(path);
  if (!input.ok()) {
    return input.take_error();
  }
  auto source = std::make_unique<FileSource>(input.take(), path);
  TRY(source->start());
  RecordingBuilder& builder = source->builder();
  const bool has_cpu = ahead == ReadAhead::IfCpus && usable_cpu_count() > 1;
  std::unique_ptr<RecordSource> records;
  if (has_cpu && source->can_be_read_ahead()) {  // a pipe's records are wanted as they come
    source->unpack_ahead();
    records = std::make_unique<AheadSource>(std::move(source));
  } else {
    records = std::move(source);
  }
  return with_groups(std::move(records), builder.group_counts(), builder.parser());
}

}  // namespace memtrace
