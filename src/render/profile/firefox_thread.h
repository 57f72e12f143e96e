// A track of Firefox Profiler: stacks as a tree in tables of columns that name each other's rows.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "render/profile/stack_profile.h"

namespace memtrace {

// The files of a profile's functions: all threads name them by number.
class FirefoxLibraries {
 public:
  explicit FirefoxLibraries(const Report& report) : report_(report) {}

  // -1: the frame is in no known file.
  int index_of(const Frame& frame);

  nlohmann::ordered_json take() { return std::move(libraries_); }

  std::string name_of(const Frame& frame) const;

 private:
  const Report& report_;
  std::unordered_map<ModuleId, int> indexes_;
  nlohmann::ordered_json libraries_ = nlohmann::ordered_json::array();
};

class FirefoxThread {
 public:
  explicit FirefoxThread(FirefoxLibraries& libraries) : libraries_(libraries) {}

  // `weight`: in the thread's own unit.
  void add(const WeightedStack& stack, const nlohmann::ordered_json& weight);

  // The thread as JSON. `weight_type`: "samples", "bytes" or "tracing-ms".
  nlohmann::ordered_json take(const std::string& name, std::string_view weight_type);

 private:
  using Json = nlohmann::ordered_json;

  // Columns of one table, all of the same length.
  struct Columns {
    Json columns = Json::object();
    std::size_t length = 0;

    void add(std::initializer_list<std::pair<const char*, Json>> cells);
    // With empty columns of these names where nothing was added.
    Json take(std::initializer_list<const char*> names);
  };

  std::size_t text(const std::string& text);
  std::size_t function(const ProfileStep& step);
  std::size_t frame(const ProfileStep& step, std::size_t inline_depth);
  int resource(const Frame& frame);

  FirefoxLibraries& libraries_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> text_indexes_;
  std::map<std::pair<std::size_t, int>, std::size_t> function_indexes_;  // name, resource
  // Function, address, line, inline depth.
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint32_t, std::size_t>, std::size_t>
      frame_indexes_;
  std::map<std::pair<std::int64_t, std::size_t>, std::size_t> stack_indexes_;  // prefix, frame
  std::map<int, int> resource_indexes_;                                        // by library
  Columns functions_;
  Columns frames_;
  Columns stacks_;
  Columns resources_;
  Columns samples_;
};

}  // namespace memtrace
