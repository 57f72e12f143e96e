#include "cli/top/pane.h"

#include <array>

namespace memtrace {
namespace {

constexpr auto kByProcess = std::to_array<std::string_view>({"comm", "pid"});
constexpr auto kByStack = std::to_array<std::string_view>({"stack"});
constexpr auto kByCaller = std::to_array<std::string_view>({"caller"});
constexpr auto kByCache = std::to_array<std::string_view>({"cache"});
constexpr auto kByClass = std::to_array<std::string_view>({"comm", "class"});
constexpr auto kByComm = std::to_array<std::string_view>({"comm"});

constexpr auto kQueries = std::to_array<PaneQuery>({
    {"kmalloc", kByProcess},
    {"pages", kByProcess},
    {"faults", kByProcess},
    {"slab", kByStack},
    {"pages", kByStack},
    {"kmalloc", kByCaller},
    {"slab", kByCache},
    {"faults", kByClass},
    {"vmscan", kByComm},
    {"swapin", kByProcess},
    {"malloc", kByStack},
    {"leaks", kByStack},
});

// Numbers into kQueries, behind those of pane.h.
constexpr std::size_t kSlabByStack = 3;
constexpr std::size_t kPagesByStack = 4;
constexpr std::size_t kKmallocByCaller = 5;
constexpr std::size_t kSlabByCache = 6;
constexpr std::size_t kFaultsByClass = 7;
constexpr std::size_t kVmscan = 8;
constexpr std::size_t kSwapin = 9;
constexpr std::size_t kMallocByStack = 10;
constexpr std::size_t kLeaksByStack = 11;

constexpr auto kProcessRates = std::to_array<PaneColumn>({{"pid", "pid"},
                                                          {"comm", "comm"},
                                                          {"kmalloc", "kmalloc/s", true},
                                                          {"pages", "pages/s", true},
                                                          {"faults", "faults/s", true},
                                                          {"major", "major/s", true},
                                                          {"rss", "rss"},
                                                          {"live", "live"}});
constexpr auto kProcessLive = std::to_array<PaneColumn>({{"pid", "pid"},
                                                         {"comm", "comm"},
                                                         {"rss", "rss"},
                                                         {"live", "live"},
                                                         {"kmalloc", "kmalloc/s", true},
                                                         {"pages", "pages/s", true},
                                                         {"faults", "faults/s", true},
                                                         {"major", "major/s", true}});
constexpr auto kSlabStackRates = std::to_array<PaneColumn>({{"bytes", "bytes/s", true},
                                                            {"allocs", "allocs/s", true},
                                                            {"frees", "frees/s", true},
                                                            {"stack", "stack"}});
constexpr auto kSlabStackLive = std::to_array<PaneColumn>({{"live_bytes", "live"},
                                                           {"live_objects", "objects"},
                                                           {"allocs", "allocs/s", true},
                                                           {"stack", "stack"}});
constexpr auto kPagesStackLive = std::to_array<PaneColumn>({{"live_bytes", "live"},
                                                            {"live_pages", "pages"},
                                                            {"allocs", "allocs/s", true},
                                                            {"stack", "stack"}});
constexpr auto kCallerRates = std::to_array<PaneColumn>({{"caller", "caller"},
                                                         {"bytes_alloc", "bytes/s", true},
                                                         {"count", "allocs/s", true},
                                                         {"waste", "waste/s", true}});
constexpr auto kCacheRates = std::to_array<PaneColumn>({{"cache", "cache"},
                                                        {"bytes", "bytes/s", true},
                                                        {"allocs", "allocs/s", true},
                                                        {"frees", "frees/s", true},
                                                        {"live_bytes", "live"}});
constexpr auto kCacheLive = std::to_array<PaneColumn>({{"cache", "cache"},
                                                       {"live_bytes", "live"},
                                                       {"live_objects", "objects"},
                                                       {"allocs", "allocs/s", true},
                                                       {"frees", "frees/s", true}});
constexpr auto kClassRates = std::to_array<PaneColumn>({{"comm", "comm"},
                                                        {"class", "class"},
                                                        {"count", "faults/s", true},
                                                        {"major", "major/s", true},
                                                        {"time", "time/s", true},
                                                        {"avg", "avg"},
                                                        {"p99", "p99"},
                                                        {"max", "max"}});
constexpr auto kFaultRates = std::to_array<PaneColumn>({{"pid", "pid"},
                                                        {"comm", "comm"},
                                                        {"count", "faults/s", true},
                                                        {"major", "major/s", true},
                                                        {"time", "time/s", true},
                                                        {"avg", "avg"},
                                                        {"p99", "p99"},
                                                        {"max", "max"}});
constexpr auto kReclaimRates = std::to_array<PaneColumn>({{"comm", "comm"},
                                                          {"time_ns", "time/s", true},
                                                          {"reclaims", "reclaims/s", true},
                                                          {"direct", "direct/s", true},
                                                          {"cgroup", "cgroup/s", true},
                                                          {"scanned", "scanned/s", true},
                                                          {"written", "written/s", true}});
constexpr auto kKindRates = std::to_array<PaneColumn>({{"kind", "kind"},
                                                       {"time_ns", "time/s", true},
                                                       {"count", "count/s", true},
                                                       {"scanned", "scanned/s", true},
                                                       {"reclaimed", "reclaimed/s", true},
                                                       {"written", "written/s", true},
                                                       {"max_ns", "max"}});
constexpr auto kSwapRates = std::to_array<PaneColumn>({{"pid", "pid"},
                                                       {"comm", "comm"},
                                                       {"count", "swapins/s", true},
                                                       {"out", "out/s", true},
                                                       {"time", "time/s", true},
                                                       {"avg", "avg"},
                                                       {"max", "max"}});

constexpr auto kMallocRates = std::to_array<PaneColumn>(
    {{"bytes", "bytes/s", true}, {"count", "calls/s", true}, {"stack", "stack"}});
constexpr auto kBlocksLive = std::to_array<PaneColumn>(
    {{"bytes", "live"}, {"count", "blocks"}, {"avg_age_ns", "avg age"}, {"stack", "stack"}});

constexpr auto kProcesses = std::to_array<PaneLook>({
    {.title = "processes: kernel memory, faults, resident memory",
     .of_processes = true,
     .rates = kProcessRates,
     .live = kProcessLive,
     .rates_sort = "pages",
     .live_sort = "rss"},
});
constexpr auto kStacks = std::to_array<PaneLook>({
    {.title = "slab objects by stack",
     .query = kSlabByStack,
     .rates = kSlabStackRates,
     .live = kSlabStackLive,
     .rates_sort = "bytes",
     .live_sort = "live_bytes"},
    {.title = "pages by stack",
     .query = kPagesByStack,
     .rates = kSlabStackRates,
     .live = kPagesStackLive,
     .rates_sort = "bytes",
     .live_sort = "live_bytes"},
    {.title = "kmalloc by caller",
     .query = kKmallocByCaller,
     .rates = kCallerRates,
     .rates_sort = "bytes_alloc"},
});
constexpr auto kCaches = std::to_array<PaneLook>({
    {.title = "slab caches",
     .query = kSlabByCache,
     .rates = kCacheRates,
     .live = kCacheLive,
     .rates_sort = "bytes",
     .live_sort = "live_bytes"},
});
constexpr auto kFaults = std::to_array<PaneLook>({
    {.title = "page faults by class",
     .query = kFaultsByClass,
     .rates = kClassRates,
     .rates_sort = "count"},
    {.title = "page faults by process",
     .query = kFaultsByProcess,
     .rates = kFaultRates,
     .rates_sort = "count"},
});
constexpr auto kReclaim = std::to_array<PaneLook>({
    {.title = "reclaim by process",
     .query = kVmscan,
     .rates = kReclaimRates,
     .rates_sort = "time_ns"},
    {.title = "reclaim by kind",
     .query = kVmscan,
     .table = 1,
     .rates = kKindRates,
     .rates_sort = "time_ns"},
    {.title = "swap-ins by process", .query = kSwapin, .rates = kSwapRates, .rates_sort = "count"},
});
constexpr auto kHeap = std::to_array<PaneLook>({
    {.title = "heap calls by stack",
     .query = kMallocByStack,
     .rates = kMallocRates,
     .rates_sort = "bytes"},
    {.title = "live heap blocks by stack",
     .query = kLeaksByStack,
     .rates = kBlocksLive,
     .rates_sort = "bytes"},
});

constexpr auto kPanes = std::to_array<Pane>({{"processes", kProcesses},
                                             {"stacks", kStacks},
                                             {"slab", kCaches},
                                             {"faults", kFaults},
                                             {"reclaim", kReclaim},
                                             {"heap", kHeap}});

}  // namespace

std::span<const PaneQuery> pane_queries(bool with_heap) {
  return std::span(kQueries).first(with_heap ? kQueries.size() : kMallocByStack);
}

std::span<const Pane> all_panes() {
  return kPanes;
}

}  // namespace memtrace
