// A trace written as C++ literals: events of a small machine, played to a world and a view.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/world/world.h"
#include "support/fake_namer.h"
#include "tracepoints/decode/arena.h"
#include "tracepoints/decode/heap.h"
#include "views/all/all_views.h"

namespace memtrace::test {

// One event. Without a tid it is of the process's first thread.
struct Step {
  std::string event;
  RawPayload payload;
  std::uint64_t at_ns = 0;
  std::uint32_t pid = 100;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  std::uint32_t stack = 1;
  std::uint64_t weight = 1;
  std::vector<std::uint64_t> fields = {};  // 8 bytes each, as the event's format has them in order
};

// An object of a slab cache; kmalloc's are distinguished by the step that they are in.
struct Object {
  std::uint64_t ptr = 0x1000;  // 0: the allocation failed
  std::uint64_t bytes_req = 0;
  std::uint64_t bytes_alloc = 0;
  std::uint64_t call_site = 0;
  std::uint64_t gfp = 0;
  std::int32_t node = -1;
  std::string_view cache = {};
};

inline Step at(std::uint64_t time_ns, Step step) {
  step.at_ns = time_ns;
  return step;
}

inline SlabAlloc slab_alloc(const Object& object, bool of_kmalloc) {
  return {.call_site = object.call_site,
          .ptr = object.ptr,
          .bytes_req = object.bytes_req,
          .bytes_alloc = object.bytes_alloc,
          .gfp = object.gfp,
          .node = object.node,
          .kmalloc = of_kmalloc,
          .cache = object.cache};
}

inline Step kmalloc(const Object& object) {
  return {.event = "kmem:kmalloc", .payload = slab_alloc(object, true)};
}

inline Step kfree(std::uint64_t ptr) {
  return {.event = "kmem:kfree",
          .payload = SlabFree{.call_site = 0, .ptr = ptr, .kmalloc = true, .cache = {}}};
}

inline Step cache_alloc(const Object& object) {
  return {.event = "kmem:kmem_cache_alloc", .payload = slab_alloc(object, false)};
}

inline Step cache_free(std::uint64_t ptr, std::string_view cache = {}) {
  return {.event = "kmem:kmem_cache_free",
          .payload = SlabFree{.call_site = 0, .ptr = ptr, .kmalloc = false, .cache = cache}};
}

inline Step page_alloc(const PageAlloc& alloc) {
  return {.event = "kmem:mm_page_alloc", .payload = alloc};
}

inline Step page_free(std::uint64_t page, std::uint32_t order = 0) {
  return {.event = "kmem:mm_page_free", .payload = PageFree{.page = page, .order = order}};
}

// Events of probes on allocators; their kinds are named as the probes are.
inline Step heap_call(const std::string& function, const HeapCall& call) {
  return {.event = "memtrace_heap_1:" + function, .payload = call};
}

inline Step heap_return(const std::string& function, std::uint64_t address) {
  return {.event = "memtrace_heap_1:" + function + "_ret",
          .payload = HeapReturn{.address = address, .usable_bytes = {}}};
}

inline Step heap_free(std::uint64_t address) {
  return heap_call("free", {.op = HeapOp::Free, .address = address});
}

// A whole call of malloc.
inline std::vector<Step> heap_alloc(std::uint64_t address,
                                    std::uint64_t bytes,
                                    std::uint32_t stack = 1,
                                    std::uint64_t at_ns = 0) {
  Step call = heap_call("malloc", {.bytes = bytes, .stack_pointer = 0x7000});
  Step ended = heap_return("malloc", address);
  call.stack = stack;
  call.at_ns = ended.at_ns = at_ns;
  return {call, ended};
}

inline std::vector<Step> heap_realloc(std::uint64_t old_address,
                                      std::uint64_t address,
                                      std::uint64_t bytes,
                                      std::uint32_t stack = 1) {
  Step call = heap_call(
      "realloc",
      {.op = HeapOp::Realloc, .address = old_address, .bytes = bytes, .stack_pointer = 0x7000});
  call.stack = stack;
  return {call, heap_return("realloc", address)};
}

inline EventType event_named(const std::string& name) {
  EventType type;
  type.name = name;
  if (is_heap_event(name)) {
    type.heap_function = heap_function(name);
    type.heap_call = heap_call_name(name);
  }
  type.probe = user_probe_name(name);
  return type;
}

class EventScript {
 public:
  explicit EventScript(std::string_view view, const ViewOptions& options = {})
      : world_(std::make_unique<World>(
            World::Options{.track_live_blocks = true,
                           .track_mappings = true,
                           .keep_code_of_faults = options.own.contains("trace"),
                           .track_first_touches = true,
                           .page_size_bytes = options.page_size_bytes})) {
    auto made = make_view(find_view(view)->spec, options);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    view_ = made.take();
    make_stacks();
  }

  World& world() { return *world_; }

  View& view() { return *view_; }

  // The kind of event, to give it fields before the first event of that kind is played.
  EventType& type(const std::string& name) {
    for (EventType& type : types_) {
      if (type.name == name) {
        return type;
      }
    }
    EventType& type = types_.emplace_back();
    type = event_named(name);
    type.index = static_cast<std::uint32_t>(types_.size() - 1);
    return type;
  }

  // Adds an unsigned 8-byte field to a kind of event; Step::fields gives the values in this order.
  Field& add_field(const std::string& event, const std::string& field) {
    std::vector<Field>& fields = type(event).format.fields;
    Field& added = fields.emplace_back();
    added.name = field;
    added.offset_bytes = static_cast<std::uint32_t>((fields.size() - 1) * sizeof(std::uint64_t));
    added.size_bytes = sizeof(std::uint64_t);
    return added;
  }

  void name_process(std::uint32_t pid, std::string_view comm) {
    world_->processes().rename(pid, pid, world_->strings().intern(comm));
  }

  void play(const Step& step) {
    Event event;
    event.type = &type(step.event);
    event.time_ns = step.at_ns;
    event.pid = step.pid;
    event.tid = step.tid == 0 ? step.pid : step.tid;
    event.cpu = step.cpu;
    event.stack = StackId{step.stack};
    event.weight = step.weight;
    event.raw = std::as_bytes(std::span(step.fields));
    world_->apply(event, step.payload);
    view_->on(event, *world_);
  }

  void play(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      play(step);
    }
  }

  // The kinds of events that have fields.
  Result<> check() { return view_->check(types_); }

  Report finish(View::Span span = {.start_ns = 0, .end_ns = 1'000'000'000}) {
    Report report = view_->finish(*world_, span);
    std::ranges::for_each(report.tables, make_rows);
    return report;
  }

  // What --trace has to print by now.
  Table lines(View::Span span = {.start_ns = 0, .end_ns = 1'000'000'000}) {
    FakeNamer namer;
    return view_->take_lines(*world_, span, namer);
  }

 private:
  // Step::stack: stacks of one kernel function each.
  void make_stacks() {
    constexpr std::uint64_t kFirstFunction = 0xffffffff81000000;
    for (std::uint64_t i = 0; i < 16; ++i) {
      const std::array<std::uint64_t, 1> chain = {kFirstFunction + i};
      world_->intern_stack(0, chain);
    }
  }

  std::unique_ptr<World> world_;  // scripts are moved, a world is not
  std::deque<EventType> types_;
  std::unique_ptr<View> view_;
};

inline Cell text(std::string_view text) {
  return std::string(text);
}

inline Cell number(std::uint64_t number) {
  return number;
}

inline Cell stack(std::uint32_t id) {
  return StackId{id};
}

inline std::size_t column_index(const Table& table, std::string_view name) {
  const auto column = std::ranges::find(table.columns, name, &Column::name);
  EXPECT_NE(column, table.columns.end()) << name;
  return static_cast<std::size_t>(column - table.columns.begin());
}

// The row with these keys; nullptr when there is none or more than one.
inline const std::vector<Cell>* find_row(const Table& table, const std::vector<Cell>& keys) {
  const std::vector<Cell>* found = nullptr;
  for (const std::vector<Cell>& row : table.rows) {
    if (std::equal(keys.begin(), keys.end(), row.begin())) {
      if (found != nullptr) {
        return nullptr;
      }
      found = &row;
    }
  }
  return found;
}

// A figure of the one row with these keys.
inline Cell figure(const Report& report, const std::vector<Cell>& keys, std::string_view column) {
  const Table& table = report.tables.front();
  const std::vector<Cell>* row = find_row(table, keys);
  EXPECT_NE(row, nullptr) << "no such row, or several";
  return row == nullptr ? text("no row") : (*row)[column_index(table, column)];
}

inline std::uint64_t total(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.totals, name, &Total::name);
  EXPECT_NE(found, report.totals.end()) << name;
  return found == report.totals.end() ? 0 : found->value;
}

inline bool has_note(const Report& report, std::string_view part) {
  return std::ranges::any_of(report.caveats.notes, [part](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

}  // namespace memtrace::test
