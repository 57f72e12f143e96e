#include "decode/raw_call_types.h"

#include <algorithm>

#include "base/text.h"
#include "tracepoints/decode/alternatives.h"
#include "tracepoints/decode/system_calls.h"

namespace memtrace {
namespace {

constexpr std::string_view kOneCall = "id == ";

std::set<std::uint32_t> numbers_in(std::string_view filter) {
  std::set<std::uint32_t> numbers;
  for (std::size_t at = filter.find(kOneCall); at != std::string_view::npos;
       at = filter.find(kOneCall, at)) {
    at += kOneCall.size();
    const std::string_view rest = filter.substr(at);
    const auto number = parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (number) {
      numbers.insert(static_cast<std::uint32_t>(*number));
    }
  }
  return numbers;
}

}  // namespace

void RawCallFilter::note(std::span<const std::string_view> needs,
                         const std::function<bool(std::string_view)>& exists) {
  for (const NeedState& state : examine_needs(needs, exists)) {
    const auto call = call_of_event(state.stands_for);
    const auto number =
        call && is_raw_call_event(state.chosen) ? CallNumbers().number(*call) : std::nullopt;
    if (number) {
      numbers_.insert(*number);
    }
  }
}

void RawCallFilter::narrow(std::vector<EventRequest>& requests) const {
  std::vector<std::string> terms;
  for (const std::uint32_t number : numbers_) {
    terms.push_back(std::string(kOneCall) + std::to_string(number));
  }
  for (EventRequest& request : requests) {
    if (is_raw_call_event(request.info.name) && !whole_.contains(request.info.name)) {
      request.filter = join(terms, " || ");
    }
  }
}

RawCallTypes::RawCallTypes(const EventType& raw, std::string_view filter) {
  const CallNumbers known(raw.format.architecture);
  const std::set<std::uint32_t> recorded = numbers_in(filter);
  for (std::size_t i = 0; i < kSystemCalls; ++i) {
    const auto call = static_cast<SystemCall>(i);
    EventType& type = types_.emplace_back(raw);
    type.name = is_raw_entry(raw.name) ? entry_event(call) : exit_event(call);
    const auto number = known.number(call);
    is_recorded_.push_back(number && (recorded.empty() || recorded.contains(*number)));
  }
}

std::vector<const EventType*> RawCallTypes::recorded() const {
  std::vector<const EventType*> recorded;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (is_recorded_[i]) {
      recorded.push_back(&types_[i]);
    }
  }
  return recorded;
}

const EventType* RawCallTypes::type_of(SystemCall call) const {
  return call == SystemCall::Other ? nullptr : &types_[static_cast<std::size_t>(call)];
}

}  // namespace memtrace
