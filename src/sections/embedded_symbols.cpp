#include "sections/embedded_symbols.h"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace memtrace {
namespace {

using Json = nlohmann::json;

// Anonymous code of different processes has nothing in common.
std::string name_of(const Module& module) {
  return module.kind == ModuleKind::Anonymous ? module.path + '@' + std::to_string(module.pid)
                                              : module.path;
}

// "fe:1:131"; "" when the recording does not have it. Below chroot(2) two files have the same path.
std::string file_of(const Module& module) {
  return module.inode == 0 ? ""
                           : fmt::format("{:x}:{:x}:{}", module.major, module.minor, module.inode);
}

std::string key_of(const std::string& name, const std::string& file) {
  return file.empty() ? name : name + '\0' + file;
}

Json to_json(const Frame& frame) {
  return Json::array(
      {frame.function, frame.module, frame.file, frame.line, frame.kernel, frame.inlined});
}

Json to_json(const Frames& frames) {
  Json list = Json::array();
  for (const Frame& frame : frames) {
    list.push_back(to_json(frame));
  }
  return list;
}

Frame to_frame(const Json& json) {
  return {.function = json.at(0),
          .module = json.at(1),
          .file = json.at(2),
          .line = json.at(3),
          .kernel = json.at(4),
          .inlined = json.at(5)};
}

void add_places(const Json& json, std::unordered_map<std::uint64_t, Frames>& places) {
  for (const Json& place : json) {
    Frames& frames = places[place.at(0)];
    for (const Json& frame : place.at(1)) {
      frames.push_back(to_frame(frame));
    }
  }
}

}  // namespace

Result<EmbeddedSymbols> EmbeddedSymbols::parse(const std::string& json) {
  EmbeddedSymbols symbols;
  try {
    const Json document = Json::parse(json);
    for (const Json& module : document.at("modules")) {
      Places& places = symbols.modules_[key_of(module.at("module"), module.value("file", ""))];
      add_places(module.at("at"), places);
    }
  } catch (const Json::exception& error) {
    return Error{std::string("names stored in the file: ") + error.what(), 0, ""};
  }
  return symbols;
}

void EmbeddedSymbols::add(const Module& module, std::uint64_t lookup_offset, const Frames& frames) {
  modules_[key_of(name_of(module), file_of(module))][lookup_offset] = frames;
}

void EmbeddedSymbols::merge(EmbeddedSymbols&& other) {
  for (auto& [key, places] : other.modules_) {
    modules_[key].merge(std::move(places));
  }
}

const Frames* EmbeddedSymbols::find(const Module& module, std::uint64_t lookup_offset) const {
  auto places = modules_.find(key_of(name_of(module), file_of(module)));
  if (places == modules_.end()) {
    places = modules_.find(name_of(module));
  }
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
      at.push_back(Json::array({offset, memtrace::to_json(frames)}));
    }
    const std::size_t end = key.find('\0');
    Json described = {{"module", key.substr(0, end)}, {"at", at}};
    if (end != std::string::npos) {
      described["file"] = key.substr(end + 1);
    }
    modules.push_back(std::move(described));
  }
  const Json document = {{"version", 1}, {"modules", modules}};
  // A symbol need not be UTF-8.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace memtrace
