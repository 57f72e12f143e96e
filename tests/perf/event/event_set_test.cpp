// On each kernel that memtrace is made for, events can be opened, and what had to be given up is
// said.
#include "perf/event/event_set.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <set>

#include "base/text.h"
#include "os/procfs.h"
#include "os/this_thread.h"
#include "perf/record/sample_layout.h"
#include "support/simulated_kernel.h"

namespace memtrace::test {
namespace {

// include/uapi/linux/perf_event.h of each: sizes, and how many bits the words have.
constexpr auto kKernels = std::to_array<KernelModel>({
    {.name = "RHEL 6.10",
     .attr_bytes = 104,
     .flag_bits = 25,
     .sample_bits = 19,
     .has_clock_id = false,
     .missing = "PERF_FORMAT_LOST PERF_SAMPLE_PHYS_ADDR use_clockid"},
    {.name = "3.10",
     .attr_bytes = 96,
     .flag_bits = 23,
     .sample_bits = 16,
     .software_events = 9,
     .has_cloexec = false,
     .has_id_ioctl = false,
     .missing = "PERF_FORMAT_LOST PERF_SAMPLE_PHYS_ADDR use_clockid comm_exec PERF_RECORD_MMAP2 "
                "PERF_FLAG_FD_CLOEXEC "
                "PERF_SAMPLE_IDENTIFIER PERF_COUNT_SW_DUMMY"},
    {.name = "RHEL 7.3",
     .attr_bytes = 112,
     .flag_bits = 27,
     .sample_bits = 19,
     .has_clock_id = false,
     .missing = "PERF_FORMAT_LOST PERF_SAMPLE_PHYS_ADDR use_clockid"},
    {.name = "RHEL 7.9",
     .attr_bytes = 112,
     .flag_bits = 28,
     .sample_bits = 19,
     .missing = "PERF_FORMAT_LOST PERF_SAMPLE_PHYS_ADDR"},
    {.name = "RHEL 8.0",
     .attr_bytes = 112,
     .flag_bits = 29,
     .sample_bits = 20,
     .missing = "PERF_FORMAT_LOST"},
    {.name = "RHEL 8.10",
     .attr_bytes = 120,
     .flag_bits = 36,
     .sample_bits = 24,
     .missing = "PERF_FORMAT_LOST"},
    {.name = "RHEL 9.0",
     .attr_bytes = 128,
     .flag_bits = 38,
     .sample_bits = 25,
     .missing = "PERF_FORMAT_LOST"},
    {.name = "Debian 5.10",
     .attr_bytes = 120,
     .flag_bits = 32,
     .sample_bits = 22,
     .read_bits = 5,
     .software_events = 11,
     .missing = ""},
    {.name = "6.18",
     .attr_bytes = 136,
     .flag_bits = 39,
     .sample_bits = 25,
     .read_bits = 5,
     .software_events = 12,
     .missing = ""},
    {.name = "a kernel that copies no user stacks",
     .attr_bytes = 72,
     .flag_bits = 19,
     .sample_bits = 11,
     .software_events = 9,
     .has_clock_id = false,
     .has_cloexec = false,
     .has_id_ioctl = false,
     .missing = "PERF_FORMAT_LOST PERF_SAMPLE_PHYS_ADDR use_clockid comm_exec PERF_RECORD_MMAP2 "
                "PERF_FLAG_FD_CLOEXEC "
                "PERF_SAMPLE_IDENTIFIER PERF_COUNT_SW_DUMMY PERF_SAMPLE_STACK_USER "
                "exclude_callchain_user"},
});

EventSetup setup_for(const SimulatedKernel& kernel) {
  return {
      .events =
          {{.info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint, .config = 7},
            .type = kTypeTracepoint,
            .filter = "bytes_req > 100"},
           {.info = {.name = "page-faults", .kind = EventKind::Software, .config = 2},
            .type = kTypeSoftware},
           {.info = {.name = "memtrace_heap_1:malloc", .kind = EventKind::Tracepoint, .config = 8},
            .type = kTypeTracepoint,
            .on_user_code = true,
            .probed_file = "/lib/libc.so.6"},
           {.info = {.name = "syscalls:sys_enter_brk", .kind = EventKind::Tracepoint, .config = 9},
            .type = kTypeTracepoint,
            .on_user_code = true}},
      .attrs = {.call_graph = {.repair = true, .stack_bytes = kDefaultStackBytes},
                .inherit = true,
                .data_mappings = true},
      .tids = {::gettid()},
      .ring_bytes = std::size_t{64} << 10U,
      .calls = &kernel};
}

std::string missing_of(const AttrFeatures& features) {
  std::vector<std::string> missing;
  for (const AttrFeature& feature : attr_features()) {
    if (!(features.*feature.is_there)) {
      missing.emplace_back(feature.name);
    }
  }
  return join(missing, " ");
}

class OldKernelsTest : public testing::TestWithParam<KernelModel> {};

TEST_P(OldKernelsTest, what_is_missing_is_found_by_trying_and_nothing_else_is_given_up) {
  const SimulatedKernel kernel(GetParam());
  const auto features = probe_features(kernel);
  ASSERT_TRUE(features.ok()) << describe(features.error());
  EXPECT_EQ(missing_of(features.value()), GetParam().missing);
  EXPECT_EQ(features.value().attr_bytes, std::min(GetParam().attr_bytes, 112U));
  EXPECT_EQ(kernel_attr_bytes(kernel), GetParam().attr_bytes);
}

TEST_P(OldKernelsTest, events_are_opened_and_what_is_not_known_is_said) {
  const SimulatedKernel kernel(GetParam());
  auto set = EventSet::open(setup_for(kernel));
  ASSERT_TRUE(set.ok()) << describe(set.error());
  ASSERT_EQ(set.value().events().size(), 5U);
  EXPECT_EQ(set.value().notes(), feature_notes(set.value().features()));
  EXPECT_TRUE(set.value().enable_tracking().ok());
  EXPECT_TRUE(set.value().enable_events(false).ok());
  EXPECT_EQ(set.value().rings().front().unread_bytes(), 0U);
  std::set<std::uint64_t> ids;
  for (const OpenedEvent& event : set.value().events()) {
    ids.insert(event.ids.begin(), event.ids.end());
    EXPECT_FALSE(event.ids.empty()) << event.request.info.name;
    EXPECT_LE(event.attr.size, GetParam().attr_bytes);
  }
  EXPECT_EQ(ids.count(0), 0U) << "each event has the id that is in its records";
}

// A breakpoint costs the programs a trap from the moment on at which it is set.
TEST_P(OldKernelsTest, user_probes_are_registered_without_a_breakpoint_and_opened_last) {
  constexpr std::uint64_t kProbe = 8;
  const SimulatedKernel kernel(GetParam());
  EventSetup setup = setup_for(kernel);
  std::swap(setup.events[0], setup.events[2]);
  setup.attrs.inherit = false;
  setup.tids = {-1};
  ASSERT_TRUE(EventSet::open(setup).ok());
  const auto& history = kernel.history();
  const auto is_probe = [](const SimulatedKernel::Opening& opening) {
    return opening.attr.type == kTypeTracepoint && opening.attr.config == kProbe;
  };
  const auto first = std::ranges::find_if(history, is_probe);
  ASSERT_NE(first, history.end());
  EXPECT_EQ(first->attr.enable_on_exec, 1U);
  EXPECT_EQ(first->attr.disabled, 1U);
  EXPECT_EQ(static_cast<std::uint32_t>(first->place.tid), process_without_files());
  const auto second = std::find_if(first + 1, history.end(), is_probe);
  ASSERT_NE(second, history.end());
  EXPECT_EQ(second->attr.enable_on_exec, 0U);
  EXPECT_TRUE(std::all_of(second, history.end(), is_probe));
}

TEST_P(OldKernelsTest, a_probe_that_is_left_out_takes_no_other_events_place) {
  const SimulatedKernel kernel(GetParam());
  EventSetup setup = setup_for(kernel);
  setup.events[0] = {.info = {.name = "memtrace_heap_1:free", .kind = EventKind::Software},
                     .type = kTypeSoftware,
                     .probed_file = "/lib/libc.so.6"};
  setup.events[0].optional = true;
  setup.events[0].info.config = 99;  // unknown to any kernel
  const auto set = EventSet::open(setup);
  ASSERT_TRUE(set.ok()) << describe(set.error());
  ASSERT_EQ(set.value().events().size(), 4U);
  for (const OpenedFd& opened : set.value().fds()) {
    EXPECT_EQ(kernel.opened().at(opened.fd.fd()).attr.config,
              set.value().events().at(opened.event).attr.config);
  }
}

// Who reads a ring waits with the descriptor of its owner.
TEST_P(OldKernelsTest, probes_are_closed_first_and_the_rings_stay) {
  const SimulatedKernel kernel(GetParam());
  auto set = EventSet::open(setup_for(kernel));
  ASSERT_TRUE(set.ok());
  set.value().disable();
  const std::size_t rings = set.value().rings().size();
  const auto closable = set.value().take_closable();
  ASSERT_EQ(closable.size(), 4 * rings);
  for (std::size_t i = 0; i < closable.size(); ++i) {
    EXPECT_EQ(closable[i].of_user_probe, i >= 3 * rings) << "the last ones are closed first";
    EXPECT_EQ(std::ranges::count(set.value().ring_fds(), closable[i].fd.fd()), 0);
  }
  EXPECT_EQ(set.value().rings().size(), rings);
}

// Samples of one ring are distinguished by an id that must lie at the same place in all of them.
TEST_P(OldKernelsTest, samples_of_all_events_have_time_and_id_at_the_same_place) {
  const SimulatedKernel kernel(GetParam());
  const auto set = EventSet::open(setup_for(kernel));
  ASSERT_TRUE(set.ok());
  const StampPlaces first = StampPlaces::of(SampleLayout::of(set.value().events().front().attr));
  EXPECT_NE(first.sample_id, 0U);
  for (const OpenedEvent& event : set.value().events()) {
    const StampPlaces places = StampPlaces::of(SampleLayout::of(event.attr));
    EXPECT_EQ(places.sample_id, first.sample_id) << event.request.info.name;
    EXPECT_EQ(places.sample_time, first.sample_time) << event.request.info.name;
    EXPECT_EQ(places.trailer_id, first.trailer_id) << event.request.info.name;
  }
}

std::string name_of_test(const testing::TestParamInfo<KernelModel>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
}

// What users other than root may have by their limit on locked memory.
TEST_P(OldKernelsTest, small_rings_are_for_the_copies_of_probes_only) {
  const SimulatedKernel kernel(GetParam());
  EventSetup setup = setup_for(kernel);
  setup.attrs.call_graph.skip_kernel_work = true;
  const auto set = EventSet::open(setup);
  ASSERT_TRUE(set.ok());
  const bool copies = set.value().features().user_stack;
  const auto& events = set.value().events();
  EXPECT_EQ(events[2].attr.sample_stack_user, copies ? kRepairStackBytes : 0);
  EXPECT_EQ(events[3].attr.sample_stack_user, copies ? kDefaultStackBytes : 0);
  for (const auto& [fd, opened] : kernel.opened()) {
    const bool is_fault = opened.attr.type == kTypeSoftware && opened.attr.config == 2;
    EXPECT_FALSE(is_fault && opened.attr.sample_stack_user > kRepairStackBytes);
  }
  const std::string notes = join(set.value().notes(), "\n");
  EXPECT_EQ(notes.find("user stacks, except those of probes, follow") != std::string::npos, copies);
  setup.events = {setup.events[0], setup.events[2]};
  setup.events[0].in_bursts = true;
  const auto without_faults = EventSet::open(setup);
  ASSERT_TRUE(without_faults.ok());
  EXPECT_EQ(join(without_faults.value().notes(), "\n").find("no room for copies"),
            std::string::npos)
      << "nothing is to be spared";
  setup.events = setup_for(kernel).events;
}

// Between two ticks as many faults as a ring holds must be all that a task can make.
TEST_P(OldKernelsTest, rings_of_middle_size_are_for_copies_of_half_the_size) {
  const SimulatedKernel kernel(GetParam());
  EventSetup setup = setup_for(kernel);
  setup.attrs.call_graph.skip_kernel_work = true;
  setup.ring_bytes = kSmallestStackRing;
  const auto middle = EventSet::open(setup);
  ASSERT_TRUE(middle.ok());
  const bool copies = middle.value().features().user_stack;
  EXPECT_EQ(middle.value().events()[2].attr.sample_stack_user, copies ? 4096U : 0);
  EXPECT_EQ(middle.value().events()[3].attr.sample_stack_user, copies ? kDefaultStackBytes : 0);
  EXPECT_EQ(join(middle.value().notes(), "\n").find("4.0 KiB are copied") != std::string::npos,
            copies);
  setup.ring_bytes = kWholeStackRing;
  const auto large = EventSet::open(setup);
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large.value().events()[2].attr.sample_stack_user, copies ? kDefaultStackBytes : 0);
  EXPECT_EQ(join(large.value().notes(), "\n").find("are copied"), std::string::npos);
}

// Copies of the stacks of memtrace's own faults would need memory, and make more of them.
TEST_P(OldKernelsTest, of_the_whole_machine_own_stacks_are_not_copied) {
  const SimulatedKernel kernel(GetParam());
  EventSetup setup = setup_for(kernel);
  setup.tids = {-1};
  const auto set = EventSet::open(setup);
  ASSERT_TRUE(set.ok());
  const bool copies = set.value().features().user_stack;
  const std::string others = "comm != \"" + own_comm() + "\"";
  std::set<std::string> filters;
  for (const auto& [fd, opened] : kernel.opened()) {
    filters.insert(opened.filter);
  }
  EXPECT_EQ(filters.count("(bytes_req > 100) && " + others), copies ? 1U : 0U);
  EXPECT_EQ(filters.count("bytes_req > 100"), copies ? 0U : 1U);
  EXPECT_EQ(filters.count(others), copies ? 1U : 0U) << "of the probe";
}

INSTANTIATE_TEST_SUITE_P(Kernels, OldKernelsTest, testing::ValuesIn(kKernels), name_of_test);

}  // namespace
}  // namespace memtrace::test
