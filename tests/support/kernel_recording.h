// A perf.data file as it would come from a kernel of kernels.txt: its formats, and samples of
// happenings.txt laid out by them.
#pragma once

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "base/text.h"
#include "os/system.h"
#include "perf/file_out/file_writer.h"
#include "perf/record/perf_format.h"
#include "perf/record/record_builder.h"
#include "support/kernel_formats.h"
#include "tracepoints/decode/system_calls.h"
#include "tracepoints/format/format.h"

namespace memtrace::test {

struct Happening {
  std::vector<std::string> events;  // the first that is recorded
  std::map<std::string, std::string> values;
};

inline std::vector<Happening> read_happenings() {
  auto read = read_file(TEST_SOURCE_DIR "/data/formats/happenings.txt");
  EXPECT_TRUE(read.ok());
  const std::string text = read.ok() ? read.take() : "";
  std::vector<Happening> happenings;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const auto words = split(line, ' ');
    Happening& happening = happenings.emplace_back();
    for (const std::string_view event : split(words.front(), '|')) {
      happening.events.emplace_back(event);
    }
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      happening.values.emplace(words[i].substr(0, equals), words[i].substr(equals + 1));
    }
  }
  return happenings;
}

// One event of a recording.
struct RecordedEvent {
  std::string name;
  EventFormat format;  // no fields for software events
  std::uint64_t id = 0;
};

inline std::uint64_t value_of(const std::string& text, const Field* field) {
  if (field != nullptr) {
    const auto flag = std::ranges::find(field->flags, text, &FlagName::name);
    if (flag != field->flags.end()) {
      return flag->mask;
    }
  }
  return text.starts_with('-') ? static_cast<std::uint64_t>(std::stoll(text))
                               : std::stoull(text, nullptr, 0);
}

// The fields that the format has, of those that the happening has.
inline std::vector<std::byte> raw_bytes(const RecordedEvent& event, const Happening& happening) {
  std::size_t size_bytes = 0;
  for (const Field& field : event.format.fields) {
    size_bytes = std::max<std::size_t>(size_bytes, field.offset_bytes + field.size_bytes);
  }
  std::vector<std::byte> raw(size_bytes);
  if (raw.empty()) {
    return raw;
  }
  const auto put = [&raw](std::size_t offset, std::uint64_t value, std::size_t count) {
    std::memcpy(raw.data() + offset, &value, count);
  };
  put(0, event.id, 2);
  for (const auto& [name, value] : happening.values) {
    const Field* field = event.format.find(name);
    if (field == nullptr) {
      continue;
    }
    if (!value.starts_with('"')) {
      put(field->offset_bytes, value_of(value, field), field->size_bytes);
      continue;
    }
    const std::string text = value.substr(1, value.size() - 2);
    if (field->kind == FieldKind::DynamicText) {
      put(field->offset_bytes, (text.size() + 1) << 16U | raw.size(), 4);
      const auto bytes = std::as_bytes(std::span(text.c_str(), text.size() + 1));
      raw.insert(raw.end(), bytes.begin(), bytes.end());
    } else {
      std::memcpy(raw.data() + field->offset_bytes, text.data(), text.size());
    }
  }
  return raw;
}

// raw_syscalls: the number and the arguments in the order of the call's parameters.
inline std::vector<std::byte> raw_call_bytes(const RecordedEvent& event,
                                             SystemCall call,
                                             const Happening& happening) {
  Happening numbered{.events = {}, .values = {{"id", std::to_string(*CallNumbers().number(call))}}};
  if (happening.values.contains("ret")) {
    numbered.values["ret"] = happening.values.at("ret");
  }
  std::vector<std::byte> raw = raw_bytes(event, numbered);
  const Field* arguments = event.format.find("args");
  std::size_t place = arguments == nullptr ? 0 : arguments->offset_bytes;
  for (const std::string_view names : argument_names(call)) {
    const auto value = happening.values.find(std::string(names.substr(0, names.find('|'))));
    if (arguments != nullptr && value != happening.values.end()) {
      const std::uint64_t number = value_of(value->second, nullptr);
      std::memcpy(raw.data() + place, &number, sizeof(number));
    }
    place += sizeof(std::uint64_t);
  }
  return raw;
}

class KernelRecording {
 public:
  static constexpr std::uint64_t kStartNs = 1'000'000'000;
  static constexpr std::uint64_t kStepNs = 1'000'000;
  static constexpr std::uint32_t kPid = 100;
  static constexpr std::uint64_t kTrackingId = 1;
  static constexpr std::uint64_t kKernelFunction = 0xffffffff81234567U;

  KernelRecording(const KernelFormats& kernel, const std::vector<std::string>& events) {
    for (const std::string& name : events) {
      RecordedEvent event{.name = name, .format = {}};
      if (!kernel.text(name).empty()) {
        auto format = parse_format(kernel.text(name), name.substr(0, name.find(':')));
        EXPECT_TRUE(format.ok()) << name;
        event.format = format.ok() ? format.take() : EventFormat();
        event.id = event.format.id;
      } else {
        event.id = find_software_event(name).value_or(SoftwareEvent{}).config;
      }
      add_event(event, kernel.text(name));
    }
  }

  Result<> write(const std::string& path, const Recording& end) {
    setup_.events.push_back({{.name = "dummy", .kind = EventKind::Software, .is_tracking = true},
                             attr_bytes(nullptr),
                             {kTrackingId}});
    setup_.header_page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n";
    setup_.about.architecture = "x86_64";
    auto writer = create_file_writer(path, std::move(setup_));
    if (!writer.ok()) {
      return writer.take_error();
    }
    RecordBuilder tracking(kTrackingId);
    tracking.comm(kPid, kPid, "worker");
    tracking.mmap({.pid = kPid,
                   .tid = kPid,
                   .start = 0x400000,
                   .length_bytes = 0x10000,
                   .inode = 7,
                   .prot = PROT_READ | PROT_EXEC,
                   .flags = MAP_PRIVATE,
                   .path = "/usr/bin/worker"});
    tracking.mmap({.pid = kPid,
                   .tid = kPid,
                   .start = 0x7f0000000000,
                   .length_bytes = 0x1000000,
                   .prot = PROT_READ | PROT_WRITE,
                   .flags = MAP_PRIVATE | MAP_ANONYMOUS,
                   .executable = false,
                   .path = "//anon"});
    TRY(writer.value()->write(tracking.bytes()));
    std::uint64_t now_ns = kStartNs;
    for (const Happening& happening : read_happenings()) {
      const auto sample = sample_of(happening, now_ns);
      if (!sample.empty()) {
        TRY(writer.value()->write(sample));
      }
      now_ns += kStepNs;
    }
    return writer.value()->finish(end);
  }

 private:
  static constexpr std::uint64_t kSampleType =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
      PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;

  static std::vector<std::byte> attr_bytes(const RecordedEvent* event) {
    perf_event_attr attr{};
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.size = PERF_ATTR_SIZE_VER5;
    attr.sample_period = 1;
    attr.sample_type = kSampleType;
    attr.sample_id_all = 1;
    if (event != nullptr) {
      attr.config = event->id;
      attr.type = event->format.fields.empty() ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT;
      attr.sample_type |= event->format.fields.empty() ? 0U : std::uint64_t{PERF_SAMPLE_RAW};
    }
    const auto bytes = std::as_bytes(std::span(&attr, 1)).first(PERF_ATTR_SIZE_VER5);
    return {bytes.begin(), bytes.end()};
  }

  void add_event(const RecordedEvent& event, const std::string& format) {
    const bool is_software = event.format.fields.empty();
    events_.push_back(event);
    setup_.events.push_back({{.name = event.name,
                              .kind = is_software ? EventKind::Software : EventKind::Tracepoint,
                              .config = event.id,
                              .format = format},
                             attr_bytes(&event),
                             {kTrackingId + events_.size()}});
  }

  // The event that reports it, and its bytes.
  std::optional<std::pair<std::size_t, std::vector<std::byte>>> told(
      const Happening& happening) const {
    for (const std::string& name : happening.events) {
      const auto call = call_of_event(name);
      for (std::size_t i = 0; i < events_.size(); ++i) {
        const RecordedEvent& event = events_[i];
        if (event.name == name) {
          return std::pair(i, raw_bytes(event, happening));
        }
        if (call && is_raw_call_event(event.name) &&
            is_raw_entry(event.name) == (entry_event(*call) == name) && !has(name)) {
          return std::pair(i, raw_call_bytes(event, *call, happening));
        }
      }
    }
    return std::nullopt;
  }

  bool has(const std::string& name) const {
    return std::ranges::find(events_, name, &RecordedEvent::name) != events_.end();
  }

  std::vector<std::byte> sample_of(const Happening& happening, std::uint64_t now_ns) const {
    const auto found = told(happening);
    if (!found) {
      return {};
    }
    const auto own = [&happening](const std::string& name) {
      const auto value = happening.values.find(name);
      return value == happening.values.end() ? 0 : value_of(value->second, nullptr);
    };
    ByteWriter body;
    body.put(kTrackingId + 1 + found->first);
    body.put(own("ip"));
    body.put(kPid);
    body.put(kPid);
    body.put(now_ns);
    body.put(own("address"));
    body.put(std::uint64_t{0});
    body.put(std::uint64_t{2});
    body.put(std::uint64_t{0xffffffffffffff80U});
    body.put(kKernelFunction);
    if (!events_[found->first].format.fields.empty()) {
      const std::size_t padding_bytes = (12 - found->second.size() % 8) % 8;
      body.put(static_cast<std::uint32_t>(found->second.size() + padding_bytes));
      body.put_bytes(found->second);
      body.pad(8);
    }
    ByteWriter record;
    record.put(RecordHeader{PERF_RECORD_SAMPLE,
                            PERF_RECORD_MISC_KERNEL,
                            static_cast<std::uint16_t>(sizeof(RecordHeader) + body.size_bytes())});
    record.put_bytes(body.bytes());
    return record.bytes();
  }

  std::vector<RecordedEvent> events_;
  WriterSetup setup_;
};

}  // namespace memtrace::test
