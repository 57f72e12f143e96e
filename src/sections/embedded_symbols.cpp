#include "sections/embedded_symbols.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sections/symbols_reader.h"
#include "sections/symbols_text.h"

namespace memtrace {

// Of places that were added again the last one stays.
void EmbeddedSymbols::sort(Places& places) {
  std::ranges::reverse(places);
  std::ranges::stable_sort(places, {}, &Place::lookup_offset);
  // Not by std::ranges::unique(), whose subrange clang 14 does not take from libstdc++ 12.
  const auto is_same = [](const Place& left, const Place& right) {
    return left.lookup_offset == right.lookup_offset;
  };
  places.erase(std::unique(places.begin(), places.end(), is_same), places.end());
  places.shrink_to_fit();
}

EmbeddedSymbols::Places::const_iterator EmbeddedSymbols::find_in(const Places& places,
                                                                 std::uint64_t lookup_offset) {
  const auto place = std::ranges::lower_bound(places, lookup_offset, {}, &Place::lookup_offset);
  return place != places.end() && place->lookup_offset == lookup_offset ? place : places.end();
}

Result<EmbeddedSymbols> EmbeddedSymbols::parse(const std::string& json) {
  EmbeddedSymbols symbols;
  Places of_module;
  SymbolsSink sink;
  sink.place = [&](std::uint64_t lookup_offset, const Frames& frames) {
    of_module.push_back({lookup_offset, symbols.frames_.add(frames)});
  };
  sink.module = [&](const ModuleKey& module) {
    Places& places = symbols.modules_[module.text()];
    places.insert(places.end(), of_module.begin(), of_module.end());
    of_module.clear();
  };
  TRY(read_symbols(json, sink));
  for (auto& [key, places] : symbols.modules_) {
    sort(places);
  }
  return symbols;
}

void EmbeddedSymbols::add(const Module& module, std::uint64_t lookup_offset, const Frames& frames) {
  Places& places = modules_[ModuleKey::of(module).text()];
  places.push_back({lookup_offset, frames_.add(frames)});
  sort(places);
}

void EmbeddedSymbols::merge(const EmbeddedSymbols& other) {
  for (const auto& [key, theirs] : other.modules_) {
    Places& places = modules_[key];
    Places missing;
    std::ranges::copy_if(theirs, std::back_inserter(missing), [&places](const Place& place) {
      return find_in(places, place.lookup_offset) == places.end();
    });
    for (const Place& place : missing) {
      places.push_back({place.lookup_offset, frames_.add(other.frames_.at(place.frames))});
    }
    sort(places);
  }
}

std::optional<Frames> EmbeddedSymbols::find(const Module& module,
                                            std::uint64_t lookup_offset) const {
  const ModuleKey key = ModuleKey::of(module);
  auto places = modules_.find(key.text());
  if (places == modules_.end()) {
    places = modules_.find(key.name);
  }
  if (places == modules_.end()) {
    return std::nullopt;
  }
  const auto place = find_in(places->second, lookup_offset);
  return place == places->second.end() ? std::nullopt : std::optional(frames_.at(place->frames));
}

std::string EmbeddedSymbols::to_json() const {
  SymbolsText text;
  for (const auto& [key, places] : modules_) {
    for (const Place& place : places) {
      text.add(key, place.lookup_offset, frames_.at(place.frames));
    }
  }
  return text.to_json();
}

}  // namespace memtrace
