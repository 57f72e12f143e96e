// What happened when: costs by stack and process, and figures of the whole, in slots of time. The
// page of --format html draws it, and adds up what lies in the window that its reader selects.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "report/report.h"

namespace memtrace {

struct Timeline {
  static constexpr std::size_t kFigures = 3;

  using Amounts = std::array<std::uint64_t, kFigures>;

  // What was added in one slot.
  struct Amount {
    std::uint32_t slot = 0;
    Amounts figures{};
  };

  // Who caused it, from where. The rest, of which there was no room for each, has no stack.
  struct Source {
    StackId stack;
    std::string comm{};  // "": several, or not known
    bool is_rest = false;
    std::vector<Amount> amounts{};  // by slot, ascending
  };

  struct Subject {
    std::string name{};                // "heap"
    std::vector<std::string> views{};  // that show the same events
    std::vector<Column> figures{};     // at most kFigures
    bool has_level = false;            // the first figure without the last one is what is live
    std::vector<Source> sources{};
  };

  // A figure of all processes together.
  struct Lane {
    std::string name{};
    Unit unit = Unit::Count;
    bool is_level = false;  // as of the end of the slot; else what was added in it
    std::vector<std::optional<std::uint64_t>> values{};  // one for each slot
  };

  struct Mark {
    std::uint64_t time_ns = 0;
    std::string text{};
  };

  // Events that are missing were lost in this time.
  struct Loss {
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t count = 0;
  };

  // How the figure of some slots is made from the figures of each.
  struct Joining {
    enum class How : std::uint8_t {
      Unknown,  // it cannot be
      Sum,
      Largest,
      Least,
      Last,  // as of the end of the last one
      Mean   // of two other figures, which are sums
    };
    How how = How::Unknown;
    std::size_t sum = 0;    // of a mean: the number of the figure
    std::size_t count = 0;  // that it is divided by
  };

  // A part of a view's report by slot.
  struct ReportPart {
    enum class Kind : std::uint8_t { Totals, Table, Histogram };

    struct Slot {
      std::uint32_t slot = 0;
      std::vector<std::optional<double>> figures{};
    };

    // Totals are one row, and a histogram's buckets are rows.
    struct Row {
      std::size_t row = 0;
      std::vector<Slot> slots{};
    };

    Kind kind = Kind::Table;
    std::size_t index = 0;            // among the report's parts of this kind
    std::vector<Joining> joinings{};  // of each figure
    std::vector<Row> rows{};
    std::vector<Slot> rest{};      // of all other rows together: figures that are sums
    std::size_t unknown_rows = 0;  // of the whole report, which are not among these
  };

  struct ReportBySlot {
    std::string view{};
    std::vector<ReportPart> parts{};
    std::vector<std::string> limits{};  // why other parts are not known by slot; sentences
  };

  std::uint64_t start_ns = 0;
  std::uint64_t slot_ns = 0;
  std::size_t slot_count = 0;
  std::vector<Subject> subjects{};
  std::vector<Lane> lanes{};
  std::vector<Mark> marks{};
  std::vector<Loss> losses{};
  std::vector<ReportBySlot> reports{};
  std::vector<std::uint32_t> reported_slots{};   // something happened in them; ascending
  std::unordered_map<StackId, Frames> stacks{};  // of all sources
};

}  // namespace memtrace
