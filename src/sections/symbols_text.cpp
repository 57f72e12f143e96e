#include "sections/symbols_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace memtrace {
namespace {

using Json = nlohmann::json;

// A symbol need not be UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const Frames& frames) {
  Json list = Json::array();
  for (const Frame& frame : frames) {
    list.push_back(Json::array(
        {frame.function, frame.module, frame.file, frame.line, frame.kernel, frame.inlined}));
  }
  return list;
}

}  // namespace

ModuleKey ModuleKey::of(const Module& module) {
  ModuleKey key;
  key.name = module.kind == ModuleKind::Anonymous ? module.path + '@' + std::to_string(module.pid)
                                                  : module.path;
  if (module.inode != 0) {
    key.file = fmt::format("{:x}:{:x}:{}", module.major, module.minor, module.inode);
  }
  return key;
}

std::string ModuleKey::text() const {
  return file.empty() ? name : name + '\0' + file;
}

void SymbolsText::add(const std::string& key, std::uint64_t lookup_offset, const Frames& frames) {
  std::string& places = places_[key];
  places += places.empty() ? "" : ",";
  places += '[' + std::to_string(lookup_offset) + ',' + dump(json_of(frames)) + ']';
}

std::string SymbolsText::to_json() const {
  std::string text = R"({"modules":[)";
  bool is_first = true;
  for (const auto& [key, places] : places_) {
    const std::size_t end = key.find('\0');
    text += std::exchange(is_first, false) ? R"({"at":[)" : R"(,{"at":[)";
    text += places;
    if (end != std::string::npos) {
      text += R"(],"file":)" + dump(key.substr(end + 1));
    } else {
      text += ']';
    }
    text += R"(,"module":)" + dump(key.substr(0, end)) + '}';
  }
  return text + R"(],"version":1})";
}

}  // namespace memtrace
