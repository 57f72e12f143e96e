#include "decode/event_decoder.h"

#include <gtest/gtest.h>

#include "support/fake_source.h"

namespace memtrace {
namespace {

using test::FakeSource;

Mmap code_of(std::uint32_t pid, std::string_view path) {
  return {.pid = pid, .start = 0x400000, .length_bytes = 0x10000, .path = path};
}

class EventDecoderTest : public testing::Test {
 protected:
  // The module that a process's address 0x401000 lies in, "" when it is not known.
  std::string module_at(std::uint32_t pid) {
    source_.add_kmalloc(1, {.pid = pid, .chain = {kContextUser, 0x401000}});
    const auto event = feed_.apply(source_.records().back());
    if (!event) {
      return "no event";
    }
    const auto locations = world_.stacks().locations(event->stack);
    const CodeLocation location = world_.stacks().location(locations.front());
    return location.module.valid() ? world_.modules().at(location.module).path : "";
  }

  std::string comm_of(std::uint32_t pid) {
    source_.add_kmalloc(1, {.pid = pid});
    const auto event = feed_.apply(source_.records().back());
    return event ? std::string(world_.strings().at(event->comm)) : "no event";
  }

  void apply(RecordPayload payload) { feed_.apply({.payload = std::move(payload)}); }

  FakeSource source_;
  World world_{{}};
  EventDecoder feed_{world_, source_.recording()};
};

// A sample of another event represents as many hits as its period.
TEST_F(EventDecoderTest, sample_of_a_clock_is_one_hit_whatever_time_it_stands_for) {
  source_.edit().events.push_back(
      {.name = "cpu-clock", .kind = EventKind::Software, .is_clock = true});
  for (const auto& [number, weight] : {std::pair(test::kMinorFaults, 250000U), {2U, 1U}}) {
    Sample sample{.event = number, .pid = 100, .tid = 100};
    sample.period = 250000;
    const auto event = feed_.apply({.payload = sample});
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->weight, weight);
  }
}

// The idle tasks, and a task that has no pid any more.
TEST_F(EventDecoderTest, tasks_that_are_no_process_are_none) {
  constexpr auto kChain = std::to_array<std::uint64_t>({kContextUser, 0x400100});
  for (const std::uint32_t pid : {0U, 0xffffffffU, 100U}) {
    const auto event = feed_.apply(
        {.payload = Sample{.event = test::kMinorFaults, .pid = pid, .callchain = kChain}});
    ASSERT_TRUE(event.has_value());
    EXPECT_TRUE(event->stack.valid());  // asks for the stack
  }
  EXPECT_EQ(world_.processes().seen(), 1U);
}

// The format of 5.10 with PREEMPT_RT.
TEST_F(EventDecoderTest, tracepoints_own_place_that_is_told_twice_is_one_frame) {
  constexpr std::uint64_t kPlace = 0xffffffff81001000U;
  constexpr std::uint64_t kCaller = 0xffffffff81002000U;
  source_.add_kmalloc(1, {.chain = {kContextKernel, kPlace, kPlace, kCaller, kContextUser, 0x1}});
  source_.add_kmalloc(1, {.chain = {kPlace, kPlace, kCaller}});
  source_.add_kmalloc(1, {.chain = {kContextKernel, kCaller, kPlace, kPlace}});  // a recursion
  std::vector<std::size_t> sizes;
  for (Record record : source_.records()) {
    auto& sample = std::get<Sample>(record.payload);
    sample.ip = sizes.size() < 2 ? kPlace : kCaller;
    const auto event = feed_.apply(record);
    ASSERT_TRUE(event.has_value());
    sizes.push_back(world_.stacks().locations(event->stack).size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 2, 3}));
}

TEST_F(EventDecoderTest, mapped_code_is_found) {
  EXPECT_EQ(module_at(100), "");
  apply(code_of(100, "/bin/demo"));
  EXPECT_EQ(module_at(100), "/bin/demo");
  EXPECT_EQ(module_at(101), "");
}

TEST_F(EventDecoderTest, all_mappings_are_kept_when_they_are_tracked) {
  const Mmap data{.pid = 100,
                  .start = 0x700000,
                  .length_bytes = 0x2000,
                  .file_offset = 0x3000,
                  .inode = 7,
                  .prot = 3,
                  .flags = 1,
                  .executable = false,
                  .path = "/dev/shm/pool"};
  apply(data);
  EXPECT_FALSE(world_.find(100, 0x700000).has_value());
  World tracking({.track_mappings = true});
  EventDecoder feed(tracking, source_.recording());
  feed.apply({.payload = data});
  const auto found = tracking.find(100, 0x701010);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->area.kind, AreaKind::SharedMemory);
  EXPECT_EQ(tracking.strings().at(found->area.path), "/dev/shm/pool");
  EXPECT_EQ(found->area.inode, 7U);
  EXPECT_EQ(found->file_offset, 0x4010U);
  EXPECT_TRUE(tracking.memory_maps().has_data());
}

TEST_F(EventDecoderTest, child_has_its_parents_code_and_name) {
  apply(code_of(100, "/bin/demo"));
  apply(Comm{.pid = 100, .tid = 100, .name = "demo"});
  apply(Fork{.pid = 200, .parent_pid = 100, .tid = 200, .parent_tid = 100});
  EXPECT_EQ(module_at(200), "/bin/demo");
  EXPECT_EQ(comm_of(200), "demo");
}

TEST_F(EventDecoderTest, exec_empties_the_address_space) {
  apply(code_of(100, "/bin/demo"));
  apply(Comm{.pid = 100, .tid = 100, .exec = true, .name = "other"});
  EXPECT_EQ(module_at(100), "");
  EXPECT_EQ(comm_of(100), "other");
}

// Kernels before 3.16.
TEST_F(EventDecoderTest, exec_is_known_by_the_file_when_no_record_says_so) {
  source_.edit().tells_exec = false;
  apply(code_of(100, "/bin/demo"));
  apply(Comm{.pid = 100, .tid = 100, .name = "a_rather_long_n"});
  EXPECT_EQ(module_at(100), "/bin/demo") << "a new name alone is prctl(2)";
  apply(Mmap{.pid = 100,
             .start = 0x900000,
             .length_bytes = 0x1000,
             .path = "/opt/a_rather_long_name_of_a_program"});
  EXPECT_EQ(module_at(100), "");
}

TEST_F(EventDecoderTest, library_that_is_loaded_after_a_new_name_is_no_exec) {
  source_.edit().tells_exec = false;
  apply(code_of(100, "/bin/demo"));
  apply(Comm{.pid = 100, .tid = 100, .name = "worker"});
  apply(Mmap{.pid = 100, .start = 0x900000, .length_bytes = 0x1000, .path = "/lib/libz.so"});
  EXPECT_EQ(module_at(100), "/bin/demo");
  apply(Comm{.pid = 100, .tid = 101, .name = "worker"});
  apply(Mmap{.pid = 100, .start = 0xa00000, .length_bytes = 0x1000, .path = "/bin/worker"});
  EXPECT_EQ(module_at(100), "/bin/demo") << "a thread's name says nothing";
}

TEST_F(EventDecoderTest, a_new_name_alone_leaves_the_address_space) {
  apply(code_of(100, "/bin/demo"));
  apply(Comm{.pid = 100, .tid = 100, .name = "worker"});
  EXPECT_EQ(module_at(100), "/bin/demo");
}

TEST_F(EventDecoderTest, dying_task_keeps_its_code_and_name) {
  apply(code_of(100, "/bin/demo"));
  apply(Comm{.pid = 100, .tid = 100, .name = "demo"});
  apply(Exit{.pid = 100, .parent_pid = 1, .tid = 100, .parent_tid = 1});
  EXPECT_EQ(module_at(100), "/bin/demo");
  EXPECT_EQ(comm_of(100), "demo");
}

TEST_F(EventDecoderTest, data_and_kernel_mappings_are_no_user_code) {
  Mmap data = code_of(100, "/lib/locale");
  data.executable = false;
  apply(data);
  Mmap kernel = code_of(kKernelPid, "[kernel.kallsyms]_text");
  apply(kernel);
  EXPECT_EQ(module_at(100), "");
}

TEST_F(EventDecoderTest, names_that_only_look_like_files_are_anonymous) {
  for (const char* path : {"//anon", "/memfd:jit (deleted)", "/dev/zero", "[heap]", ""}) {
    apply(code_of(100, path));
    module_at(100);
    const Module& module =
        world_.modules().at(ModuleId{static_cast<std::uint32_t>(world_.modules().size())});
    EXPECT_EQ(module.kind, ModuleKind::Anonymous) << path;
  }
  apply(code_of(100, "/bin/demo (deleted)"));
  module_at(100);
  const Module& file =
      world_.modules().at(ModuleId{static_cast<std::uint32_t>(world_.modules().size())});
  EXPECT_EQ(file.kind, ModuleKind::File);
}

TEST_F(EventDecoderTest, fields_become_a_typed_event) {
  source_.add_kmalloc(55, {.pid = 100, .bytes = 1048, .period = 10});
  const auto event = feed_.apply(source_.records().back());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type->name, "kmem:kmalloc");
  EXPECT_EQ(event->time_ns, 55U);
  EXPECT_EQ(event->weight, 10U);
  const auto* alloc = std::get_if<SlabAlloc>(&event->payload);
  ASSERT_NE(alloc, nullptr);
  EXPECT_EQ(alloc->bytes_req, 1048U);
}

TEST_F(EventDecoderTest, software_event_takes_address_and_ip_of_the_sample) {
  const auto event = feed_.apply({.payload = Sample{.event = test::kMinorFaults,
                                                    .pid = 100,
                                                    .tid = 100,
                                                    .ip = 0x401000,
                                                    .address = 0x7000}});
  ASSERT_TRUE(event);
  const auto* fault = std::get_if<PageFault>(&event->payload);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->address, 0x7000U);
  EXPECT_EQ(fault->stage, FaultStage::Minor);
}

TEST_F(EventDecoderTest, sample_too_short_for_its_fields_is_malformed) {
  const std::vector<std::byte> few(12);
  EXPECT_FALSE(feed_.apply({.payload = Sample{.event = test::kKmalloc, .raw = few}}));
  EXPECT_EQ(feed_.malformed(), 1U);
}

// A block of this many pages would be more bytes than a number holds.
TEST_F(EventDecoderTest, page_order_beyond_any_kernels_is_malformed) {
  source_.edit().events.push_back({.name = "kmem:mm_page_free",
                                   .kind = EventKind::Tracepoint,
                                   .format = saved_text("6.1", "kmem:mm_page_free")});
  std::vector<std::byte> raw(64);
  EXPECT_TRUE(feed_.apply({.payload = Sample{.event = 2, .raw = raw}}));
  std::fill(raw.begin(), raw.end(), std::byte{0x7f});
  EXPECT_FALSE(feed_.apply({.payload = Sample{.event = 2, .raw = raw}}));
  EXPECT_EQ(feed_.malformed(), 1U);
}

TEST_F(EventDecoderTest, sample_of_an_event_that_nobody_announced_is_malformed) {
  EXPECT_FALSE(feed_.apply({.payload = Sample{.event = 7}}));
  EXPECT_EQ(feed_.malformed(), 1U);
}

// A pipe announces its events as they come.
TEST_F(EventDecoderTest, events_announced_later_are_learned) {
  source_.edit().events.push_back({.name = "page-faults", .kind = EventKind::Software});
  const auto event = feed_.apply({.payload = Sample{.event = 2, .pid = 1, .tid = 1}});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type->name, "page-faults");
}

TEST_F(EventDecoderTest, event_without_a_format_is_counted_with_a_caveat) {
  source_.edit().events.push_back({.name = "kmem:kfree", .kind = EventKind::Tracepoint});
  const std::vector<std::byte> raw(24);
  feed_.apply({.payload = Sample{.event = 2, .raw = raw}});
  ASSERT_EQ(feed_.caveats().size(), 1U);
  EXPECT_NE(feed_.caveats().front().find("kmem:kfree"), std::string::npos)
      << feed_.caveats().front();
}

}  // namespace
}  // namespace memtrace
