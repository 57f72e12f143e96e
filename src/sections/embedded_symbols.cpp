#include "sections/embedded_symbols.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sections/symbols_text.h"

namespace memtrace {
namespace {

using Json = nlohmann::json;

Frame to_frame(const Json& json) {
  return {.function = json.at(0),
          .module = json.at(1),
          .file = json.at(2),
          .line = json.at(3),
          .kernel = json.at(4),
          .inlined = json.at(5)};
}

std::string key_of(const Json& module) {
  return ModuleKey{.name = module.at("module"), .file = module.value("file", "")}.text();
}

void add_places(const Json& json, std::unordered_map<std::uint64_t, Frames>& places) {
  for (const Json& place : json) {
    Frames& frames = places[place.at(0)];
    frames.clear();
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
      Places& places = symbols.modules_[key_of(module)];
      add_places(module.at("at"), places);
    }
  } catch (const Json::exception& error) {
    return Error{std::string("names stored in the file: ") + error.what(), 0, ""};
  }
  return symbols;
}

void EmbeddedSymbols::add(const Module& module, std::uint64_t lookup_offset, const Frames& frames) {
  modules_[ModuleKey::of(module).text()][lookup_offset] = frames;
}

void EmbeddedSymbols::merge(EmbeddedSymbols&& other) {
  for (auto& [key, places] : other.modules_) {
    modules_[key].merge(std::move(places));
  }
}

const Frames* EmbeddedSymbols::find(const Module& module, std::uint64_t lookup_offset) const {
  const ModuleKey key = ModuleKey::of(module);
  auto places = modules_.find(key.text());
  if (places == modules_.end()) {
    places = modules_.find(key.name);
  }
  if (places == modules_.end()) {
    return nullptr;
  }
  const auto place = places->second.find(lookup_offset);
  return place == places->second.end() ? nullptr : &place->second;
}

std::string EmbeddedSymbols::to_json() const {
  SymbolsText text;
  for (const auto& [key, places] : modules_) {
    // Sorted, so that the same names give the same bytes.
    std::vector<std::uint64_t> offsets;
    for (const auto& [offset, frames] : places) {
      offsets.push_back(offset);
    }
    std::ranges::sort(offsets);
    for (const std::uint64_t offset : offsets) {
      text.add(key, offset, places.at(offset));
    }
  }
  return text.to_json();
}

}  // namespace memtrace
