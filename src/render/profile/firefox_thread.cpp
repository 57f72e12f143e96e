#include "render/profile/firefox_thread.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/visible.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Breakpad's form of a build id: its first 16 bytes as a GUID, whose first three numbers are
// little-endian, and an age of 0. Symbol servers look files up by it.
std::string breakpad_id(const std::string& build_id) {
  constexpr std::size_t kDigits = 32;
  std::string digits = build_id.substr(0, kDigits);
  if (digits.size() < kDigits) {
    return "";
  }
  const auto swap_bytes = [&digits](std::size_t first, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / 2; ++i) {
      const std::size_t other = first + 2 * (bytes - 1 - i);
      std::swap(digits[first + 2 * i], digits[other]);
      std::swap(digits[first + 2 * i + 1], digits[other + 1]);
    }
  };
  swap_bytes(0, 4);
  swap_bytes(8, 2);
  swap_bytes(12, 2);
  std::ranges::transform(digits, digits.begin(), [](char digit) {
    return digit >= 'a' && digit <= 'f' ? static_cast<char>(digit - 'a' + 'A') : digit;
  });
  return digits + "0";
}

Json or_null(std::uint32_t line) {
  return line == 0 ? Json(nullptr) : Json(line);
}

}  // namespace

std::string FirefoxLibraries::name_of(const Frame& frame) const {
  const auto file = report_.modules.find(frame.file_id);
  return visible(file == report_.modules.end() ? frame.module : last_part(file->second.path));
}

int FirefoxLibraries::index_of(const Frame& frame) {
  const auto file = report_.modules.find(frame.file_id);
  if (file == report_.modules.end() || file->second.path.empty()) {
    return -1;
  }
  const auto [found, is_new] =
      indexes_.try_emplace(frame.file_id, static_cast<int>(libraries_.size()));
  if (is_new) {
    const CodeFile& code = file->second;
    const std::string name = visible(last_part(code.path));
    libraries_.push_back({{"arch", visible(report_.origin.architecture)},
                          {"name", name},
                          {"path", visible(code.path)},
                          {"debugName", name},
                          {"debugPath", visible(code.path)},
                          {"breakpadId", breakpad_id(code.build_id)},
                          {"codeId", code.build_id.empty() ? Json(nullptr) : Json(code.build_id)}});
  }
  return found->second;
}

void FirefoxThread::Columns::add(std::initializer_list<std::pair<const char*, Json>> cells) {
  for (const auto& [name, value] : cells) {
    columns[name].push_back(value);
  }
  ++length;
}

FirefoxThread::Json FirefoxThread::Columns::take(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!columns.contains(name)) {
      columns[name] = Json::array();
    }
  }
  columns["length"] = length;
  return std::move(columns);
}

std::size_t FirefoxThread::text(const std::string& text) {
  const auto [found, is_new] = text_indexes_.try_emplace(text, texts_.size());
  if (is_new) {
    texts_.push_back(text);
  }
  return found->second;
}

int FirefoxThread::resource(const Frame& frame) {
  constexpr int kLibrary = 1;  // ResourceTable's type of a library
  const int library = libraries_.index_of(frame);
  if (library < 0) {
    return -1;
  }
  const auto [found, is_new] =
      resource_indexes_.try_emplace(library, static_cast<int>(resource_indexes_.size()));
  if (is_new) {
    resources_.add({{"lib", library},
                    {"name", text(libraries_.name_of(frame))},
                    {"host", nullptr},
                    {"type", kLibrary}});
  }
  return found->second;
}

std::size_t FirefoxThread::function(const ProfileStep& step) {
  const std::size_t name = text(step.name);
  const int in = step.frame == nullptr ? -1 : resource(*step.frame);
  const auto [found, is_new] = function_indexes_.try_emplace({name, in}, function_indexes_.size());
  if (is_new) {
    const bool has_file = step.frame != nullptr && !step.frame->file.empty();
    functions_.add({{"name", name},
                    {"isJS", false},
                    {"relevantForJS", false},
                    {"resource", in},
                    {"fileName", has_file ? Json(text(visible(step.frame->file))) : Json(nullptr)},
                    {"lineNumber", nullptr},
                    {"columnNumber", nullptr}});
  }
  return found->second;
}

std::size_t FirefoxThread::frame(const ProfileStep& step, std::size_t inline_depth) {
  const std::size_t of_function = function(step);
  const bool has_place = step.frame != nullptr && step.frame->address != 0;
  const std::uint64_t address = has_place ? step.frame->address : 0;
  const std::uint32_t line = step.frame == nullptr ? 0 : step.frame->line;
  const auto [found, is_new] =
      frame_indexes_.try_emplace({of_function, address, line, inline_depth}, frame_indexes_.size());
  if (is_new) {
    frames_.add({{"address", has_place ? Json(address) : Json(-1)},
                 {"inlineDepth", inline_depth},
                 {"category", static_cast<int>(code_kind(step))},
                 {"subcategory", 0},
                 {"func", of_function},
                 {"nativeSymbol", nullptr},
                 {"innerWindowID", 0},
                 {"implementation", nullptr},
                 {"line", or_null(line)},
                 {"column", nullptr}});
  }
  return found->second;
}

void FirefoxThread::add(const WeightedStack& stack, const Json& weight) {
  std::int64_t prefix = -1;
  std::size_t inline_depth = 0;
  for (const ProfileStep& step : stack.steps) {
    const bool is_inlined = step.frame != nullptr && step.frame->inlined;
    inline_depth = is_inlined ? inline_depth + 1 : 0;
    const std::size_t of_frame = frame(step, inline_depth);
    const auto [found, is_new] =
        stack_indexes_.try_emplace({prefix, of_frame}, stack_indexes_.size());
    if (is_new) {
      stacks_.add({{"frame", of_frame},
                   {"prefix", prefix < 0 ? Json(nullptr) : Json(prefix)},
                   {"category", static_cast<int>(code_kind(step))},
                   {"subcategory", 0}});
    }
    prefix = static_cast<std::int64_t>(found->second);
  }
  samples_.add({{"stack", prefix}, {"time", 0}, {"weight", weight}});
}

FirefoxThread::Json FirefoxThread::take(const std::string& name, std::string_view weight_type) {
  Json samples = samples_.take({"stack", "time", "weight"});
  samples["weightType"] = weight_type;
  return {
      {"name", name},
      {"isMainThread", true},
      {"processType", "default"},
      {"processStartupTime", 0},
      {"processShutdownTime", nullptr},
      {"registerTime", 0},
      {"unregisterTime", nullptr},
      {"pausedRanges", Json::array()},
      {"samples", std::move(samples)},
      {"stackTable", stacks_.take({"frame", "prefix", "category", "subcategory"})},
      {"frameTable", frames_.take({"address", "func"})},
      {"funcTable", functions_.take({"name", "resource"})},
      {"resourceTable", resources_.take({"lib", "name", "host", "type"})},
      {"nativeSymbols", Columns().take({"libIndex", "address", "name", "functionSize"})},
      {"markers", Columns().take({"data", "name", "startTime", "endTime", "phase", "category"})},
      {"stringArray", texts_}};
}

}  // namespace memtrace
