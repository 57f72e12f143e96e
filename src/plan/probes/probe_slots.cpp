#include "plan/probes/probe_slots.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "perf/event/event_attr.h"

namespace memtrace {
namespace {

std::string slot_name(std::size_t slot) {
  return "arg_" + std::to_string(slot);
}

// All of `from` that are whole words.
std::string with_words(std::string text, std::string_view from, std::string_view to) {
  const auto is_word = [&text](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    if ((at > 0 && is_word(at - 1)) || is_word(at + from.size())) {
      at += from.size();
      continue;
    }
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

// The line "key: value".
std::string with_line(std::string text, std::string_view key, std::string_view value) {
  const std::size_t start = text.find(key);
  if (start == std::string::npos) {
    return text;
  }
  const std::size_t end = text.find('\n', start);
  return text.replace(start, end - start, std::string(key) + std::string(value));
}

}  // namespace

std::optional<ProbeSlots::Filled> ProbeSlots::fill(std::string_view args,
                                                   std::uint32_t number) const {
  Filled filled;
  std::vector<std::string> fetched(types_.size());
  for (const std::string_view arg : split(args, ' ')) {
    if (arg.empty()) {
      continue;
    }
    const std::size_t name_end = arg.find('=');
    const std::size_t type_start = arg.rfind(':');
    if (name_end == std::string_view::npos || type_start == std::string_view::npos ||
        type_start < name_end) {
      return std::nullopt;
    }
    const std::string_view type = arg.substr(type_start + 1);
    std::size_t slot = 0;
    while (slot < types_.size() && (types_[slot] != type || !fetched[slot].empty())) {
      ++slot;
    }
    if (slot == types_.size()) {
      return std::nullopt;
    }
    fetched[slot] = arg.substr(name_end + 1, type_start - name_end - 1);
    filled.fields[std::string(arg.substr(0, name_end))] = slot_name(slot);
  }
  filled.args = std::string(kSharedNumberField) + "=\\" + std::to_string(number) + ":u32";
  for (std::size_t slot = 0; slot < types_.size(); ++slot) {
    const std::string what = fetched[slot].empty() ? "\\0" : fetched[slot];
    filled.args += " " + slot_name(slot) + "=" + what + ":" + types_[slot];
  }
  return filled;
}

std::string own_format(std::string_view shared, const OwnFormat& own) {
  std::string text = with_line(std::string(shared), "name: ", own.event);
  text = with_line(std::move(text), "ID: ", std::to_string(own.id));
  for (const auto& [name, slot] : own.fields) {
    text = with_words(std::move(text), slot, name);
  }
  return text;
}

std::optional<std::uint32_t> number_offset(std::string_view format_text) {
  constexpr std::string_view kOffset = "offset:";
  const std::size_t field = format_text.find(" " + std::string(kSharedNumberField) + ";");
  const std::size_t start = format_text.find(kOffset, std::min(field, format_text.size()));
  if (start == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = format_text.substr(start + kOffset.size());
  const auto number = parse_number(rest.substr(0, rest.find(';')));
  return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

}  // namespace memtrace
