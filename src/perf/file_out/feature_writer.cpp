#include "perf/file_out/feature_writer.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "base/byte_writer.h"
#include "base/text.h"
#include "perf/file_out/zstd_piece.h"
#include "perf/record/perf_format.h"
#include "perf/record/tracing_data.h"

namespace memtrace {
namespace {

// perf pads strings to a multiple of this.
constexpr std::size_t kStringAlignment = 64;
constexpr std::size_t kBuildIdBytes = 20;
constexpr std::uint64_t kKiB = 1024;

// {u32 size with padding, text, zeros}.
void put_string(ByteWriter& out, std::string_view text) {
  const std::size_t padded_bytes =
      (text.size() + 1 + kStringAlignment - 1) / kStringAlignment * kStringAlignment;
  out.put(static_cast<std::uint32_t>(padded_bytes));
  out.put_text(text);
  out.put_bytes(std::vector<std::byte>(padded_bytes - text.size()));
}

// Collects bodies and leaves out those that are empty.
class Features {
 public:
  void add(std::uint32_t feature, ByteWriter body) {
    if (body.size_bytes() > 0) {
      bodies_.push_back({feature, std::move(body.bytes())});
    }
  }

  void add(FeatureBody body) { bodies_.push_back(std::move(body)); }

  void add_string(std::uint32_t feature, std::string_view text) {
    ByteWriter body;
    if (!text.empty()) {
      put_string(body, text);
    }
    add(feature, std::move(body));
  }

  void add_text(std::uint32_t feature, std::string_view text) {
    ByteWriter body;
    body.put_text(text);
    add(feature, std::move(body));
  }

  std::vector<FeatureBody> take() {
    std::sort(bodies_.begin(), bodies_.end(), [](const FeatureBody& a, const FeatureBody& b) {
      return a.feature < b.feature;
    });
    return std::move(bodies_);
  }

 private:
  std::vector<FeatureBody> bodies_;
};

// The part of "kmem:kmalloc" before the colon.
std::string system_of(const std::string& event_name) {
  return event_name.substr(0, event_name.find(':'));
}

// perf refuses a file with a tracepoint and without this section.
ByteWriter tracing_data(const WriterSetup& setup) {
  TracingData data{.page_size_bytes = setup.about.page_size_bytes,
                   .header_page = setup.header_page,
                   .header_event = setup.header_event,
                   .formats = {}};
  for (const WrittenEvent& event : setup.events) {
    const bool is_new = std::none_of(
        data.formats.begin(), data.formats.end(), [&event](const TracepointFormat& known) {
          return known.text == event.info.format;
        });
    if (!event.info.format.empty() && is_new) {
      data.formats.push_back(describe_format(system_of(event.info.name), event.info.format));
    }
  }
  ByteWriter body;
  if (!data.formats.empty()) {
    body.put_bytes(write_tracing_data(data));
  }
  return body;
}

ByteWriter event_descriptions(const WriterSetup& setup) {
  ByteWriter body;
  if (setup.events.empty()) {
    return body;
  }
  body.put(static_cast<std::uint32_t>(setup.events.size()));
  body.put(static_cast<std::uint32_t>(setup.events.front().attr.size()));
  for (const WrittenEvent& event : setup.events) {
    body.put_bytes(event.attr);
    body.put(static_cast<std::uint32_t>(event.ids.size()));
    put_string(body, event.info.name);
    body.put_bytes(std::as_bytes(std::span(event.ids)));
  }
  return body;
}

ByteWriter cpu_count(const Recording& about) {
  ByteWriter body;
  if (about.cpus_available != 0) {
    body.put(about.cpus_available);
    body.put(about.cpus_online);
  }
  return body;
}

ByteWriter total_memory(const Recording& about) {
  ByteWriter body;
  if (about.total_memory_bytes != 0) {
    body.put(about.total_memory_bytes / kKiB);
  }
  return body;
}

ByteWriter command_line(const Recording& about) {
  ByteWriter body;
  if (!about.command_line.empty()) {
    body.put(static_cast<std::uint32_t>(about.command_line.size()));
    std::for_each(about.command_line.begin(),
                  about.command_line.end(),
                  [&body](const std::string& word) { put_string(body, word); });
  }
  return body;
}

void add_clock(Features& features, const WriterSetup& setup) {
  if (!setup.has_clock) {
    return;
  }
  ByteWriter resolution;
  resolution.put(std::uint64_t{1});  // perf_event's clocks count nanoseconds
  features.add(kClockId, std::move(resolution));
  ByteWriter clocks;
  clocks.put(std::uint32_t{1});  // version
  clocks.put(setup.clock_id);
  clocks.put(setup.wall_clock_ns);
  clocks.put(setup.trace_clock_ns);
  features.add(kClockData, std::move(clocks));
}

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 2 <= text.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(parse_number(text.substr(at, 2), 16).value_or(0)));
  }
  bytes.resize(std::min(bytes.size(), kBuildIdBytes));
  return bytes;
}

// One record per file: {header, pid, id[20], size, 3 bytes, path padded to 64}.
void put_build_id(ByteWriter& out, const BuildIdEntry& entry) {
  const std::vector<std::byte> id = from_hex(entry.build_id);
  ByteWriter path;
  path.put_c_string(entry.path);
  path.pad(kStringAlignment);
  const int mode = entry.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
  RecordHeader header{.type = kBuildIdRecord, .misc = 0, .size_bytes = 0};
  header.misc = static_cast<std::uint16_t>(mode | kMiscBuildIdSize);
  constexpr std::size_t kFixedBytes = sizeof(RecordHeader) + sizeof(std::int32_t) + 24;
  header.size_bytes = static_cast<std::uint16_t>(kFixedBytes + path.size_bytes());
  out.put(header);
  out.put(std::int32_t{-1});  // of no one process
  out.put_bytes(id);
  out.put_bytes(std::vector<std::byte>(kBuildIdBytes - id.size()));
  out.put(static_cast<std::uint32_t>(id.size()));  // the size byte and three that are reserved
  out.put_bytes(path.bytes());
}

}  // namespace

std::vector<FeatureBody> early_features(const WriterSetup& setup) {
  const Recording& about = setup.about;
  Features features;
  features.add(kTracingData, tracing_data(setup));
  features.add_string(kHostName, about.host_name);
  features.add_string(kOsRelease, about.kernel_release);
  features.add_string(kVersion, about.tool_version);
  features.add_string(kArch, about.architecture);
  features.add(kCpuCount, cpu_count(about));
  features.add_string(kCpuDescription, about.cpu_description);
  features.add(kTotalMemory, total_memory(about));
  features.add(kCommandLine, command_line(about));
  features.add(kEventDescription, event_descriptions(setup));
  if (setup.zstd_level != 0) {
    features.add(compression_feature(setup.zstd_level, 0));
  }
  add_clock(features, setup);
  features.add_text(kPartFeature, about.part_json);
  return features.take();
}

std::vector<FeatureBody> event_features(const WriterSetup& setup) {
  Features features;
  features.add(kTracingData, tracing_data(setup));
  features.add(kEventDescription, event_descriptions(setup));
  return features.take();
}

// {kind, id, sizes of what follows: attr, ids, name, format}. perf passes over EVENT_UPDATEs of a
// kind that it does not know, if they name an event that it knows.
std::vector<std::byte> added_event_record(const WrittenEvent& event, std::uint64_t first_id) {
  ByteWriter body;
  body.put(std::uint64_t{kAddedEvent});
  body.put(first_id);
  body.put(static_cast<std::uint32_t>(event.attr.size()));
  body.put(static_cast<std::uint32_t>(event.ids.size() * sizeof(std::uint64_t)));
  body.put(static_cast<std::uint32_t>(event.info.name.size()));
  body.put(static_cast<std::uint32_t>(event.info.format.size()));
  body.put_bytes(event.attr);
  body.put_bytes(std::as_bytes(std::span(event.ids)));
  body.put_text(event.info.name);
  body.put_text(event.info.format);
  body.pad(sizeof(std::uint64_t));
  const std::size_t size_bytes = sizeof(RecordHeader) + body.size_bytes();
  if (size_bytes > std::numeric_limits<std::uint16_t>::max()) {
    return {};
  }
  ByteWriter record;
  record.put(RecordHeader{
      .type = kEventUpdate, .misc = 0, .size_bytes = static_cast<std::uint16_t>(size_bytes)});
  record.put_bytes(body.bytes());
  return std::move(record.bytes());
}

FeatureBody compression_feature(int level, std::uint32_t ratio) {
  constexpr std::uint32_t kVersionOne = 1;
  constexpr std::uint32_t kZstd = 1;  // PERF_COMP_ZSTD
  ByteWriter body;
  body.put(kVersionOne);
  body.put(kZstd);
  body.put(static_cast<std::uint32_t>(level));
  body.put(ratio);
  body.put(static_cast<std::uint32_t>(kZstdPieceMaxBytes));
  return {kCompression, std::move(body.bytes())};
}

std::vector<FeatureBody> end_features(const Recording& end) {
  Features features;
  ByteWriter build_ids;
  for (const BuildIdEntry& entry : end.build_ids) {
    // PATH_MAX, and so what a record can hold.
    constexpr std::size_t kPathMaxBytes = 4096;
    if (entry.path.size() < kPathMaxBytes) {
      put_build_id(build_ids, entry);
    }
  }
  features.add(kBuildId, std::move(build_ids));
  ByteWriter times;
  if (end.last_time_ns != 0) {
    times.put(end.first_time_ns);
    times.put(end.last_time_ns);
  }
  features.add(kSampleTime, std::move(times));
  features.add_text(kSymbolsFeature, end.symbols_json);
  features.add_text(kAboutFeature, end.about_json);
  features.add_text(kIdentitiesFeature, end.identities);
  return features.take();
}

}  // namespace memtrace
