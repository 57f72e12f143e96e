#include "perf/file_out/pipe_writer.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/byte_writer.h"
#include "perf/file_out/async_output.h"
#include "perf/file_out/feature_writer.h"
#include "perf/file_out/zstd_writer.h"
#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kRecordMaxBytes = std::numeric_limits<std::uint16_t>::max() & ~7U;
// A section of our own may be of any size; perf's must fit one record.
constexpr std::size_t kSectionPieceBytes = std::size_t{60} << 10;

class PipeWriter final : public FileWriter {
 public:
  PipeWriter(UniqueFd fd, std::string name, const WriterSetup& setup)
      : name_(std::move(name)), output_(std::move(fd), setup.stop_signals) {
    if (setup.zstd_level != 0) {
      zstd_.emplace(setup.zstd_level);
    }
  }

  Result<> start(const WriterSetup& setup);
  Result<> add_events(const std::vector<WrittenEvent>& events) override;
  Result<> write(Bytes record) override;
  Result<> finish_round() override;
  Result<> announce_identities(std::string_view lines) override;
  Result<> finish(const Recording& end) override;

  void abandon() override {}

  void set_about(AboutText /*about*/) override {}  // nothing is ever cut

  std::uint64_t bytes_written() const override { return output_.appended_bytes(); }

  std::uint64_t samples_lost() const override { return 0; }

 private:
  Result<> put_record(std::uint32_t type, ByteWriter body);
  Result<> put_event(const WrittenEvent& event);
  Result<> put_name(const WrittenEvent& event);
  Result<> put_feature(const FeatureBody& feature);
  Result<> put_early_features(const WriterSetup& setup);
  Result<> put_end_feature(const FeatureBody& feature);
  Result<> put_own_feature(const FeatureBody& feature);
  Result<> put_tracing_data(const FeatureBody& feature);
  Result<> put_pieces(const std::vector<ZstdPiece>& pieces);
  Result<> state() const;

  std::string name_;
  AsyncOutput output_;
  std::optional<ZstdWriter> zstd_;
  std::uint64_t first_id_ = 0;  // perf wants every EVENT_UPDATE to name an event
};

Result<> PipeWriter::state() const {
  const int failure = output_.failure();
  if (failure == 0) {
    return kDone;
  }
  if (failure == ETIMEDOUT) {
    return Error{"write(" + name_ + "): the reader of the pipe has stopped reading",
                 0,
                 "memtrace received a signal to end and stopped waiting for it: the recording is "
                 "cut; start the reader again, or record to a file with -o FILE"};
  }
  return Error{"write(" + name_ + ")",
               failure,
               is_disk_full(failure)
                   ? name_ +
                         " goes to a disk that is full: the recording is cut; make room, or "
                         "record with -o FILE, which keeps the file whole on a full disk"
                   : "the program that reads the recording went away; look for its own message"};
}

Result<> PipeWriter::put_record(std::uint32_t type, ByteWriter body) {
  body.pad(sizeof(std::uint64_t));
  const std::size_t size_bytes = sizeof(RecordHeader) + body.size_bytes();
  if (size_bytes > kRecordMaxBytes) {
    return Error{"too many event descriptors for a pipe", 0, "record to a file with -o FILE"};
  }
  const RecordHeader header{.type = type, .size_bytes = static_cast<std::uint16_t>(size_bytes)};
  output_.append(std::as_bytes(std::span(&header, 1)));
  output_.append(body.bytes());
  return state();
}

Result<> PipeWriter::put_event(const WrittenEvent& event) {
  ByteWriter body;
  body.put_bytes(event.attr);
  body.put_bytes(std::as_bytes(std::span(event.ids)));
  return put_record(kHeaderAttr, std::move(body));
}

Result<> PipeWriter::put_name(const WrittenEvent& event) {
  if (event.ids.empty()) {
    return kDone;
  }
  ByteWriter body;
  body.put(kUpdateName);
  body.put(event.ids.front());
  body.put_c_string(event.info.name);
  return put_record(kEventUpdate, std::move(body));
}

Result<> PipeWriter::put_tracing_data(const FeatureBody& feature) {
  ByteWriter payload;
  payload.put_bytes(feature.bytes);
  payload.pad(sizeof(std::uint64_t));
  ByteWriter body;
  body.put(static_cast<std::uint32_t>(payload.size_bytes()));
  TRY(put_record(kTracingDataRecord, std::move(body)));
  output_.append(payload.bytes());
  return state();
}

Result<> PipeWriter::put_feature(const FeatureBody& feature) {
  if (feature.bytes.size() > kSectionPieceBytes) {
    return kDone;  // a description for perf to print, which nothing depends on
  }
  ByteWriter body;
  body.put(std::uint64_t{feature.feature});
  body.put_bytes(feature.bytes);
  return put_record(kHeaderFeature, std::move(body));
}

// Pieces in order; a reader puts them together again. perf report (6.1, process_feature_event())
// ends at a HEADER_FEATURE that it does not know, but every perf since 4.4 passes over an
// EVENT_UPDATE of a kind that it does not know.
Result<> PipeWriter::put_own_feature(const FeatureBody& feature) {
  for (std::size_t at = 0; at < feature.bytes.size(); at += kSectionPieceBytes) {
    const std::size_t piece_bytes = std::min(kSectionPieceBytes, feature.bytes.size() - at);
    ByteWriter body;
    body.put(std::uint64_t{feature.feature});
    body.put(first_id_);
    body.put_bytes(Bytes(feature.bytes).subspan(at, piece_bytes));
    TRY(put_record(kEventUpdate, std::move(body)));
  }
  return kDone;
}

Result<> PipeWriter::put_early_features(const WriterSetup& setup) {
  const std::vector<FeatureBody> features = early_features(setup);
  for (const FeatureBody& feature : features) {
    TRY(feature.feature == kTracingData ? Result<>(kDone) : put_feature(feature));
  }
  const bool has_tracing_data = !features.empty() && features.front().feature == kTracingData;
  return has_tracing_data ? put_tracing_data(features.front()) : Result<>(kDone);
}

// perf's own order: attrs, features, tracing data, names.
Result<> PipeWriter::start(const WriterSetup& setup) {
  const PipeHeader header;
  output_.append(std::as_bytes(std::span(&header, 1)));
  if (!setup.events.empty() && !setup.events.front().ids.empty()) {
    first_id_ = setup.events.front().ids.front();
  }
  for (const WrittenEvent& event : setup.events) {
    TRY(put_event(event));
  }
  TRY(put_early_features(setup));
  for (const WrittenEvent& event : setup.events) {
    TRY(put_name(event));
  }
  output_.flush();
  return kDone;
}

// Our own reader gets everything. perf takes tracing data only once
// (tools/perf/util/trace-event-read.c counts its bytes in a static variable) and ends at samples of
// no event: for it the event is one that has no fields.
Result<> PipeWriter::add_events(const std::vector<WrittenEvent>& events) {
  TRY(zstd_ ? put_pieces(zstd_->drain()) : Result<>(kDone));
  for (const WrittenEvent& event : events) {
    output_.append(added_event_record(event, first_id_));
    WrittenEvent fieldless = event;
    perf_event_attr attr{};
    std::memcpy(&attr, event.attr.data(), std::min(sizeof(attr), event.attr.size()));
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    std::memcpy(fieldless.attr.data(), &attr, std::min(sizeof(attr), event.attr.size()));
    TRY(put_event(fieldless));
    TRY(put_name(event));
  }
  output_.flush();
  return state();
}

Result<> PipeWriter::write(Bytes record) {
  if (zstd_) {
    return zstd_->append(record) ? put_pieces(zstd_->take()) : Result<>(kDone);
  }
  output_.append(record);
  return state();
}

Result<> PipeWriter::put_pieces(const std::vector<ZstdPiece>& pieces) {
  for (const ZstdPiece& piece : pieces) {
    output_.append(piece.bytes);
  }
  return state();
}

Result<> PipeWriter::finish_round() {
  if (zstd_) {
    TRY(put_pieces(zstd_->drain()));
  }
  TRY(put_record(kFinishedRound, ByteWriter()));
  output_.flush();  // the reader waits for it
  return kDone;
}

Result<> PipeWriter::announce_identities(std::string_view lines) {
  const auto bytes = std::as_bytes(std::span(lines));
  return put_own_feature({kIdentitiesFeature, {bytes.begin(), bytes.end()}});
}

Result<> PipeWriter::put_end_feature(const FeatureBody& feature) {
  switch (feature.feature) {
    case kBuildId:  // perf 6.1 takes build ids in a pipe as records of their own only
      output_.append(feature.bytes);
      return kDone;
    case kIdentitiesFeature:
      return kDone;  // announced round by round
    default:
      return feature.feature >= kSymbolsFeature ? put_own_feature(feature) : put_feature(feature);
  }
}

Result<> PipeWriter::finish(const Recording& end) {
  if (zstd_) {
    TRY(put_pieces(zstd_->drain()));
  }
  for (const FeatureBody& feature : end_features(end)) {
    TRY(put_end_feature(feature));
  }
  output_.drain();
  return state();
}

}  // namespace

Result<std::unique_ptr<FileWriter>> create_pipe_writer(UniqueFd fd,
                                                       std::string name,
                                                       const WriterSetup& setup) {
  auto writer = std::make_unique<PipeWriter>(std::move(fd), std::move(name), setup);
  TRY(writer->start(setup));
  return std::unique_ptr<FileWriter>(std::move(writer));
}

}  // namespace memtrace
