// Ordered records to a perf.data file or pipe that perf script and perf report of Linux 4.x to 6.x
// read. Order in the file: header, ids, attrs, memtrace's own early copy of what a reader cannot do
// without (so that a file that is cut still reads), data, feature table, feature bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/stop_signals.h"
#include "perf/file_out/output_file.h"
#include "perf/record/recording.h"

namespace memtrace {

// An event as it goes into the file.
struct WrittenEvent {
  EventInfo info;
  std::vector<std::byte> attr;     // struct perf_event_attr, 112 bytes
  std::vector<std::uint64_t> ids;  // one for each descriptor that was opened
};

// Everything that must be known before the first record.
struct WriterSetup {
  std::vector<WrittenEvent> events;
  std::string header_page;     // text of tracefs events/header_page
  std::string header_event;    // and events/header_event
  Recording about;             // host name, release, command line, CPU count, page size ...
  std::uint32_t clock_id = 0;  // CLOCK_*; written when has_clock
  bool has_clock = false;
  std::uint64_t wall_clock_ns = 0, trace_clock_ns = 0;  // the same moment in both clocks
  int zstd_level = 0;                   // of COMPRESSED records, 1 to 22; 0: records go as they are
  StopSignals* stop_signals = nullptr;  // end the wait for a file or pipe that stands still
};

// As ZstdPiece has them; borrowed.
struct PackedPiece {
  std::span<const std::byte> bytes;
  std::uint64_t sample_count = 0;
};

class FileWriter {
 public:
  FileWriter() = default;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  FileWriter(FileWriter&&) = delete;
  FileWriter& operator=(FileWriter&&) = delete;
  virtual ~FileWriter() = default;

  // Events that are recorded from now on, too.
  virtual Result<> add_events(const std::vector<WrittenEvent>& events) = 0;

  // One whole record as it goes into the file. Records must come in time order.
  virtual Result<> write(std::span<const std::byte> record) = 0;

  // Records that were packed before, by a ZstdPacker. Error: this writer does not compress.
  virtual Result<> write_packed(const PackedPiece& /*piece*/) {
    return Error{"the recording is not compressed", 0, "give -o a file"};
  }

  // Between two records now and then: a reader may give out all that came before the last but one.
  virtual Result<> finish_round() = 0;

  // A piece of Recording::identities that the samples of this round need. A pipe brings it before
  // them; a file has all of it at its end, from finish().
  virtual Result<> announce_identities(std::string_view /*lines*/) { return kDone; }

  // What is known at the end only: build ids, symbols_json, about_json, identities, first and last
  // time.
  virtual Result<> finish(const Recording& end) = 0;

  // finish() may have to cut samples off to make room for the end of the file: it then asks for
  // about_json again, with the number of samples that are missing by now.
  using AboutText = std::function<std::string(std::uint64_t samples_lost)>;

  virtual void set_about(AboutText about) = 0;

  // Nothing will come: takes the file away and puts the one back that it replaced.
  virtual void abandon() = 0;

  // Where it writes to; nothing unless it has made that file.
  virtual std::optional<CreatedFile> created_file() const { return std::nullopt; }

  virtual std::uint64_t bytes_written() const = 0;

  // Samples that were given to write() but are not in the file because the disk was full. The file
  // is readable all the same.
  virtual std::uint64_t samples_lost() const = 0;
};

// "-" is standard output, in perf's pipe mode. An existing recording is renamed to PATH.old first.
Result<std::unique_ptr<FileWriter>> create_file_writer(const std::string& path,
                                                       const WriterSetup& setup);

}  // namespace memtrace
