#include "perf/file_out/file_writer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

#include "perf/file_out/async_output.h"
#include "perf/file_out/cut_points.h"
#include "perf/file_out/feature_writer.h"
#include "perf/file_out/file_sections.h"
#include "perf/file_out/output_file.h"
#include "perf/file_out/pipe_writer.h"
#include "perf/file_out/zstd_writer.h"
#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

using Bytes = std::span<const std::byte>;
using Clock = std::chrono::steady_clock;

// The most that may be missing from the file of a recorder that was killed.
constexpr auto kFlushInterval = std::chrono::seconds(1);
// Room beyond the end sections that is made on a full disk: file systems give it out in blocks.
constexpr std::uint64_t kSpareBytes = std::uint64_t{16} << 10;
constexpr int kCutAttempts = 6;

class DataFileWriter final : public FileWriter {
 public:
  DataFileWriter(OutputFile file, const WriterSetup& setup)
      : file_(std::move(file)),
        setup_(setup),
        sections_(setup),
        output_(file_.take_fd(), setup.stop_signals),
        zstd_level_(setup.zstd_level) {
    if (zstd_level_ != 0) {
      zstd_.emplace(zstd_level_);
    }
  }

  Result<> start();
  Result<> add_events(const std::vector<WrittenEvent>& events) override;
  Result<> write(Bytes record) override;
  Result<> write_packed(const PackedPiece& piece) override;
  Result<> finish_round() override;
  Result<> finish(const Recording& end) override;

  void set_about(AboutText about) override { about_ = std::move(about); }

  void abandon() override { file_.take_back(); }

  std::optional<CreatedFile> created_file() const override { return file_.created_file(); }

  std::uint64_t bytes_written() const override { return output_.appended_bytes(); }

  std::uint64_t samples_lost() const override { return samples_lost_; }

 private:
  Result<> state() const;
  Result<> put(Bytes records, std::uint64_t sample_count, bool begins_block);
  Result<> put_pieces(const std::vector<ZstdPiece>& pieces);
  Result<> put_round();
  Result<> write_end(Bytes end_sections);
  Result<> cut_data(std::uint64_t wanted_end);
  Result<> write_at_start(Bytes header);
  std::size_t drop_large_names(std::vector<FeatureBody>& features) const;
  void refresh_about(std::vector<FeatureBody>& features) const;
  Result<> make_room(std::vector<FeatureBody>& features, std::uint64_t room_bytes);

  OutputFile file_;
  WriterSetup setup_;
  bool has_added_events_ = false;
  FileSections sections_;
  AsyncOutput output_;
  std::optional<ZstdWriter> zstd_;
  int zstd_level_ = 0;
  bool round_ended_ = false;  // of what zstd_ holds
  DataBlocks blocks_;
  Clock::time_point flushed_at_ = Clock::now();
  std::uint64_t data_end_ = 0;  // offset in the file
  std::uint64_t samples_lost_ = 0;
  AboutText about_;
};

// A full disk is no error: it ends the recording's growth, not the recording.
Result<> DataFileWriter::state() const {
  const int failure = output_.failure();
  if (failure == ETIMEDOUT) {
    return Error{"write(" + file_.path() + "): the disk does not answer",
                 0,
                 "memtrace received a signal to end and stopped waiting for it; what was written "
                 "before can be read"};
  }
  if (failure != 0 && !is_disk_full(failure)) {
    return Error{"write(" + file_.path() + ")", failure, "give another place with -o FILE"};
  }
  return kDone;
}

Result<> DataFileWriter::start() {
  output_.append(sections_.head());
  output_.drain();
  if (output_.failure() != 0) {
    return Error{
        "write(" + file_.path() + ")", output_.failure(), "give another place with -o FILE"};
  }
  return kDone;
}

Result<> DataFileWriter::add_events(const std::vector<WrittenEvent>& events) {
  TRY(zstd_ ? put_pieces(zstd_->drain()) : Result<>(kDone));
  for (const WrittenEvent& event : events) {
    const auto record = added_event_record(event, setup_.events.front().ids.front());
    TRY(record.empty() ? Result<>(kDone) : put(record, 0, true));
    setup_.events.push_back(event);
  }
  sections_.set_events(setup_.events);
  has_added_events_ = true;
  return kDone;
}

Result<> DataFileWriter::write(Bytes record) {
  if (zstd_) {
    return zstd_->append(record) ? put_pieces(zstd_->take()) : Result<>(kDone);
  }
  const bool is_sample = header_of(record).type == PERF_RECORD_SAMPLE;
  return put(record, is_sample ? 1 : 0, false);
}

Result<> DataFileWriter::put(Bytes records, std::uint64_t sample_count, bool begins_block) {
  if (output_.failure() != 0) {
    samples_lost_ += sample_count;
    return state();
  }
  if (begins_block || output_.begins_block(records.size())) {
    blocks_.begin(output_.appended_bytes());
  }
  blocks_.count(sample_count);
  output_.append(records);
  return kDone;
}

Result<> DataFileWriter::put_round() {
  const RecordHeader round{.type = kFinishedRound, .misc = 0, .size_bytes = sizeof(RecordHeader)};
  return put(std::as_bytes(std::span(&round, 1)), 0, false);
}

Result<> DataFileWriter::write_packed(const PackedPiece& piece) {
  if (!zstd_) {
    return FileWriter::write_packed(piece);
  }
  TRY(put_pieces(zstd_->drain()));
  TRY(put(piece.bytes, piece.sample_count, true));
  return std::exchange(round_ended_, false) ? put_round() : Result<>(kDone);
}

// perf writes the ends of rounds between COMPRESSED records. As records come in time order, one may
// stand later than where the round ended.
Result<> DataFileWriter::put_pieces(const std::vector<ZstdPiece>& pieces) {
  for (const ZstdPiece& piece : pieces) {
    TRY(put(piece.bytes, piece.sample_count, true));
    TRY(std::exchange(round_ended_, false) ? put_round() : Result<>(kDone));
  }
  return kDone;
}

Result<> DataFileWriter::finish_round() {
  round_ended_ = true;
  if (!zstd_) {
    TRY(put_round());
  }
  if (Clock::now() - flushed_at_ >= kFlushInterval) {
    TRY(zstd_ ? put_pieces(zstd_->drain()) : Result<>(kDone));
    output_.flush();
    flushed_at_ = Clock::now();
  }
  return kDone;
}

// Ends the data at a record's end not behind wanted_end and forgets the failure.
Result<> DataFileWriter::cut_data(std::uint64_t wanted_end) {
  auto kept = blocks_.cut(output_.fd(), std::max(wanted_end, sections_.data_offset()));
  if (!kept.ok()) {
    return kept.take_error();
  }
  data_end_ = std::max(kept.value().end, sections_.data_offset());
  samples_lost_ += kept.value().samples_cut;
  const auto end = static_cast<off_t>(data_end_);
  if (::ftruncate(output_.fd(), end) != 0 || ::lseek(output_.fd(), end, SEEK_SET) < 0) {
    return Error{
        "ftruncate(" + file_.path() + ")", errno, "make room on the disk and record again"};
  }
  output_.clear_failure();
  return kDone;
}

// Behind the data, cut back as often as it takes on a full disk.
Result<> DataFileWriter::write_end(Bytes end_sections) {
  output_.append(end_sections);
  output_.drain();
  if (output_.failure() == 0) {
    return write_at_start(sections_.finished_header(data_end_));
  }
  TRY(state());
  return Error{"write(" + file_.path() + ")", output_.failure(), "make room on the disk"};
}

Result<> DataFileWriter::write_at_start(Bytes header) {
  const ssize_t count = ::pwrite(output_.fd(), header.data(), header.size(), 0);
  if (count != static_cast<ssize_t>(header.size())) {
    return Error{"write(" + file_.path() + ")", errno, "make room on the disk and record again"};
  }
  return kDone;
}

// On a full disk: names can be found again, samples cannot. Returns how many sections went.
std::size_t DataFileWriter::drop_large_names(std::vector<FeatureBody>& features) const {
  const std::uint64_t bearable_bytes = data_end_ / 16;
  return std::erase_if(features, [bearable_bytes](const FeatureBody& body) {
    return body.feature == kSymbolsFeature && body.bytes.size() > bearable_bytes;
  });
}

void DataFileWriter::refresh_about(std::vector<FeatureBody>& features) const {
  for (FeatureBody& body : features) {
    if (body.feature == kAboutFeature && about_) {
      const std::string text = about_(samples_lost_);
      const auto bytes = std::as_bytes(std::span(text));
      body.bytes.assign(bytes.begin(), bytes.end());
    }
  }
}

// The disk is full: without the names all the data may fit, else the end of the data has to go.
Result<> DataFileWriter::make_room(std::vector<FeatureBody>& features, std::uint64_t room_bytes) {
  const bool is_smaller = drop_large_names(features) > 0;
  const std::uint64_t tail_bytes =
      is_smaller ? 0 : sections_.end_sections(features, data_end_).size() + room_bytes;
  TRY(cut_data(data_end_ - std::min(data_end_, tail_bytes)));
  refresh_about(features);
  return kDone;
}

Result<> DataFileWriter::finish(const Recording& end) {
  std::vector<FeatureBody> features = end_features(end);
  if (has_added_events_) {
    std::ranges::move(event_features(setup_), std::back_inserter(features));
  }
  if (zstd_) {
    TRY(put_pieces(zstd_->drain()));
    features.push_back(compression_feature(zstd_level_, zstd_->ratio()));
  }
  output_.drain();
  TRY(state());
  data_end_ = output_.written_bytes();
  std::uint64_t room_bytes = kSpareBytes;
  for (int turn = 0; turn < kCutAttempts; ++turn) {
    const bool is_full = output_.failure() != 0;
    TRY(is_full ? make_room(features, room_bytes) : Result<>(kDone));
    room_bytes *= is_full ? 2 : 1;
    Result<> written = write_end(sections_.end_sections(features, data_end_));
    if (written.ok() || !is_disk_full(output_.failure())) {
      return written;
    }
  }
  return Error{"write(" + file_.path() + ")", ENOSPC, "make room on the disk and record again"};
}

}  // namespace

Result<std::unique_ptr<FileWriter>> create_file_writer(const std::string& path,
                                                       const WriterSetup& setup) {
  if (path == "-") {
    UniqueFd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    return create_pipe_writer(std::move(output), "standard output", setup);
  }
  auto file = OutputFile::create(path, setup.stop_signals);
  if (!file.ok()) {
    return file.take_error();
  }
  if (file.value().is_stream()) {
    return create_pipe_writer(file.value().take_fd(), path, setup);
  }
  auto writer = std::make_unique<DataFileWriter>(file.take(), setup);
  auto started = writer->start();
  if (!started.ok()) {
    writer->abandon();
    return started.take_error();
  }
  return std::unique_ptr<FileWriter>(std::move(writer));
}

}  // namespace memtrace
