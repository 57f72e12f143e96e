#include "pipeline/about.h"

#include <array>
#include <nlohmann/json.hpp>

namespace memtrace {
namespace {

using Json = nlohmann::json;

struct Counter {
  const char* name;
  std::uint64_t About::*value;
};

constexpr auto kCounters = std::to_array<Counter>({
    {"own_samples", &About::own_samples},
    {"late", &About::late},
    {"overload", &About::overload},
    {"malformed", &About::malformed},
    {"cut_stacks", &About::cut_stacks},
    {"disk_full", &About::disk_full},
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

}  // namespace

std::string to_json(const About& about) {
  Json json = {{"version", 1},
               {"target", about.target},
               {"whole_machine", about.whole_machine},
               {"migratetypes", about.migratetypes},
               {"slab_caches", about.slab_caches},
               {"notes", about.notes}};
  for (const Counter& counter : kCounters) {
    json[counter.name] = about.*counter.value;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

About parse_about(const std::string& text) {
  About about;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return about;
  }
  try {
    about.target = json.value("target", "");
    about.whole_machine = json.value("whole_machine", true);
    about.migratetypes = texts(json, "migratetypes");
    about.notes = texts(json, "notes");
    about.slab_caches = json.value("slab_caches", about.slab_caches);
    for (const Counter& counter : kCounters) {
      about.*counter.value = json.value(counter.name, std::uint64_t{0});
    }
  } catch (const Json::exception&) {
    // What was read so far is right.
  }
  return about;
}

}  // namespace memtrace
