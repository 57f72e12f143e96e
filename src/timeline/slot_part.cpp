#include "timeline/slot_part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "report/shares.h"

namespace memtrace {
namespace {

// The page's size is bounded by these.
constexpr std::size_t kMostRows = 100;
constexpr std::size_t kMostWholeRows = 1000;  // of the whole recording's
constexpr std::size_t kMostNumbers = 50'000;

using How = Timeline::Joining::How;
using ReportOf = ViewSpec::ReportOf;
using KnownFigure = std::optional<double>;

KnownFigure at(const SlotRows::Figures& figures, std::optional<std::size_t> place) {
  return place && *place < figures.size() ? figures[*place] : std::nullopt;
}

void merge_into(KnownFigure& into, const KnownFigure& more, How how) {
  if (!more || !into) {
    into = into ? into : more;
  } else if (how == How::Largest) {
    into = std::max(*into, *more);
  } else if (how == How::Least) {
    into = std::min(*into, *more);
  } else {
    into = *into + *more;
  }
}

// What happened in each round: a figure that counts since the begin without what it was before.
void subtract_before(SlotRows::Row& row, std::optional<std::size_t> place) {
  double before = 0;
  for (SlotRows::Entry& entry : row) {
    if (const KnownFigure now = at(entry.figures, place)) {
      entry.figures[*place] = *now - before;
      before = *now;
    }
  }
}

bool is_equal(double left, double right) {
  constexpr double kRounding = 1e-9;
  return std::abs(left - right) <= kRounding * (std::abs(left) + std::abs(right));
}

bool has_any(const std::vector<std::string_view>& words, std::span<const std::string_view> wanted) {
  return std::ranges::find_first_of(words, wanted) != words.end();
}

// What the figure may be, by its name and its unit.
std::optional<How> usual_joining(const Column& column) {
  static constexpr auto kNoFigures = std::to_array<Unit>({Unit::PerSecond,
                                                          Unit::BytesPerSecond,
                                                          Unit::Moment,
                                                          Unit::Text,
                                                          Unit::Stack,
                                                          Unit::Address});
  static constexpr auto kMoments = std::to_array<std::string_view>({"at", "per"});
  static constexpr auto kLargest = std::to_array<std::string_view>({"max", "peak"});
  static constexpr auto kLeast = std::to_array<std::string_view>({"min"});
  // The last three: of what programs took from the kernel and have not given back.
  static constexpr auto kStates = std::to_array<std::string_view>(
      {"live", "leaked", "left", "held", "now", "resident", "size", "kernel", "mmap", "brk"});
  const auto words = split(column.name, '_');
  if (std::ranges::find(kNoFigures, column.unit) != kNoFigures.end() || has_any(words, kMoments)) {
    return std::nullopt;
  }
  if (has_any(words, kLargest)) {
    return How::Largest;
  }
  if (has_any(words, kLeast)) {
    return How::Least;
  }
  if (column.unit == Unit::Number || !can_be_summed(column) || has_any(words, kStates)) {
    return How::Last;
  }
  return How::Sum;
}

bool is_mean(const Column& column) {
  return column.name.starts_with("avg") || column.name.starts_with("mean");
}

}  // namespace

SlotPart::SlotPart(const SlotRows& rows,
                   const Table& whole,
                   const std::vector<std::uint32_t>& slots,
                   ViewSpec::ReportOf report_of)
    : rows_(rows), slots_(slots), report_of_(report_of) {
  for (const Column& column : std::span(whole.columns).subspan(whole.key_count)) {
    figures_.push_back(column);
    places_.push_back(rows.place_of(column.name));
  }
  std::set<std::string> keys;
  const std::size_t count = whole.rows.size() - (whole.last_is_rest ? 1 : 0);
  for (const auto& cells : std::span(whole.rows).first(count)) {
    std::string key = SlotRows::key_of(cells, whole.key_count);
    WholeRow& row = whole_.emplace_back();
    row.row = rows.find(key);
    for (const Cell& cell : std::span(cells).subspan(whole.key_count)) {
      row.figures.push_back(SlotRows::figure_of(cell));
    }
    is_list_ = is_list_ || !keys.insert(std::move(key)).second;
  }
  find_joinings();
}

void SlotPart::find_joinings() {
  bool has_all_sums = true;
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const auto wanted = candidate_of(i);
    const bool is_known = wanted && adds_up(i, *wanted);
    joinings_.push_back({.how = is_known ? *wanted : How::Unknown});
    has_all_sums = has_all_sums && (wanted != How::Sum || is_known);
  }
  if (!has_all_sums || report_of_ == ReportOf::SinceBegin) {
    forget_extremes();
  }
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    joinings_[i] = is_mean(figures_[i]) ? mean_of(i) : joinings_[i];
  }
}

std::optional<Timeline::Joining::How> SlotPart::candidate_of(std::size_t figure) const {
  const auto how = usual_joining(figures_[figure]);
  return how == How::Sum && report_of_ == ReportOf::Moment ? How::Last : how;
}

// The largest since the recording began is not that of a slot.
void SlotPart::forget_extremes() {
  for (Joining& joining : joinings_) {
    if (joining.how == How::Largest || joining.how == How::Least) {
      joining.how = How::Unknown;
    }
  }
}

// The rounds of each row make the figure of the whole.
bool SlotPart::adds_up(std::size_t figure, How how) const {
  return std::ranges::all_of(whole_, [&](const WholeRow& whole) {
    const double wanted = whole.figures[figure].value_or(0);
    return whole.row == nullptr ? !rows_.unlisted().empty() || wanted == 0
                                : is_equal(joined(*whole.row, figure, how), wanted);
  });
}

double SlotPart::joined(const SlotRows::Row& row, std::size_t figure, How how) const {
  if (is_running(how)) {
    return row.empty() ? 0 : at(row.back().figures, places_[figure]).value_or(0);
  }
  KnownFigure all;
  for (const SlotRows::Entry& entry : row) {
    if (how != How::Last || entry.round == rows_.last_round()) {
      merge_into(all, at(entry.figures, places_[figure]), how);
    }
  }
  return all.value_or(0);
}

bool SlotPart::is_running(How how) const {
  return how == How::Sum && report_of_ == ReportOf::SinceBegin;
}

SlotRows::Row SlotPart::changes_of(SlotRows::Row row) const {
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (is_running(joinings_[i].how)) {
      subtract_before(row, places_[i]);
    }
  }
  return row;
}

bool SlotPart::is_quotient(std::size_t figure, const Joining& mean) const {
  return std::ranges::all_of(whole_, [&](const WholeRow& whole) {
    const double count = whole.figures[mean.count].value_or(0);
    const double quotient = count == 0 ? 0 : whole.figures[mean.sum].value_or(0) / count;
    const double wanted = whole.figures[figure].value_or(0);
    return is_equal(quotient, wanted) || is_equal(std::floor(quotient), wanted);
  });
}

// The numbers of the figures that are sums of this unit.
std::vector<std::size_t> SlotPart::sums_of(Unit unit) const {
  std::vector<std::size_t> sums;
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (joinings_[i].how == How::Sum && figures_[i].unit == unit) {
      sums.push_back(i);
    }
  }
  return sums;
}

// Of two sums of the same table.
Timeline::Joining SlotPart::mean_of(std::size_t figure) const {
  const auto counts = sums_of(Unit::Count);
  for (const std::size_t sum : sums_of(figures_[figure].unit)) {
    const auto count = std::ranges::find_if(counts, [&](std::size_t one) {
      return one != sum && is_quotient(figure, {.how = How::Mean, .sum = sum, .count = one});
    });
    if (count != counts.end()) {
      return {.how = How::Mean, .sum = sum, .count = *count};
    }
  }
  return {};
}

// Of the rounds that a slot has, only the last one says what was there at the slot's end.
void SlotPart::add_to(Slots& slots, const SlotRows::Entry& entry) const {
  const std::uint32_t slot = slots_[entry.round];
  const bool is_last = entry.round + 1 == slots_.size() || slots_[entry.round + 1] != slot;
  auto into = std::ranges::lower_bound(slots, slot, {}, &Timeline::ReportPart::Slot::slot);
  if (into == slots.end() || into->slot != slot) {
    into = slots.insert(into, {.slot = slot, .figures = SlotRows::Figures(figures_.size())});
  }
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const How how = joinings_[i].how;
    const bool is_given = how != How::Unknown && how != How::Mean;
    if (is_given && (how != How::Last || is_last)) {
      merge_into(into->figures[i], at(entry.figures, places_[i]), how);
    }
  }
}

SlotPart::Slots SlotPart::slots_of(const SlotRows::Row& row) const {
  Slots slots;
  for (const SlotRows::Entry& entry : row) {
    add_to(slots, entry);
  }
  std::erase_if(slots, [](const auto& slot) { return SlotRows::is_nothing(slot.figures); });
  return slots;
}

// All that is not shown: without `all_rows` of the whole's rows alone. Of several rows only sums
// mean something.
SlotPart::Slots SlotPart::rest(const std::vector<const SlotRows::Row*>& shown,
                               bool all_rows) const {
  const std::set<const SlotRows::Row*> known(shown.begin(), shown.end());
  SlotRows::Row others;
  const auto add = [&](const SlotRows::Row* row) {
    if (row != nullptr && !known.contains(row)) {
      const SlotRows::Row changes = changes_of(*row);
      others.insert(others.end(), changes.begin(), changes.end());
    }
  };
  if (all_rows) {
    add(&rows_.unlisted());
    std::ranges::for_each(rows_.rows(), [&](const auto& row) { add(&row.second); });
  } else {
    std::ranges::for_each(whole_, [&](const WholeRow& whole) { add(whole.row); });
  }
  for (SlotRows::Entry& entry : others) {
    forget_all_but_sums(entry.figures);
  }
  return slots_of(others);
}

// Rows of a filtered whole that are known together with those that it leaves out.
std::size_t SlotPart::unknown_rows() const {
  const auto is_unknown = [this](const WholeRow& whole) {
    return whole.row == nullptr && !rows_.unlisted().empty() &&
           !SlotRows::is_nothing(whole.figures);
  };
  return static_cast<std::size_t>(std::ranges::count_if(whole_, is_unknown));
}

void SlotPart::forget_all_but_sums(SlotRows::Figures& figures) const {
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (places_[i] && *places_[i] < figures.size() && joinings_[i].how != How::Sum) {
      figures[*places_[i]].reset();
    }
  }
}

std::optional<Timeline::ReportPart> SlotPart::make(bool all_rows) const {
  const auto is_known = [](const Joining& joining) { return joining.how != How::Unknown; };
  if (is_list_ || rows_.is_cut() || whole_.empty() || std::ranges::none_of(joinings_, is_known)) {
    return std::nullopt;
  }
  Timeline::ReportPart part{.joinings = joinings_};
  std::vector<const SlotRows::Row*> shown;
  std::size_t numbers = 0;
  const std::size_t most = std::min(whole_.size(), kMostWholeRows);
  for (std::size_t i = 0; i < most && shown.size() < kMostRows; ++i) {
    if (whole_[i].row == nullptr) {
      continue;
    }
    Slots slots = slots_of(changes_of(*whole_[i].row));
    numbers += slots.size() * (figures_.size() + 2);
    if (numbers > kMostNumbers) {
      break;
    }
    shown.push_back(whole_[i].row);
    part.rows.push_back({.row = i, .slots = std::move(slots)});
  }
  part.rest = rest(shown, all_rows);
  part.unknown_rows = all_rows ? 0 : unknown_rows();
  return part.rows.empty() && part.rest.empty() ? std::nullopt : std::optional(std::move(part));
}

}  // namespace memtrace
