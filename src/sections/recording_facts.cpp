#include "sections/recording_facts.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace memtrace {
namespace {

using Json = nlohmann::json;

struct Counter {
  const char* name;
  std::uint64_t RecordingFacts::*value;
};

constexpr auto kCounters = std::to_array<Counter>({
    {"mapping_reads", &RecordingFacts::mapping_reads},
    {"own_samples", &RecordingFacts::own_samples},
    {"late", &RecordingFacts::late},
    {"overload", &RecordingFacts::overload},
    {"malformed", &RecordingFacts::malformed},
    {"cut_stacks", &RecordingFacts::cut_stacks},
    {"earlier_files", &RecordingFacts::earlier_files},
    {"disk_full", &RecordingFacts::disk_full},
    {"started_ns", &RecordingFacts::started_ns},
    {"stopped_ns", &RecordingFacts::stopped_ns},
    {"observations_skipped", &RecordingFacts::observations_skipped},
});

std::vector<std::string> texts(const Json& json, const char* name) {
  std::vector<std::string> values;
  for (const Json& value : json.value(name, Json::array())) {
    if (value.is_string()) {
      values.push_back(value.get<std::string>());
    }
  }
  return values;
}

Json json_of(const Facts& facts) {
  return {{"numbers", facts.numbers}, {"texts", facts.texts}};
}

Facts facts_of(const Json& json) {
  Facts facts;
  facts.numbers = json.value("numbers", facts.numbers);
  facts.texts = json.value("texts", facts.texts);
  return facts;
}

Json json_of(const std::vector<Observation>& observations) {
  Json all = Json::array();
  for (const Observation& observation : observations) {
    Json json = json_of(observation.facts);
    json["reader"] = observation.reader;
    json["time_ns"] = observation.time_ns;
    json["tid"] = observation.tid;
    json["delay_ns"] = observation.delay_ns;
    for (const Facts& row : observation.rows) {
      json["rows"].push_back(json_of(row));
    }
    all.push_back(std::move(json));
  }
  return all;
}

std::vector<Observation> observations_of(const Json& json) {
  std::vector<Observation> observations;
  for (const Json& one : json) {
    Observation& observation = observations.emplace_back();
    observation.reader = one.value("reader", "");
    observation.time_ns = one.value("time_ns", std::uint64_t{0});
    observation.tid = one.value("tid", std::uint32_t{0});
    observation.delay_ns = one.value("delay_ns", std::uint64_t{0});
    observation.facts = facts_of(one);
    for (const Json& row : one.value("rows", Json::array())) {
      observation.rows.push_back(facts_of(row));
    }
  }
  return observations;
}

// By name: a number would change its meaning with the order of the reasons.
constexpr auto kReasons = std::to_array<const char*>(
    {"kernel", "late", "overload", "malformed", "disk_full"});  // as LossReason has them

static_assert(kReasons.size() == static_cast<std::size_t>(LossReason::DiskFull) + 1);

Json json_of(const std::vector<LossEntry>& losses) {
  Json all = Json::array();
  for (const LossEntry& entry : losses) {
    all.push_back({kReasons[static_cast<std::size_t>(entry.reason)],
                   entry.first_ns,
                   entry.last_ns,
                   entry.count});
  }
  return all;
}

std::vector<LossEntry> losses_of(const Json& json) {
  std::vector<LossEntry> losses;
  for (const Json& one : json) {
    const auto* reason = std::ranges::find(kReasons, one.at(0).get<std::string>());
    if (reason != kReasons.end()) {
      losses.push_back({static_cast<LossReason>(reason - kReasons.begin()),
                        one.at(1).get<std::uint64_t>(),
                        one.at(2).get<std::uint64_t>(),
                        one.at(3).get<std::uint64_t>()});
    }
  }
  return losses;
}

Json json_of(const std::vector<WatchedWindow>& windows) {
  Json all = Json::array();
  for (const WatchedWindow& window : windows) {
    all.push_back({window.from_ns, window.length_ns, window.share});
  }
  return all;
}

std::vector<WatchedWindow> windows_of(const Json& json) {
  std::vector<WatchedWindow> windows;
  for (const Json& one : json) {
    windows.push_back({.from_ns = one.at(0).get<std::uint64_t>(),
                       .length_ns = one.at(1).get<std::uint64_t>(),
                       .share = one.at(2).get<std::uint64_t>()});
  }
  return windows;
}

Json json_of(const WatchFacts& watch) {
  Json json = {{"triggers", Json::array()}, {"grown", Json::array()}, {"sizes_ns", watch.sizes_ns}};
  for (const FiredTrigger& fired : watch.triggers) {
    json["triggers"].push_back(
        {{"word", fired.word}, {"time_ns", fired.time_ns}, {"text", fired.text}});
  }
  for (const GrownProcess& process : watch.grown) {
    json["grown"].push_back({{"pid", process.pid},
                             {"comm", process.comm},
                             {"before_bytes", process.before_bytes},
                             {"bytes", process.bytes}});
  }
  return json;
}

WatchFacts watch_of(const Json& json) {
  WatchFacts watch{
      .triggers = {}, .grown = {}, .sizes_ns = json.value("sizes_ns", std::uint64_t{0})};
  for (const Json& one : json.value("triggers", Json::array())) {
    watch.triggers.push_back(
        {one.value("word", ""), one.value("time_ns", std::uint64_t{0}), one.value("text", "")});
  }
  for (const Json& one : json.value("grown", Json::array())) {
    watch.grown.push_back({one.value("pid", std::uint32_t{0}),
                           one.value("comm", ""),
                           one.value("before_bytes", std::uint64_t{0}),
                           one.value("bytes", std::uint64_t{0})});
  }
  return watch;
}

}  // namespace

std::map<std::string, std::uint64_t> counted_since(
    const std::map<std::string, std::uint64_t>& before,
    const std::map<std::string, std::uint64_t>& now) {
  std::map<std::string, std::uint64_t> counted;
  for (const auto& [name, count] : now) {
    const auto known = before.find(name);
    counted[name] = count - (known == before.end() ? 0 : std::min(count, known->second));
  }
  return counted;
}

std::string to_json(const RecordingFacts& about) {
  Json json = {{"version", 1},
               {"target", about.target},
               {"boot_id", about.boot_id},
               {"whole_machine", about.whole_machine},
               {"migratetypes", about.migratetypes},
               {"slab_caches", about.slab_caches},
               {"cpu_nodes", about.cpu_nodes},
               {"filters", about.filters},
               {"limited", about.limited},
               {"vmstat", about.vmstat},
               {"own_events", about.own_events},
               {"notes", about.notes},
               {"notes_of_samples", about.notes_of_samples},
               {"losses", json_of(about.losses)},
               {"observations", json_of(about.observations)}};
  for (const Counter& counter : kCounters) {
    json[counter.name] = about.*counter.value;
  }
  if (!about.watch.triggers.empty()) {
    json["watch"] = json_of(about.watch);
  }
  if (!about.windows.empty()) {
    json["windows"] = json_of(about.windows);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RecordingFacts parse_recording_facts(const std::string& text) {
  RecordingFacts about;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return about;
  }
  try {
    about.target = json.value("target", "");
    about.boot_id = json.value("boot_id", "");
    about.whole_machine = json.value("whole_machine", true);
    about.migratetypes = texts(json, "migratetypes");
    about.notes = texts(json, "notes");
    about.notes_of_samples = texts(json, "notes_of_samples");
    about.slab_caches = json.value("slab_caches", about.slab_caches);
    about.cpu_nodes = json.value("cpu_nodes", about.cpu_nodes);
    about.filters = json.value("filters", about.filters);
    about.limited = json.value("limited", about.limited);
    about.vmstat = json.value("vmstat", about.vmstat);
    about.own_events = json.value("own_events", about.own_events);
    for (const Counter& counter : kCounters) {
      about.*counter.value = json.value(counter.name, std::uint64_t{0});
    }
    about.losses = losses_of(json.value("losses", Json::array()));
    about.observations = observations_of(json.value("observations", Json::array()));
    about.watch = watch_of(json.value("watch", Json::object()));
    about.windows = windows_of(json.value("windows", Json::array()));
  } catch (const Json::exception&) {
    // What was read so far is right.
  }
  return about;
}

}  // namespace memtrace
