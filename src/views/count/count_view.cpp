// count: any events by any of their fields, process or stack, with sums and distributions.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "views/count/event_pairs.h"
#include "views/count/field_keys.h"
#include "views/count/last_events.h"
#include "views/kit/durations.h"
#include "views/kit/group_by.h"
#include "views/kit/histogram.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"

namespace memtrace::count_view {
namespace {

constexpr auto kKeys =
    std::to_array<std::string_view>({"event", "stack", "comm", "pid", "tid", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({
    {"sum", "FIELD", "add up a field of the events, and show its average"},
    {"hist",
     "FIELD",
     "show how a field's values are distributed, by powers of two; with --by, in each row"},
    {"pair",
     "EVENT,EVENT",
     "add up the time from the first event to the second, of the same thread or field value"},
    {"last", "N", "list the last N events, one line each"},
});
constexpr auto kNeeds = std::to_array<std::string_view>({"kmem:kmalloc"});

// The sum wraps as unsigned and is read as signed when its field is: two's complement.
struct EventCost {
  std::uint64_t count = 0;
  std::uint64_t summed_count = 0;  // events that have the field
  std::uint64_t sum = 0;
  Durations durations;  // to the second event of a pair
};

Cell if_summed(const EventCost& cost, Cell cell) {
  return when(cost.summed_count > 0, std::move(cell));
}

Cell count_cell(const EventCost& cost, const CellContext& /*context*/) {
  return cost.count;
}

Cell sum_cell(const EventCost& cost, const CellContext& /*context*/) {
  return if_summed(cost, cost.sum);
}

Cell signed_sum_cell(const EventCost& cost, const CellContext& /*context*/) {
  return if_summed(cost, static_cast<std::int64_t>(cost.sum));
}

Cell mean_cell(const EventCost& cost, const CellContext& /*context*/) {
  return if_summed(cost, static_cast<double>(cost.sum) / static_cast<double>(cost.summed_count));
}

Cell signed_mean_cell(const EventCost& cost, const CellContext& /*context*/) {
  return if_summed(cost,
                   static_cast<double>(static_cast<std::int64_t>(cost.sum)) /
                       static_cast<double>(cost.summed_count));
}

// A field that --sum or --hist names.
struct Measured {
  EventField field;
  std::string option;

  // The field's number in this event.
  const Field* in(const EventType& type) {
    const Field* found = field.in(type);
    return found != nullptr && found->kind == FieldKind::Integer ? found : nullptr;
  }
};

std::optional<Measured> measured(const ViewOptions& options, const std::string& option) {
  const auto given = options.own.find(option);
  if (given == options.own.end()) {
    return std::nullopt;
  }
  return Measured{EventField(given->second), option};
}

// The figures of a pair's first event.
constexpr auto kPairFigures = std::to_array<Figure<EventCost>>({
    figure<&EventCost::durations, &Durations::count>("pairs"),
    figure<&EventCost::durations, &Durations::total_ns>("time_ns", Unit::Nanoseconds),
    average_figure<&EventCost::durations>(),
    percentile_figure<&EventCost::durations, 50>("p50_ns"),
    percentile_figure<&EventCost::durations, 99>("p99_ns"),
    longest_figure<&EventCost::durations>(),
});

class Count final : public View {
 public:
  Count(FieldKeys keys,
        const ViewOptions& options,
        std::optional<EventPairs> pairs,
        LastEvents last)
      : rows_(std::move(keys)),
        summed_(measured(options, "sum")),
        distributed_(measured(options, "hist")),
        pairs_(std::move(pairs)),
        last_(std::move(last)) {
    if (distributed_ && !options.by.empty()) {
      row_histograms_.emplace(rows_.keys().size());
    }
  }

  Result<> check(const std::deque<EventType>& types) override;
  void on(const Event& event, const World& /*world*/) override;
  Report finish(const World& world, Span span) override;

 private:
  void note_type(const EventType& type);
  std::vector<Figure<EventCost>> figures();
  std::vector<std::string> notes() const;

  GroupBy<EventCost, FieldKeys> rows_;
  std::optional<Measured> summed_;
  std::optional<Measured> distributed_;
  std::optional<EventPairs> pairs_;
  LastEvents last_;
  ValueHistogram histogram_;
  std::optional<KeyedHistograms> row_histograms_;
  std::uint64_t negative_count_ = 0;
  std::string sum_name_;
  std::string average_name_;
  std::vector<bool> types_seen_;  // by EventType::index
  std::set<std::string> field_names_;
};

Result<> Count::check(const std::deque<EventType>& types) {
  std::vector<AskedField> by;
  for (const std::string& name : rows_.keys().fields()) {
    by.push_back({"--by", name});
  }
  TRY(check_fields(by, types, kKeys));
  std::vector<AskedField> measured_fields;
  for (const auto* asked : {&summed_, &distributed_}) {
    if (*asked) {
      measured_fields.push_back({"--" + (*asked)->option, (*asked)->field.name()});
    }
  }
  TRY(check_fields(measured_fields, types, {}));
  return pairs_ ? pairs_->check(types) : Result<>(kDone);
}

void Count::on(const Event& event, const World& /*world*/) {
  note_type(*event.type);
  const KeyWords words = rows_.keys().of(event);
  last_.add(event.time_ns, words);
  if (const auto pair = pairs_ ? pairs_->on(event, words) : std::nullopt) {
    rows_.row_at(pair->first).durations.add(pair->duration_ns, pair->weight);
  }
  EventCost& cost = rows_.row_at(words);
  cost.count += event.weight;
  const Field* summed = summed_ ? summed_->in(*event.type) : nullptr;
  if (summed != nullptr) {
    cost.sum += event.weight * summed->number(event.raw);
    cost.summed_count += event.weight;
  }
  const Field* distributed = distributed_ ? distributed_->in(*event.type) : nullptr;
  if (distributed == nullptr) {
    return;
  }
  const std::uint64_t value = distributed->number(event.raw);
  if (distributed->is_signed && static_cast<std::int64_t>(value) < 0) {
    negative_count_ += event.weight;
  } else {
    histogram_.add(value, event.weight);
    if (row_histograms_) {
      row_histograms_->add(words, value, event.weight);
    }
  }
}

void Count::note_type(const EventType& type) {
  if (type.index < types_seen_.size() && types_seen_[type.index]) {
    return;
  }
  types_seen_.resize(std::max<std::size_t>(types_seen_.size(), type.index + 1U));
  types_seen_[type.index] = true;
  for (const Field& field : type.format.fields) {
    if (!field.name.starts_with("common_")) {
      field_names_.insert(field.name);
    }
  }
}

std::vector<Figure<EventCost>> Count::figures() {
  std::vector<Figure<EventCost>> figures = {{"count", Unit::Count, count_cell}};
  if (summed_) {
    const Field* first = summed_->field.first();
    const bool is_signed = first != nullptr && first->is_signed;
    const Unit unit = unit_of(summed_->field) == Unit::Bytes ? Unit::Bytes : Unit::Number;
    figures.push_back({sum_name_, unit, is_signed ? signed_sum_cell : sum_cell});
    figures.push_back({average_name_, unit, is_signed ? signed_mean_cell : mean_cell});
  }
  if (pairs_) {
    figures.insert(figures.end(), kPairFigures.begin(), kPairFigures.end());
  }
  return figures;
}

std::vector<std::string> Count::notes() const {
  std::vector<std::string> notes;
  std::vector<std::string> missing = rows_.keys().missing();
  for (const auto* asked : {&summed_, &distributed_}) {
    const Field* first = *asked ? (*asked)->field.first() : nullptr;
    if (*asked && first == nullptr) {
      missing.push_back((*asked)->field.name());
    } else if (*asked && first->kind != FieldKind::Integer) {
      notes.push_back("--" + (*asked)->option + " " + (*asked)->field.name() +
                      ": the field is not a number");
    }
  }
  const std::vector<std::string> names(field_names_.begin(), field_names_.end());
  for (const std::string& name : types_seen_.empty() ? std::vector<std::string>() : missing) {
    notes.push_back("no event has a field '" + name + "'" +
                    (names.empty() ? "" : "; fields are " + join(names, ", ")));
  }
  if (negative_count_ > 0) {
    notes.push_back(fmt::format("{} negative values are not in the histogram", negative_count_));
  }
  return notes;
}

Report Count::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  Report report{.view = "count", .title = "events"};
  report.totals = {{"count", Unit::Count, rows_.total().count}};
  if (summed_) {
    sum_name_ = "sum_" + summed_->field.name();
    average_name_ = "avg_" + summed_->field.name();
  }
  Table& table = report.tables.emplace_back(rows_.table(figures(), context));
  table.sort = summed_ ? sum_name_ : "count";
  table.weight = table.sort;
  if (distributed_) {
    report.histograms.push_back(
        histogram_.histogram(distributed_->field.name(), unit_of(distributed_->field)));
  }
  if (row_histograms_) {
    row_histograms_->move_into(table, report.histograms.front(), rows_.keys(), context);
  }
  report.caveats.notes = notes();
  if (pairs_) {
    std::ranges::move(pairs_->notes(), std::back_inserter(report.caveats.notes));
  }
  if (last_.wanted()) {
    report.tables.push_back(last_.table(rows_.keys(), context));
  }
  last_.clear();
  rows_.clear();
  histogram_.clear();
  negative_count_ = 0;
  return report;
}

bool handles(const EventType& /*type*/) {
  return true;
}

bool counts_suffice(const ViewOptions& options) {
  return options.own.empty() && options.tasks.empty() &&
         std::ranges::all_of(options.by,
                             [](const std::string& key) { return key == "event" || key == "cpu"; });
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Count>(
      FieldKeys::choose(options, kKeys), options, EventPairs::of(options), LastEvents::of(options));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "any events by any of their fields, process or stack, with sums and histograms",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .looks_at_stack_keys_only = true,
    .counts_suffice = counts_suffice,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::count_view
