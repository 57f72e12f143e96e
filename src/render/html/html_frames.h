// Functions as the page has them: each once, stacks are their numbers.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "base/visible.h"
#include "render/profile/stack_profile.h"

namespace memtrace {

class HtmlFrames {
 public:
  std::size_t index_of(const ProfileStep& step) {
    const std::string module = step.frame == nullptr ? "" : visible(step.frame->module);
    const CodeKind kind = code_kind(step);
    const auto [found, is_new] = indexes_.try_emplace({step.name, module, kind}, indexes_.size());
    if (is_new) {
      frames_.push_back({step.name, module, static_cast<int>(kind)});
    }
    return found->second;
  }

  nlohmann::ordered_json take() { return std::move(frames_); }

 private:
  std::map<std::tuple<std::string, std::string, CodeKind>, std::size_t> indexes_;
  nlohmann::ordered_json frames_ = nlohmann::ordered_json::array();
};

}  // namespace memtrace
