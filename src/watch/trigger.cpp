#include "watch/trigger.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "base/units.h"

namespace memtrace {
namespace {

// What stands behind the relation.
enum class LimitForm : std::uint8_t { None, PagesPerSecond, Duration, Bytes, BytesOrShare };

struct TriggerForm {
  TriggerKind kind;
  std::string_view name;
  bool has_comm;  // "(COMM)" follows the name
  char relation;  // '>' or '<'; 0: the name is all
  LimitForm limit;
  std::string_view example;
  std::string_view view;
};

constexpr auto kForms = std::to_array<TriggerForm>({
    {TriggerKind::Oom, "oom", false, 0, LimitForm::None, "oom", "oom"},
    {TriggerKind::Enomem, "enomem", false, 0, LimitForm::None, "enomem", "enomem"},
    {TriggerKind::SwapIn, "swap-in", false, '>', LimitForm::PagesPerSecond, "swap-in>1000/s", ""},
    {TriggerKind::Reclaim, "reclaim", false, '>', LimitForm::Duration, "reclaim>100ms", "reclaim"},
    {TriggerKind::Rss, "rss", true, '>', LimitForm::Bytes, "rss(COMM)>4G", ""},
    {TriggerKind::Available, "available", false, '<', LimitForm::BytesOrShare, "available<5%", ""},
});

const TriggerForm& form_of(TriggerKind kind) {
  return *std::ranges::find(kForms, kind, &TriggerForm::kind);
}

Error refused(const std::string& word, const std::string& why) {
  return {"--on '" + word + "': " + why, 0, "known are " + known_triggers(), ErrorKind::Usage};
}

// "5", "2.5": thousandths.
std::optional<std::uint64_t> parse_thousandths(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  const std::size_t point = text.find('.');
  const auto whole = parse_number(text.substr(0, point));
  std::string digits(point == std::string_view::npos ? "" : text.substr(point + 1));
  if (!whole || *whole > 100 || digits.size() > kDigits ||
      (point != std::string_view::npos && digits.empty())) {
    return std::nullopt;
  }
  digits.resize(kDigits, '0');
  const auto part = parse_number(digits);
  return part ? std::optional(*whole * 1000 + *part) : std::nullopt;
}

std::optional<std::uint64_t> parse_limit(LimitForm form, std::string_view text, Trigger& trigger) {
  constexpr std::string_view kPerSecond = "/s";
  switch (form) {
    case LimitForm::PagesPerSecond:
      return text.ends_with(kPerSecond)
                 ? parse_number(text.substr(0, text.size() - kPerSecond.size()))
                 : std::nullopt;
    case LimitForm::Duration:
      return parse_duration_ns(text);
    case LimitForm::BytesOrShare:
      trigger.is_share = text.ends_with('%');
      return trigger.is_share ? parse_thousandths(text.substr(0, text.size() - 1))
                              : parse_bytes(text);
    default:
      return parse_bytes(text);
  }
}

// Takes "(COMM)" off the front. Nothing: there is none.
std::optional<std::string> take_comm(std::string_view& rest) {
  const std::size_t end = rest.find(')');
  if (!rest.starts_with('(') || end == std::string_view::npos || end < 2) {
    return std::nullopt;
  }
  std::string comm(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  return comm;
}

Result<Trigger> parse_rest(const std::string& word, const TriggerForm& form) {
  std::string_view rest = word;
  rest.remove_prefix(form.name.size());
  Trigger trigger{.kind = form.kind, .word = word};
  if (form.has_comm) {
    auto comm = take_comm(rest);
    if (!comm) {
      return refused(word, "the name of a process belongs in parentheses behind it");
    }
    trigger.comm = std::move(*comm);
  }
  if (form.relation == 0) {
    return rest.empty() ? Result<Trigger>(trigger) : refused(word, "takes no limit");
  }
  if (!rest.starts_with(form.relation)) {
    return refused(word, "a limit belongs behind it, as in " + std::string(form.example));
  }
  const auto limit = parse_limit(form.limit, rest.substr(1), trigger);
  if (!limit || *limit == 0) {
    return refused(word,
                   "'" + std::string(rest.substr(1)) + "' is no limit of it, as in " +
                       std::string(form.example));
  }
  trigger.limit = *limit;
  return trigger;
}

}  // namespace

std::string Trigger::label() const {
  return std::string(form_of(kind).name);
}

std::string Trigger::view() const {
  return std::string(form_of(kind).view);
}

std::string known_triggers() {
  std::string all;
  for (const TriggerForm& form : kForms) {
    all += (all.empty() ? "" : ", ") + std::string(form.example);
  }
  return all + ", available<500M";
}

std::vector<Trigger> each_trigger() {
  std::vector<Trigger> triggers;
  triggers.reserve(kForms.size());
  for (const TriggerForm& form : kForms) {
    triggers.push_back({.kind = form.kind, .word = std::string(form.example)});
  }
  return triggers;
}

Result<Trigger> parse_trigger(const std::string& word) {
  const std::string name = word.substr(0, word.find_first_of("(<>=! "));
  const auto* const form = std::ranges::find(kForms, name, &TriggerForm::name);
  return form == kForms.end() ? Result<Trigger>(refused(word, "there is no such trigger"))
                              : parse_rest(word, *form);
}

Result<std::vector<Trigger>> parse_triggers(const std::vector<std::string>& words) {
  std::vector<Trigger> triggers;
  for (const std::string& word : words) {
    auto trigger = parse_trigger(word);
    if (!trigger.ok()) {
      return trigger.take_error();
    }
    triggers.push_back(trigger.take());
  }
  return triggers.empty() ? Result<std::vector<Trigger>>(refused("", "names no trigger"))
                          : Result<std::vector<Trigger>>(std::move(triggers));
}

}  // namespace memtrace
