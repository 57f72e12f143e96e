#include "support/fake_namer.h"
#include "support/work_steps.h"

namespace memtrace::test {
namespace {

Frames kernel_stack(std::initializer_list<const char*> functions) {
  Frames frames;
  for (const char* function : functions) {
    frames.push_back({.function = function, .kernel = true});
  }
  return frames;
}

// Stacks 1 to 4 of a script.
class OomTest : public testing::Test {
 protected:
  OomTest() {
    namer_.stacks[StackId{1}] = kernel_stack({"mark_oom_victim",
                                              "__oom_kill_process",
                                              "oom_kill_process",
                                              "out_of_memory",
                                              "mem_cgroup_out_of_memory",
                                              "try_charge_memcg"});
    namer_.stacks[StackId{2}] =
        kernel_stack({"oom_kill_process.cold", "out_of_memory", "__alloc_pages_slowpath"});
    namer_.stacks[StackId{3}] = kernel_stack({"mark_oom_victim", "out_of_memory"});
    namer_.stacks[StackId{4}] = kernel_stack({"__send_signal_locked", "do_tkill"});
  }

  static Step mark(std::uint32_t stack, std::uint32_t victim = 42) {
    OomVictim payload{.pid = victim, .has_memory = true, .comm = "hog"};
    payload.total_vm_bytes = 8000;
    payload.anon_bytes = 4000;
    payload.file_bytes = 100;
    payload.uid = 1000;
    payload.oom_score_adj = -5;
    return {.event = "oom:mark_victim", .payload = payload, .at_ns = 1500, .stack = stack};
  }

  static constexpr const char* kProbe = "memtrace_kernel_7:oom_kill_process";

  // By record --kprobes.
  static Step call(std::uint32_t stack, std::uint32_t pid = 100, std::uint64_t at_ns = 1400) {
    return {.event = kProbe, .payload = {}, .at_ns = at_ns, .pid = pid, .stack = stack};
  }

  static void declare(EventScript& script, std::initializer_list<const char*> events) {
    for (const char* event : events) {
      script.type(event);
    }
    EXPECT_TRUE(script.check().ok());
  }

  static Step signal(std::uint32_t stack, std::int32_t number) {
    return {.event = "signal:signal_generate",
            .payload = SignalSent{.signal = number, .pid = 42, .comm = "hog"},
            .at_ns = 1500,
            .stack = stack};
  }

  Report report_of(EventScript& script) {
    script.name_process(100, "trigger");
    Report report = script.finish({.start_ns = 1000, .end_ns = 2000});
    script.view().complete(report, namer_);
    return report;
  }

  static Cell cell(const Table& table, std::size_t row, std::string_view column) {
    return table.rows.at(row).at(column_index(table, column));
  }

  FakeNamer namer_;
};

TEST_F(OomTest, kill_has_its_victim_its_memory_and_its_trigger) {
  EventScript script("oom");
  script.name_process(100, "trigger");
  script.play(mark(1));
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 1U);
  const Table& kills = report.tables.at(1);
  ASSERT_EQ(kills.rows.size(), 1U);
  EXPECT_EQ(cell(kills, 0, "at_ns"), number(500));
  EXPECT_EQ(cell(kills, 0, "victim"), text("hog"));
  EXPECT_EQ(cell(kills, 0, "victim_pid"), number(42));
  EXPECT_EQ(cell(kills, 0, "trigger"), text("trigger"));
  EXPECT_EQ(cell(kills, 0, "trigger_pid"), number(100));
  EXPECT_EQ(cell(kills, 0, "for"), text("cgroup"));
  EXPECT_EQ(cell(kills, 0, "how"), text("killed"));
  const Table& victims = report.tables.at(2);
  EXPECT_EQ(cell(victims, 0, "anon"), number(4000));
  EXPECT_EQ(cell(victims, 0, "uid"), number(1000));
  EXPECT_EQ(cell(victims, 0, "oom_score_adj"), Cell(std::int64_t{-5}));
  EXPECT_EQ(cell(kills, 0, "stack"), stack(1));
}

TEST_F(OomTest, line_of_a_kill_has_all_that_is_known_of_it_and_comes_once) {
  EventScript script("oom", {.by = {"stack"}, .own = {{"trace", "1"}}});
  script.name_process(100, "trigger");
  script.world().observations().add(
      {.reader = "oom",
       .time_ns = 1500,
       .tid = 100,
       .facts = {.numbers = {{"cgroup_limit", 4096}}, .texts = {{"load_averages", "1 2 3"}}}});
  script.play(mark(1));
  const auto lines = [&] {
    return script.view().take_lines(script.world(), {.start_ns = 1000, .end_ns = 2000}, namer_);
  };
  const Table kills = lines();
  ASSERT_EQ(kills.rows.size(), 1U);
  EXPECT_EQ(cell(kills, 0, "at_ns"), number(500));
  EXPECT_EQ(cell(kills, 0, "trigger"), text("trigger"));
  EXPECT_EQ(cell(kills, 0, "victim_pid"), number(42));
  EXPECT_EQ(cell(kills, 0, "for"), text("cgroup"));
  EXPECT_EQ(cell(kills, 0, "anon"), number(4000));
  EXPECT_EQ(cell(kills, 0, "cgroup_limit"), number(4096));
  EXPECT_EQ(cell(kills, 0, "load_averages"), text("1 2 3"));
  EXPECT_EQ(cell(kills, 0, "stack"), stack(1));
  EXPECT_TRUE(lines().rows.empty());
  EXPECT_EQ(total(report_of(script), "kills"), 1U) << "the report counts it all the same";
}

TEST_F(OomTest, lines_are_of_kills_alone) {
  EventScript script("oom", {.own = {{"trace", "1"}}});
  declare(script, {"signal:signal_generate"});
  script.play({signal(4, 9), signal(1, 9)});
  const Table kills = script.view().take_lines(script.world(), {.start_ns = 1000}, namer_);
  EXPECT_EQ(kills.rows.size(), 1U);
}

TEST_F(OomTest, kill_for_the_machine_and_an_exit_that_got_help) {
  EventScript script("oom");
  script.play({mark(2), mark(3)});
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 1U);
  const Table& kills = report.tables.at(1);
  EXPECT_EQ(cell(kills, 0, "for"), text("machine"));
  EXPECT_EQ(cell(kills, 0, "how"), text("killed"));
  EXPECT_EQ(cell(kills, 1, "how"), text("was exiting"));
}

TEST_F(OomTest, without_mark_victim_only_the_killers_signals_count) {
  EventScript script("oom");
  script.type("signal:signal_generate");
  ASSERT_TRUE(script.check().ok());
  script.play({signal(1, 9), signal(4, 9), signal(1, 15)});
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 1U);
  const Table& kills = report.tables.at(1);
  ASSERT_EQ(kills.rows.size(), 1U);
  EXPECT_EQ(cell(kills, 0, "victim"), text("hog"));
  EXPECT_EQ(cell(kills, 0, "for"), text("cgroup"));
  EXPECT_EQ(cell(report.tables.at(2), 0, "anon"), Cell());
  EXPECT_EQ(cell(report.tables.at(2), 0, "uid"), Cell());
  EXPECT_TRUE(has_note(report, "oom:mark_victim was not recorded"));
}

TEST_F(OomTest, a_signal_that_anybody_may_have_sent_is_no_kill) {
  EventScript script("oom");
  script.type("signal:signal_generate");
  ASSERT_TRUE(script.check().ok());
  script.play({signal(0, 9), signal(4, 9)});
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 0U);
  EXPECT_TRUE(report.tables.at(0).rows.empty());
  EXPECT_TRUE(report.inconclusive) << "the overview does not show it";
  EXPECT_TRUE(has_note(report, "1 SIGKILL may come from the OOM killer"));
}

TEST_F(OomTest, signals_beside_mark_victim_are_not_counted_twice) {
  EventScript script("oom");
  script.type("signal:signal_generate");
  script.type("oom:mark_victim");
  ASSERT_TRUE(script.check().ok());
  script.play({signal(1, 9), mark(1)});
  EXPECT_EQ(total(report_of(script), "kills"), 1U);
}

TEST_F(OomTest, what_proc_said_is_shown_with_the_kill) {
  EventScript script("oom");
  Observation seen{.reader = "oom", .time_ns = 1500, .tid = 100, .delay_ns = 70};
  seen.facts.texts["load_averages"] = "1.00 0.50 0.20";
  seen.facts.texts["clock"] = "14:03:59";
  seen.facts.texts["victim_cgroup"] = "/small";
  seen.facts.numbers["free"] = 12345;
  Facts& process = seen.rows.emplace_back();
  process.texts["comm"] = "hog";
  process.numbers["pid"] = 42;
  process.numbers["resident"] = 4100;
  script.world().observations().add(seen);
  script.play(mark(1));
  const Report report = report_of(script);
  EXPECT_EQ(cell(report.tables.at(3), 0, "load_averages"), text("1.00 0.50 0.20"));
  EXPECT_EQ(cell(report.tables.at(1), 0, "clock"), text("14:03:59"));
  EXPECT_EQ(cell(report.tables.at(2), 0, "cgroup"), text("/small"));
  EXPECT_EQ(cell(report.tables.at(3), 0, "free"), number(12345));
  EXPECT_EQ(cell(report.tables.at(3), 0, "swap_free"), Cell());
  EXPECT_EQ(cell(report.tables.at(4), 0, "resident"), number(4100));
  EXPECT_FALSE(has_note(report, "/proc was not read for"));
}

TEST_F(OomTest, cgroup_is_the_victims_own_and_not_that_of_the_dead) {
  EventScript script("oom");
  Observation seen{.reader = "oom", .time_ns = 1500, .tid = 100};
  seen.facts.texts["victim_cgroup"] = "/";
  script.world().observations().add(seen);
  script.play(mark(1));
  script.world().identify(43, script.world().identities().intern(1000, "/small"));
  script.play(mark(1, 43));
  const Report report = report_of(script);
  EXPECT_EQ(cell(report.tables.at(2), 0, "cgroup"), Cell());
  EXPECT_EQ(cell(report.tables.at(2), 1, "cgroup"), text("/small"));
}

TEST_F(OomTest, victim_that_is_a_pid_alone_has_what_proc_had) {
  EventScript script("oom");
  Observation seen{.reader = "oom", .time_ns = 1500, .tid = 100};
  seen.facts.numbers["victim_anon"] = 777;
  script.world().observations().add(seen);
  Step step = mark(1);
  step.payload = OomVictim{.pid = 42};
  script.name_process(42, "hog");
  script.play(step);
  const Report report = report_of(script);
  EXPECT_EQ(cell(report.tables.at(1), 0, "victim"), text("hog"));
  EXPECT_EQ(cell(report.tables.at(2), 0, "anon"), number(777));
  EXPECT_EQ(cell(report.tables.at(2), 0, "uid"), Cell());
}

TEST_F(OomTest, without_a_kernel_stack_it_is_a_kill_of_unknown_cause) {
  EventScript script("oom");
  script.play(mark(0));
  const Report report = report_of(script);
  EXPECT_EQ(cell(report.tables.at(1), 0, "for"), Cell());
  EXPECT_EQ(cell(report.tables.at(1), 0, "how"), text("killed"));
  EXPECT_TRUE(has_note(report, "the kernel stack, which would show it"));
}

TEST_F(OomTest, kill_that_a_kprobe_saw_too_is_one_and_has_its_own_stack) {
  EventScript script("oom");
  declare(script, {"oom:mark_victim", kProbe});
  script.play({call(2), mark(1)});
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 1U);
  ASSERT_EQ(report.tables.at(1).rows.size(), 1U);
  EXPECT_EQ(cell(report.tables.at(1), 0, "stack"), stack(1));
  EXPECT_FALSE(has_note(report, "kprobe"));
}

TEST_F(OomTest, kprobe_has_the_stack_that_the_mark_lacks) {
  EventScript script("oom");
  declare(script, {"oom:mark_victim", kProbe});
  script.play({call(2), mark(0)});
  const Report report = report_of(script);
  const Table& kills = report.tables.at(1);
  ASSERT_EQ(kills.rows.size(), 1U);
  EXPECT_EQ(cell(kills, 0, "stack"), stack(2));
  EXPECT_EQ(cell(kills, 0, "for"), text("machine"));
  EXPECT_TRUE(has_note(report, "the stacks of 1 kill come from the kprobe"));
}

// Probes in the killer's own thread, one for each call.
TEST_F(OomTest, kprobe_tells_the_killers_signals_where_functions_have_no_names) {
  namer_.stacks[StackId{5}] = kernel_stack({"[kernel]+0x1234"});
  EventScript script("oom");
  declare(script, {"signal:signal_generate", kProbe});
  Step others = signal(5, 9);
  others.pid = 200;
  script.play({signal(5, 9), call(5), others, signal(5, 9), signal(5, 9)});
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 1U);
  ASSERT_EQ(report.tables.at(1).rows.size(), 1U);
  EXPECT_EQ(cell(report.tables.at(1), 0, "trigger_pid"), number(100));
}

TEST_F(OomTest, call_without_a_victim_has_its_trigger_and_its_stack_and_is_no_kill) {
  EventScript script("oom");
  declare(script, {"signal:signal_generate", kProbe});
  script.name_process(100, "trigger");
  script.play({call(2, 100, 1100), call(1, 100, 1200), signal(4, 9)});
  const Report report = report_of(script);
  const Table& kills = report.tables.at(1);
  EXPECT_EQ(total(report, "kills"), 0U);
  ASSERT_EQ(kills.rows.size(), 2U) << "the signal was not the killer's";
  EXPECT_EQ(cell(kills, 1, "stack"), stack(1));
  EXPECT_EQ(cell(kills, 1, "victim_pid"), Cell());
  EXPECT_EQ(cell(kills, 0, "at_ns"), number(100));
  EXPECT_EQ(cell(kills, 0, "trigger"), text("trigger"));
  EXPECT_EQ(cell(kills, 0, "stack"), stack(2));
  EXPECT_EQ(cell(kills, 0, "for"), text("machine"));
  for (const char* column : {"victim", "victim_pid", "how"}) {
    EXPECT_EQ(cell(kills, 0, column), Cell()) << column;
  }
  EXPECT_TRUE(report.tables.at(2).rows.empty());
  EXPECT_TRUE(has_note(report, "no event names the victim of 2 calls of oom_kill_process"));
}

TEST_F(OomTest, perfs_own_probe_alone_tells_the_trigger) {
  EventScript script("oom");
  Step probed = call(1);
  probed.event = "probe:oom_kill_process";
  declare(script, {"probe:oom_kill_process"});
  script.name_process(100, "trigger");
  script.play(probed);
  const Report report = report_of(script);
  EXPECT_EQ(cell(report.tables.at(1), 0, "trigger"), text("trigger"));
  EXPECT_EQ(cell(report.tables.at(1), 0, "for"), text("cgroup"));
  EXPECT_FALSE(has_note(report, "fatal signals"));
}

TEST_F(OomTest, kills_that_are_alike_are_one_row_with_the_details_of_the_last) {
  EventScript script("oom");
  script.name_process(100, "trigger");
  script.world().identify(42, script.world().identities().intern(1000, "/web"));
  for (std::uint64_t at_ns : {1100U, 1300U, 1200U}) {
    Step step = mark(1);
    step.at_ns = at_ns;
    std::get<OomVictim>(step.payload).anon_bytes = at_ns;
    script.play(step);
  }
  script.play(mark(2, 50));
  const Report report = report_of(script);
  EXPECT_EQ(total(report, "kills"), 4U);
  const Table& groups = report.tables.at(0);
  ASSERT_EQ(groups.rows.size(), 2U);
  EXPECT_EQ(cell(groups, 0, "kills"), number(3));
  EXPECT_EQ(cell(groups, 0, "cgroup"), text("/web"));
  EXPECT_EQ(cell(groups, 0, "victim"), text("hog"));
  EXPECT_EQ(cell(groups, 0, "trigger"), text("trigger"));
  EXPECT_EQ(cell(groups, 0, "anon"), number(1300));
  EXPECT_EQ(cell(groups, 0, "at_ns"), number(300));
  EXPECT_EQ(cell(groups, 1, "for"), text("machine"));
  EXPECT_EQ(cell(groups, 1, "victim_pid"), number(50));
  for (const std::size_t table : {1U, 2U}) {
    EXPECT_EQ(report.tables.at(table).rows.size(), 2U) << report.tables.at(table).title;
  }
}

TEST_F(OomTest, by_kill_shows_each_one) {
  EventScript script("oom", {.by = {"kill"}});
  for (std::uint64_t at_ns : {1100U, 1300U}) {
    Step step = mark(1);
    step.at_ns = at_ns;
    script.play(step);
  }
  const Report report = report_of(script);
  ASSERT_EQ(report.tables.at(0).rows.size(), 2U);
  EXPECT_EQ(cell(report.tables.at(0), 0, "at_ns"), number(300));
  EXPECT_EQ(report.tables.at(1).rows.size(), 2U);
}

TEST_F(OomTest, by_container_names_the_service) {
  EventScript script("oom", {.by = {"container"}});
  script.world().identify(
      42, script.world().identities().intern(1000, "/system.slice/redis-server.service"));
  script.play(mark(1));
  EXPECT_EQ(cell(report_of(script).tables.at(0), 0, "container"), text("redis-server.service"));
}

// Twenty services of one name differ in these alone.
TEST_F(OomTest, keys_of_other_views_are_of_the_victim) {
  EventScript script("oom", {.by = {"unit", "uid", "user", "command", "exe", "ppid"}});
  auto& identities = script.world().identities();
  identities.name_user(1000, "web");
  script.world().identify(42, identities.intern(1000, "/system.slice/web.service"));
  script.name_process(42, "java");
  auto& world = script.world();
  const LifeId life = world.processes().find(42)->life;
  world.processes().lives().note_command(life, world.strings().intern("java -jar web.jar"));
  world.processes().lives().note_exe(life, world.strings().intern("/usr/bin/java"));
  world.processes().lives().note_parent(life, 7);
  script.play(mark(1));
  script.play(mark(1, 50));
  const Table groups = report_of(script).tables.at(0);
  ASSERT_EQ(groups.rows.size(), 2U);
  const std::size_t known = cell(groups, 0, "unit") == Cell() ? 1 : 0;
  EXPECT_EQ(cell(groups, known, "unit"), text("web.service"));
  EXPECT_EQ(cell(groups, known, "uid"), number(1000));
  EXPECT_EQ(cell(groups, known, "user"), text("web"));
  EXPECT_EQ(cell(groups, known, "command"), text("java -jar web.jar"));
  EXPECT_EQ(cell(groups, known, "exe"), text("/usr/bin/java"));
  EXPECT_EQ(cell(groups, known, "ppid"), number(7));
  EXPECT_EQ(cell(groups, 1 - known, "command"), Cell());
}

TEST_F(OomTest, intervals_tell_each_kill_once) {
  EventScript script("oom");
  script.play(mark(1));
  EXPECT_EQ(total(report_of(script), "kills"), 1U);
  EXPECT_EQ(total(report_of(script), "kills"), 0U);
}

}  // namespace
}  // namespace memtrace::test
