// Stacks that are known are found whole: forty frames without frame pointers, through libc, a
// signal handler and a realigned stack, in every form that a program comes in.
#include <algorithm>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr const char* kMessages = "-e kmem:kmalloc --filter 'bytes_req == 1048' ";

class UnwindingTest : public LiveTest {
 protected:
  // Every sample of the run has this one stack; it is checked frame by frame.
  void expect_whole_stacks(const std::string& command, const std::string& options = "") {
    run_well("$MEMTRACE record --user " + options + kMessages + "-- " + command);
    const Json kmalloc = report("kmalloc --by stack");
    EXPECT_EQ(kmalloc.at("totals").at("count"), 25U);
    const Json& rows = kmalloc.at("tables").at(0).at("rows");
    ASSERT_EQ(rows.size(), 1U) << rows.dump();
    expect_forty_frames(rows.at(0).at("stack"));
    EXPECT_EQ(kmalloc.dump().find("end early"), std::string::npos);
  }

  static void expect_forty_frames(const Json& stack) {
    int next = 1;
    for (const Json& frame : stack) {
      const std::string wanted = "long frame<" + std::to_string(next) + ">";
      next += begins_with(frame, wanted) ? 1 : 0;
    }
    EXPECT_EQ(next, 41) << stack.dump();
    EXPECT_TRUE(begins_with(stack.back(), "_start")) << stack.dump();
    EXPECT_EQ(names_in(stack, "handle_and_call"), 1) << stack.dump();
    EXPECT_EQ(names_in(stack, "compare_and_call"), 1) << stack.dump();
    EXPECT_EQ(names_in(stack, "realign_and_call"), 1) << stack.dump();
  }

  // Samples whose stack has these functions, each called by the next, and main and _start.
  std::uint64_t whole_stacks(const std::string& view, const std::vector<std::string_view>& names) {
    std::uint64_t count = 0;
    const Json shown = report(view + " --by stack --user --top 0");
    for (const Json& row : shown.at("tables").at(0).at("rows")) {
      const Json& stack = row.at("stack");
      const auto same = [](const Json& frame, std::string_view name) {
        return begins_with(frame, name) || begins_with(frame, "__vdso_" + std::string(name));
      };
      const bool in_order =
          std::search(stack.begin(), stack.end(), names.begin(), names.end(), same) != stack.end();
      const bool is_whole = names_in(stack, "main") == 1 && begins_with(stack.back(), "_start");
      count += in_order && is_whole ? row.at("count").get<std::uint64_t>() : 0;
    }
    return count;
  }

  static int names_in(const Json& stack, std::string_view name) {
    int found = 0;
    for (const Json& frame : stack) {
      found += begins_with(frame, name) ? 1 : 0;
    }
    return found;
  }
};

TEST_F(UnwindingTest, forty_frames_without_frame_pointers_are_whole) {
  expect_whole_stacks("$PUPPETS/deep_frames 25");
}

TEST_F(UnwindingTest, trees_and_cut_stacks_are_of_the_same_events) {
  run_well(std::string("$MEMTRACE record --user ") + kMessages + "-- $PUPPETS/deep_frames 25");
  const Json cut = report("kmalloc --depth 3");
  const Json& row = cut.at("tables").at(0).at("rows").at(0);
  EXPECT_EQ(row.at("count"), 25U);
  EXPECT_EQ(row.at("share"), 1.0);
  EXPECT_LT(row.at("stack").size(), 12U) << row.dump();
  const Json shown = report("kmalloc --tree --sort count");
  const Json* node = &shown.at("trees").at(0);
  EXPECT_EQ(node->at("total"), 25U);
  int next = 40;
  while (!node->at("children").empty()) {
    ASSERT_EQ(node->at("children").size(), 1U) << node->dump();
    node = &node->at("children").at(0);
    EXPECT_EQ(node->at("total"), 25U);
    const std::string wanted = "long frame<" + std::to_string(next) + ">";
    next -= begins_with(node->at("function"), wanted) ? 1 : 0;
  }
  EXPECT_EQ(next, 0) << shown.dump();
  EXPECT_EQ(node->at("own"), 25U);
}

TEST_F(UnwindingTest, static_pie_is_unwound) {
  expect_whole_stacks("$PUPPETS/deep_frames_static 25");
}

TEST_F(UnwindingTest, library_loaded_while_recording_is_unwound) {
  expect_whole_stacks("$PUPPETS/deep_loader 25");
}

TEST_F(UnwindingTest, program_with_debug_frame_alone_is_unwound) {
  expect_whole_stacks("$PUPPETS/deep_frames_debug 25");
}

// Code that no compiler made: its call frame information is the kernel's, the linker's and libc's.
TEST_F(UnwindingTest, vdso_linkage_table_and_lazy_binding_are_unwound) {
  run_well("$MEMTRACE record --for faults -- $PUPPETS/stub_stacks vdso 20");
  // The vdso's own data may make one more.
  const auto in_vdso = whole_stacks(
      "faults", {"clock_gettime", "clock_gettime", "(anonymous namespace)::read_clock_into"});
  EXPECT_GE(in_vdso, 20U);
  EXPECT_LE(in_vdso, 22U);
  run_well("$MEMTRACE record --for faults -- $PUPPETS/stub_stacks plt 7");
  EXPECT_EQ(
      whole_stacks("faults", {"called_by_stub@plt", "(anonymous namespace)::call_through_stub"}),
      7U);
  run_well("$MEMTRACE record --user " + std::string(kMessages) + "-- $PUPPETS/stub_stacks lazy 1");
  EXPECT_EQ(
      whole_stacks("kmalloc",
                   {"_dl_fixup", "_dl_runtime_resolve", "(anonymous namespace)::call_first_time"}),
      1U);
}

// Where it runs the path is another file than here. It is read through its process, which has to
// live for a moment; afterwards nobody knows the names. Of 20,000 calls, which take 0.1 s, one run
// in ten was over before the file was opened.
TEST_F(UnwindingTest, program_in_another_mount_namespace_is_unwound) {
  if (run("unshare -m true").status != 0) {
    GTEST_SKIP() << "no mount namespaces here";
  }
  run_well("mkdir real hidden; cp $PUPPETS/deep_frames real; echo none >hidden/deep_frames");
  run_well("$MEMTRACE record --user " + std::string(kMessages) +
           "-- unshare -m sh -c 'mount --bind real hidden && exec hidden/deep_frames 80000'");
  const Json kmalloc = report("kmalloc --by stack");
  std::uint64_t whole = 0;
  for (const Json& row : kmalloc.at("tables").at(0).at("rows")) {
    whole += row.at("stack").size() >= 55 ? row.at("count").get<std::uint64_t>() : 0;
  }
  EXPECT_GE(whole, 40000U);
}

TEST_F(UnwindingTest, program_deleted_while_it_runs_is_unwound) {
  run_well("cp $PUPPETS/deep_frames doomed; $MEMTRACE record --user " + std::string(kMessages) +
           "-- ./doomed 25 doomed");
  const Json kmalloc = report("kmalloc --by stack");
  const Json& rows = kmalloc.at("tables").at(0).at("rows");
  ASSERT_EQ(rows.size(), 1U) << rows.dump();
  EXPECT_GE(rows.at(0).at("stack").size(), 55U) << rows.dump();
  EXPECT_TRUE(begins_with(rows.at(0).at("stack").back(), "doomed+0x") ||
              begins_with(rows.at(0).at("stack").back(), "_start"))
      << rows.dump();
}

TEST_F(UnwindingTest, stripped_program_has_the_same_number_of_frames) {
  run_well("strip -o stripped $PUPPETS/deep_frames");
  run_well("$MEMTRACE record --user " + std::string(kMessages) + "-- ./stripped 25");
  const Json kmalloc = report("kmalloc --by stack");
  const Json& rows = kmalloc.at("tables").at(0).at("rows");
  ASSERT_EQ(rows.size(), 1U) << rows.dump();
  EXPECT_GE(rows.at(0).at("stack").size(), 55U) << rows.dump();
}

TEST_F(UnwindingTest, kernel_part_stays_in_front_of_the_unwound_part) {
  run_well("$MEMTRACE record --call-graph dwarf " + std::string(kMessages) +
           "-- $PUPPETS/deep_frames 25");
  const Json kmalloc = report("kmalloc --by stack");
  EXPECT_EQ(sum_with_function(kmalloc, "do_msgsnd"), 25U);
  expect_forty_frames(kmalloc.at("tables").at(0).at("rows").at(0).at("stack"));
}

TEST_F(UnwindingTest, stack_larger_than_the_copy_is_told) {
  run_well("$MEMTRACE record --user --call-graph dwarf,512 " + std::string(kMessages) +
           "-- $PUPPETS/deep_frames 25");
  const Json kmalloc = report("kmalloc --by stack");
  EXPECT_EQ(sum_with_function(kmalloc, "long frame<2>"), 25U);
  EXPECT_EQ(sum_with_function(kmalloc, "_start"), 0U);
  const std::string notes = kmalloc.at("caveats").at("notes").dump();
  EXPECT_NE(notes.find("25 of 25 user stacks end early: they are larger than the 512 B"),
            std::string::npos)
      << notes;
}

TEST_F(UnwindingTest, live_view_shows_whole_stacks) {
  const Json kmalloc = json_of("$MEMTRACE kmalloc --format json --user --by stack " +
                               std::string(kMessages) + "-- $PUPPETS/deep_frames 25");
  expect_forty_frames(kmalloc.at("tables").at(0).at("rows").at(0).at("stack"));
}

TEST_F(UnwindingTest, file_of_perf_is_unwound_too) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well("perf record -q --call-graph dwarf -o perf.data " + std::string(kMessages) +
           "-- $PUPPETS/deep_frames 25");
  const Json kmalloc = report("kmalloc --by stack --user -i perf.data");
  EXPECT_EQ(kmalloc.at("totals").at("count"), 25U);
  expect_forty_frames(kmalloc.at("tables").at(0).at("rows").at(0).at("stack"));
}

TEST_F(UnwindingTest, perf_reads_the_unwound_stacks) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  run_well("$MEMTRACE record --user " + std::string(kMessages) + "-- $PUPPETS/deep_frames 25");
  const Outcome script = run_well("perf script --no-inline -i memtrace.data -F ip,sym");
  EXPECT_NE(script.out.find("frame<40>"), std::string::npos) << script.all();
  EXPECT_NE(script.out.find("_start"), std::string::npos) << script.all();
}

TEST_F(UnwindingTest, loop_that_does_nothing_but_allocate_loses_nothing) {
  run_well("$MEMTRACE record --for leaks -- $PUPPETS/heap_calls 200000");
  const Json overview = report("--all");
  std::uint64_t samples = 0;
  for (const Json& row : overview.at("tables").at(0).at("rows")) {
    samples += row.at("samples").get<std::uint64_t>();
  }
  EXPECT_GE(samples, 400000U) << overview.at("tables").at(0);
  const Json leaks = report("leaks");
  EXPECT_EQ(lost_in(leaks), 0U) << leaks.at("caveats");
}

}  // namespace
}  // namespace memtrace::test
