// Spine 7: what a view found, as a closed set of shapes with typed cells. Knows nothing of how it
// will be printed and nothing of perf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace memtrace {

// monostate: not known (text "-", JSON null, CSV empty). Integers carry their column's unit.
// LocationId is one place in code, StackId a whole stack: both are named by resolve().
using Cell = std::
    variant<std::monostate, std::uint64_t, std::int64_t, double, StackId, LocationId, std::string>;

// Rows that are not made yet: of a million, most reports show 20 and the sum of the others.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  RowSource(RowSource&&) = delete;
  RowSource& operator=(RowSource&&) = delete;
  virtual ~RowSource() = default;

  virtual std::size_t size() const = 0;
  virtual std::vector<Cell> keys(std::size_t row) const = 0;
  // Figures are numbered from 0 on.
  virtual Cell figure(std::size_t row, std::size_t figure) const = 0;

  // The whole row.
  std::vector<Cell> cells(std::size_t row, std::size_t figure_count) const {
    std::vector<Cell> cells = keys(row);
    for (std::size_t i = 0; i < figure_count; ++i) {
      cells.push_back(figure(row, i));
    }
    return cells;
  }
};

struct Column {
  std::string name{};  // "bytes_alloc": also the JSON key and what --sort takes
  Unit unit = Unit::Count;
};

// Power-of-two or linear buckets, in ascending order; empty ones between the first and last stay.
struct Histogram {
  struct Bucket {
    std::uint64_t low = 0;   // inclusive
    std::uint64_t high = 0;  // inclusive
    std::uint64_t count = 0;
  };

  std::string title{};
  Unit unit = Unit::Number;
  std::vector<Bucket> buckets{};
};

// Of the row with these keys.
struct RowHistogram {
  std::vector<Cell> keys{};
  Histogram histogram{};
};

// Key columns come first (key_count of them), then figures. Every row has a cell for each column.
// A view returns all of its rows in any order; arrange() filters, sorts and cuts.
struct Table {
  std::string title{};
  std::vector<Column> columns{};
  std::size_t key_count = 0;
  std::string sort{};    // column by which the table is sorted, largest first, unless the user says
  std::string weight{};  // column whose figures are the value of a folded stack; "" = none
  std::vector<std::vector<Cell>> rows{};
  std::shared_ptr<const RowSource> source{};  // of the rows until arrange(); then and else null
  std::string note{};    // a line under the table: "3,412 more rows", closing figures
  bool fixed = false;    // a matrix or a list whose order and rows mean something: never arranged
  bool entries = false;  // text: a paragraph for each row, its third cell below the first two
  bool paragraphs =
      false;  // text: each row numbered: its second cell, and its third on its own line
  bool last_is_rest = false;  // arrange() cut rows: the last one is their sum
  std::string share_of{};     // by arrange(): column whose figures are parts of `whole`; "" = none
  std::uint64_t whole = 0;    // their sum over all rows, also those that were left out or cut
  std::vector<RowHistogram> histograms{};  // of rows; not all have one
};

// All rows that the source has, for one who looks at them before arrange().
inline void make_rows(Table& table) {
  if (table.source == nullptr) {
    return;
  }
  const auto source = std::exchange(table.source, nullptr);
  table.rows.reserve(source->size());
  for (std::size_t row = 0; row < source->size(); ++row) {
    table.rows.push_back(source->cells(row, table.columns.size() - table.key_count));
  }
}

// A figure over time.
struct Series {
  std::string title{};
  Unit unit = Unit::Count;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> points{};  // time_ns, value

  // When a point was, from the start of the report; a live view's may lie before it.
  static std::int64_t at_ns(std::uint64_t time_ns, std::uint64_t start_ns) {
    return static_cast<std::int64_t>(time_ns - start_ns);
  }
};

// What the reader of the report must know about its truth. Printed under every report.
struct Caveats {
  std::uint64_t lost = 0;       // by the kernel: the ring was full
  std::uint64_t late = 0;       // came after newer ones had been passed on
  std::uint64_t overload = 0;   // dropped by memtrace itself
  std::uint64_t malformed = 0;  // records that do not parse
  std::uint64_t disk_full = 0;  // captured, but there was no room to write them
  std::uint64_t cut = 0;        // stacks cut short by overload
  std::uint64_t unmatched = 0;  // frees of blocks whose allocations are not in the recording
  std::string unmatched_why{};  // what they were: "not sampled"; "": allocated before it
  std::vector<std::string> notes{};

  // All events that are missing.
  std::uint64_t missing() const { return lost + late + overload + malformed + disk_full; }
};

// One named frame of a resolved stack, ready to print.
struct Frame {
  std::string function{};  // never empty: module+0xoffset when there is no name
  std::string module{};
  std::string file{};
  std::uint32_t line = 0;
  bool kernel = false;
  bool inlined = false;
  ModuleId file_id{};         // of Report::modules; of a function inlined here, too
  std::uint64_t address = 0;  // within that file, of the call; 0: not known
};

// A file with code, by which other programs find its symbols.
struct CodeFile {
  std::string path{};
  std::string build_id{};  // lower-case hex, "" when not known
};

using Frames = std::vector<Frame>;  // innermost first

// From the outermost function inwards, or from the innermost one outwards.
enum class TreeOrder : std::uint8_t { Caller, Callee };

// A function of a call tree. A function that calls itself is one node.
struct CallNode {
  Frame frame{};                     // of a key: its text; no line where calls come from several
  std::uint64_t total = 0;           // of all stacks that come this way, each counted once
  std::uint64_t own = 0;             // of those that end here
  bool is_recursive = false;         // it called itself
  std::vector<CallNode> children{};  // the largest first
  std::size_t other_count = 0;       // more children, each too small to be shown
  std::uint64_t other_total = 0;
};

// The rows of a table as what they have in common.
struct CallTree {
  std::string title{};
  Column figure{};
  TreeOrder order = TreeOrder::Caller;
  CallNode root{};          // has no frame
  std::uint64_t whole = 0;  // as a table has it
  std::string note{};
};

struct Total {
  std::string name{};
  Unit unit = Unit::Count;
  std::uint64_t value = 0;
};

// The clock by which moments are shown: of the wall, of the records, or since the report began.
enum class ClockKind : std::uint8_t { Wall, Mono, Offset };

struct ReportClock {
  ClockKind shown = ClockKind::Offset;
  std::uint64_t wall_start_ns = 0;  // CLOCK_REALTIME at the report's start_ns; 0: not known

  bool shows_wall() const { return shown == ClockKind::Wall && wall_start_ns != 0; }
};

// The machine that the report is of, for formats that leave it. "" for what is not known.
struct Origin {
  std::string host{};
  std::string boot_id{};
  std::string kernel_release{};
  std::string architecture{};
  std::string target{};  // "the whole machine", "process 12", a command line
};

struct Timeline;

struct Report {
  std::string view{};  // "kmalloc", "overview"
  std::string title{};
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  ReportClock clock{};
  Origin origin{};
  bool inconclusive = false;      // events that it rests on were not recorded: no overview shows it
  bool nothing_happened = false;  // inconclusive only for that: they were recorded, and none came
  bool is_of_events = true;       // false: nothing was recorded, so nothing can be lost
  std::vector<Total> totals{};
  std::vector<Table> tables{};
  std::vector<CallTree> trees{};  // by arrange(), in place of tables
  std::vector<Histogram> histograms{};
  std::vector<Series> series{};
  std::vector<Report> reports{};               // of an overview: one for each view
  std::shared_ptr<const Timeline> timeline{};  // report/timeline.h; null unless it was asked for
  Caveats caveats{};
  // Filled by resolve() for the stacks and locations that the tables mention.
  std::unordered_map<StackId, Frames> stacks{};
  std::unordered_map<LocationId, Frames> locations{};
  std::unordered_map<ModuleId, CodeFile> modules{};  // of their frames
};

}  // namespace memtrace
