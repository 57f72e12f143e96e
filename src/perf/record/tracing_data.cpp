#include "perf/record/tracing_data.h"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/text.h"

namespace memtrace {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kSignature = "\x17\x08\x44tracing";
constexpr std::string_view kHeaderPage = "header_page";
constexpr std::string_view kHeaderEvent = "header_event";

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Text up to and with its NUL.
std::string c_string(ByteReader& reader) {
  std::string text;
  for (char c = reader.read<char>(); c != '\0' && !reader.failed(); c = reader.read<char>()) {
    text += c;
  }
  return text;
}

std::string sized_text(ByteReader& reader) {
  const auto size_bytes = reader.read<std::uint64_t>();
  return std::string(as_text(reader.take(size_bytes)));
}

// What follows "name:" in a format text.
std::string_view value_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(at + name.size());
  return trim(rest.substr(0, rest.find('\n')));
}

void read_formats(ByteReader& reader, const std::string& system, TracingData& data) {
  const auto format_count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < format_count && !reader.failed(); ++i) {
    std::string text = sized_text(reader);
    if (!reader.failed()) {
      data.formats.push_back(describe_format(system, std::move(text)));
    }
  }
}

// False: what stands there is no system's name, which is a folder's. Each of its formats would have
// a copy of it.
bool read_systems(ByteReader& reader, TracingData& data) {
  const auto system_count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < system_count && !reader.failed(); ++i) {
    const std::string system = c_string(reader);
    if (system.size() > NAME_MAX) {
      return false;
    }
    read_formats(reader, system, data);
  }
  return !reader.failed();
}

}  // namespace

TracepointFormat describe_format(std::string system, std::string text) {
  const auto id = parse_number(value_of(text, "ID:"));
  std::string name(value_of(text, "name:"));
  return {id.value_or(0), std::move(system), std::move(name), std::move(text)};
}

Result<TracingData> parse_tracing_data(Bytes bytes) {
  ByteReader reader(bytes);
  if (as_text(reader.take(kSignature.size())) != kSignature) {
    return Error{"the tracing data section has no signature", 0, ""};
  }
  c_string(reader);  // the version
  if (reader.read<std::uint8_t>() != 0) {
    return Error{"the tracing data is of a big-endian machine", 0, ""};
  }
  reader.skip(1);  // size of a long
  TracingData data;
  data.page_size_bytes = reader.read<std::uint32_t>();
  c_string(reader);
  data.header_page = sized_text(reader);
  c_string(reader);
  data.header_event = sized_text(reader);
  // ftrace's own formats describe no perf event.
  const auto ftrace_count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < ftrace_count && !reader.failed(); ++i) {
    sized_text(reader);
  }
  data.is_whole = read_systems(reader, data);
  return data;
}

std::vector<std::byte> write_tracing_data(const TracingData& data) {
  ByteWriter out;
  const auto put_sized = [&out](std::string_view text) {
    out.put(std::uint64_t{text.size()});
    out.put_text(text);
  };
  out.put_text(kSignature);
  out.put_c_string("0.6");
  out.put(std::uint8_t{0});  // little-endian
  out.put(std::uint8_t{sizeof(long)});
  out.put(data.page_size_bytes);
  out.put_c_string(kHeaderPage);
  put_sized(data.header_page);
  out.put_c_string(kHeaderEvent);
  put_sized(data.header_event);
  out.put(std::uint32_t{0});  // ftrace formats
  std::map<std::string_view, std::vector<const TracepointFormat*>> systems;
  for (const TracepointFormat& tracepoint : data.formats) {
    systems[tracepoint.system].push_back(&tracepoint);
  }
  out.put(static_cast<std::uint32_t>(systems.size()));
  for (const auto& [system, formats] : systems) {
    out.put_c_string(system);
    out.put(static_cast<std::uint32_t>(formats.size()));
    std::for_each(formats.begin(), formats.end(), [&](const auto* f) { put_sized(f->text); });
  }
  out.put(std::uint32_t{0});  // kallsyms
  out.put(std::uint32_t{0});  // printk formats
  out.put(std::uint64_t{0});  // saved command lines
  return std::move(out.bytes());
}

}  // namespace memtrace
