// Records as bytes, and a recording of memory events to write: for tests of the perf.data code.
#pragma once

#include <linux/perf_event.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/byte_writer.h"
#include "perf/file_out/file_writer.h"
#include "perf/record/perf_format.h"

namespace memtrace::test {

using RecordBytes = std::vector<std::byte>;

// Any record from its body: type, misc and size in front.
inline RecordBytes record_bytes(std::uint32_t type, ByteWriter& body, std::uint16_t misc = 0) {
  body.pad(8);
  ByteWriter out;
  out.put(RecordHeader{
      type, misc, static_cast<std::uint16_t>(sizeof(RecordHeader) + body.size_bytes())});
  out.put_bytes(body.bytes());
  return out.bytes();
}

inline constexpr std::uint64_t kSampleType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                                             PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                             PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
inline constexpr std::uint32_t kKmallocId = 547;
inline constexpr std::uint64_t kEventId = 11;
inline constexpr std::uint64_t kTrackingId = 12;

// The trailer of sample_id_all for kSampleType.
inline void put_trailer(ByteWriter& body, std::uint64_t time_ns, std::uint64_t id) {
  body.pad(8);
  body.put(std::uint32_t{42});
  body.put(std::uint32_t{43});
  body.put(time_ns);
  body.put(std::uint64_t{1});  // CPU
  body.put(id);
}

// A kmem:kmalloc of bytes_req 100 with a stack of frame_count frames.
inline RecordBytes kmalloc_sample(std::uint64_t time_ns, std::size_t frame_count = 3) {
  ByteWriter body;
  body.put(kEventId);
  body.put(std::uint64_t{0xffffffff81001000U});
  body.put(std::uint32_t{42});
  body.put(std::uint32_t{43});
  body.put(time_ns);
  body.put(std::uint64_t{1});
  body.put(std::uint64_t{frame_count + 1});
  body.put(std::uint64_t{0xffffffffffffff80U});
  for (std::size_t i = 0; i < frame_count; ++i) {
    body.put(std::uint64_t{0xffffffff81001000U} + i * 16);
  }
  constexpr std::uint32_t kRawBytes = 60;
  body.put(kRawBytes);
  body.put(static_cast<std::uint16_t>(kKmallocId));
  body.put(std::uint16_t{0});
  body.put(std::uint32_t{43});
  for (const std::uint64_t word : {0xffffffff81001000U, 0xffff888000001000U}) {
    body.put(word);
  }
  for (const std::uint64_t word : {100U, 128U, 0xcc0U}) {
    body.put(std::uint64_t{word});
  }
  body.put(std::uint64_t{0});
  body.put(std::uint32_t{0});
  return record_bytes(PERF_RECORD_SAMPLE, body, PERF_RECORD_MISC_KERNEL);
}

inline RecordBytes comm_record(const std::string& name, std::uint64_t time_ns) {
  ByteWriter body;
  body.put(std::uint32_t{42});
  body.put(std::uint32_t{43});
  body.put_c_string(name);
  put_trailer(body, time_ns, kTrackingId);
  return record_bytes(PERF_RECORD_COMM, body, PERF_RECORD_MISC_COMM_EXEC);
}

inline RecordBytes round_record() {
  ByteWriter body;
  return record_bytes(kFinishedRound, body);
}

inline perf_event_attr kmalloc_attr() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = 112;
  attr.config = kKmallocId;
  attr.sample_period = 1;
  attr.sample_type = kSampleType;
  attr.sample_id_all = 1;
  return attr;
}

inline perf_event_attr tracking_attr() {
  perf_event_attr attr = kmalloc_attr();
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.comm = attr.mmap = attr.task = 1;
  return attr;
}

inline RecordBytes attr_bytes(const perf_event_attr& attr) {
  constexpr std::size_t kAttrBytes = 112;
  const auto bytes = std::as_bytes(std::span(&attr, 1)).first(kAttrBytes);
  return {bytes.begin(), bytes.end()};
}

inline std::string data_text(const std::string& name) {
  std::ifstream in(std::string(TEST_SOURCE_DIR) + "/data/perf/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline WriterSetup kmalloc_setup() {
  WriterSetup setup;
  EventInfo kmalloc{.name = "kmem:kmalloc",
                    .kind = EventKind::Tracepoint,
                    .config = kKmallocId,
                    .period = 1,
                    .format = data_text("kmem_kmalloc.format"),
                    .is_tracking = false};
  EventInfo tracking{.name = "dummy:u",
                     .kind = EventKind::Software,
                     .config = PERF_COUNT_SW_DUMMY,
                     .period = 1,
                     .format = "",
                     .is_tracking = true};
  setup.events.push_back({kmalloc, attr_bytes(kmalloc_attr()), {kEventId}});
  setup.events.push_back({tracking, attr_bytes(tracking_attr()), {kTrackingId}});
  setup.header_page = data_text("header_page");
  setup.header_event = data_text("header_event");
  setup.about.host_name = "box";
  setup.about.kernel_release = "6.1.0";
  setup.about.architecture = "x86_64";
  setup.about.tool_version = "memtrace 0.1";
  setup.about.cpu_description = "A fine CPU";
  setup.about.command_line = {"memtrace", "record", "-a"};
  setup.about.cpus_available = 4;
  setup.about.cpus_online = 3;
  setup.about.total_memory_bytes = std::uint64_t{8} << 30;
  setup.has_clock = true;
  setup.clock_id = 1;
  setup.wall_clock_ns = 1700000000000000000U;
  setup.trace_clock_ns = 1000;
  return setup;
}

// The same with little text, for tests that walk over every byte.
inline WriterSetup short_setup() {
  WriterSetup setup = kmalloc_setup();
  setup.events[0].info.format = "name: kmalloc\nID: 547\nformat:\n";
  return setup;
}

inline Recording kmalloc_end() {
  Recording end;
  end.first_time_ns = 1000;
  end.last_time_ns = 2000;
  end.build_ids = {{"/usr/bin/true", "00112233445566778899aabbccddeeff00112233", false},
                   {"[kernel.kallsyms]", "ffeeddccbbaa99887766554433221100ffeeddcc", true}};
  end.symbols_json = R"({"symbols":[1,2]})";
  end.about_json = R"({"about":true})";
  return end;
}

// A path of this process's own, removed with what may have become of it.
class TempFile {
 public:
  explicit TempFile(const std::string& name)
      : path_("/tmp/memtrace_test." + std::to_string(::getpid()) + "." + name) {}

  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  ~TempFile() {
    std::remove(path_.c_str());
    std::remove((path_ + ".old").c_str());
  }

  const std::string& path() const { return path_; }

  std::vector<std::byte> read() const {
    std::ifstream in(path_, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const std::string all = text.str();
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
  }

  void write(std::span<const std::byte> bytes) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string path_;
};

}  // namespace memtrace::test
