#include "sections/recording_part.h"

#include <nlohmann/json.hpp>

namespace memtrace {

namespace {

using Json = nlohmann::json;

}  // namespace

std::string to_json(const RecordingPart& part) {
  return Json({{"version", 1},
               {"recording", part.recording},
               {"number", part.number},
               {"state_records", part.state_records},
               {"started_ns", part.started_ns}})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

RecordingPart parse_recording_part(const std::string& text) {
  RecordingPart part;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return part;
  }
  try {
    part.recording = json.value("recording", "");
    part.state_records = json.value("state_records", std::uint64_t{0});
    part.started_ns = json.value("started_ns", std::uint64_t{0});
    part.number = json.value("number", std::uint64_t{0});
  } catch (const Json::exception&) {
    // What was read so far is right.
  }
  return part;
}

}  // namespace memtrace
