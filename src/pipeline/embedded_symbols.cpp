#include "pipeline/embedded_symbols.h"

#include <map>
#include <nlohmann/json.hpp>

namespace memtrace {
namespace {

using Json = nlohmann::json;

// Anonymous code of different processes has nothing in common.
std::string key_of(const Module& module) {
  return module.kind == ModuleKind::Anonymous ? module.path + '@' + std::to_string(module.pid)
                                              : module.path;
}

Json to_json(const Frame& frame) {
  return Json::array(
      {frame.function, frame.module, frame.file, frame.line, frame.kernel, frame.inlined});
}

Frame to_frame(const Json& json) {
  return {.function = json.at(0),
          .module = json.at(1),
          .file = json.at(2),
          .line = json.at(3),
          .kernel = json.at(4),
          .inlined = json.at(5)};
}

}  // namespace

Result<EmbeddedSymbols> EmbeddedSymbols::parse(const std::string& json) {
  EmbeddedSymbols symbols;
  try {
    const Json document = Json::parse(json);
    for (const Json& module : document.at("modules")) {
      Places& places = symbols.modules_[module.at("module")];
      for (const Json& place : module.at("at")) {
        Frames& frames = places[place.at(0)];
        for (const Json& frame : place.at(1)) {
          frames.push_back(to_frame(frame));
        }
      }
    }
  } catch (const Json::exception& error) {
    return Error{std::string("names stored in the file: ") + error.what(), 0, ""};
  }
  return symbols;
}

void EmbeddedSymbols::add(const Module& module, std::uint64_t lookup_offset, const Frames& frames) {
  modules_[key_of(module)][lookup_offset] = frames;
}

const Frames* EmbeddedSymbols::find(const Module& module, std::uint64_t lookup_offset) const {
  const auto places = modules_.find(key_of(module));
  if (places == modules_.end()) {
    return nullptr;
  }
  const auto place = places->second.find(lookup_offset);
  return place == places->second.end() ? nullptr : &place->second;
}

std::string EmbeddedSymbols::to_json() const {
  Json modules = Json::array();
  // Sorted, so that the same recording gives the same bytes.
  const std::map<std::string, Places> sorted_modules(modules_.begin(), modules_.end());
  for (const auto& [key, places] : sorted_modules) {
    Json at = Json::array();
    const std::map<std::uint64_t, Frames> sorted_places(places.begin(), places.end());
    for (const auto& [offset, frames] : sorted_places) {
      Json names = Json::array();
      for (const Frame& frame : frames) {
        names.push_back(memtrace::to_json(frame));
      }
      at.push_back(Json::array({offset, names}));
    }
    modules.push_back({{"module", key}, {"at", at}});
  }
  const Json document = {{"version", 1}, {"modules", modules}};
  // A symbol need not be UTF-8.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace memtrace
