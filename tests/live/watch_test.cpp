// memtrace watch: each trigger caused for real, and a file that says what happened.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "live/memory_group.h"
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class WatchTest : public PressureTest {
 protected:
  std::unique_ptr<Background> watch(const std::string& words, const std::string& group = "") {
    return start_recording("exec " + group + "$MEMTRACE watch -o " + dir_.file("w") + " " + words);
  }

  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      const std::string name = entry.path().filename();
      if (name.starts_with("w-") && name.ends_with(".data")) {
        names.push_back(name);
      }
    }
    std::ranges::sort(names);
    return names;
  }

  // The file that a trigger with this label makes; "" when none comes.
  std::string wait_for_file(const std::string& label) {
    constexpr int kTries = 200;
    for (int i = 0; i < kTries; ++i) {
      for (const std::string& name : files()) {
        if (name.ends_with("-" + label + ".data")) {
          return name;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return "";
  }

  // Until it has said them as often as that.
  static void wait_for_words(const Background& memtrace, const std::string& words, int times) {
    const auto said = [&] {
      int count = 0;
      const std::string all = memtrace.err();
      for (std::size_t at = all.find(words); at != std::string::npos;
           at = all.find(words, at + 1)) {
        ++count;
      }
      return count;
    };
    for (int i = 0; i < 200 && said() < times; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  // The sentences that the report begins with.
  std::vector<std::string> happened(const std::string& file) {
    std::vector<std::string> sentences;
    const Json table = report("-i " + file).at("tables").at(0);
    EXPECT_EQ(table.at("title"), "what happened");
    for (const Json& row : table.at("rows")) {
      sentences.push_back(row.at("finding"));
    }
    return sentences;
  }

  void expect_happened(const std::string& label, const std::vector<std::string>& words) {
    const std::string file = wait_for_file(label);
    ASSERT_NE(file, "") << run("ls").out;
    const auto sentences = happened(file);
    ASSERT_FALSE(sentences.empty());
    for (const std::string& word : words) {
      EXPECT_NE(sentences.front().find(word), std::string::npos) << sentences.front();
    }
  }

  // What /proc says of its memory, in bytes.
  struct OwnMemory {
    std::uint64_t anonymous = 0;
    std::uint64_t resident = 0;
    std::uint64_t locked = 0;
  };

  static OwnMemory memory_of(const Background& memtrace) {
    const std::string proc = "/proc/" + std::to_string(memtrace.pid());
    const auto bytes = [status = text_of(proc + "/status")](const std::string& field) {
      const std::size_t at = status.find("\n" + field + ":");
      return at == std::string::npos ? 0 : std::stoull(status.substr(at + field.size() + 2)) * 1024;
    };
    return {bytes("RssAnon"), bytes("VmRSS"), bytes("VmLck")};
  }

  static std::string end(Background& memtrace) {
    memtrace.signal(SIGTERM);
    const Outcome outcome = memtrace.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    return outcome.all();
  }
};

constexpr const char* kTimes = "--before 3s --after 200ms ";

TEST_F(WatchTest, outlives_a_kill_in_its_own_cgroup_and_says_who_it_was) {
  const MemoryGroup group(dir_.path(), 256 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  group.forbid_swap();
  const auto memtrace = watch(std::string(kTimes) + "--on oom --max-memory 8M", group.enter());
  run(group.enter() + "$PUPPETS/press_memory anon 100000; true");
  EXPECT_EQ(group.kills(), 1U);
  const std::string file = wait_for_file("oom");
  ASSERT_NE(file, "") << memtrace->err();
  const auto sentences = happened(file);
  ASSERT_GE(sentences.size(), 3U);
  EXPECT_NE(sentences[0].find("the OOM killer killed press_memory"), std::string::npos);
  EXPECT_NE(sentences[0].find("of its limit of 256.0 MiB"), std::string::npos) << sentences[0];
  EXPECT_NE(sentences[0].find("order 0"), std::string::npos) << sentences[0];
  EXPECT_TRUE(sentences[1].starts_with("press_memory")) << sentences[1];
  EXPECT_NE(sentences[1].find(" grew by "), std::string::npos) << sentences[1];
  const auto touched = std::ranges::find_if(sentences, [](const std::string& sentence) {
    return sentence.starts_with("press_memory") && sentence.find("touched") != std::string::npos;
  });
  ASSERT_NE(touched, sentences.end());
  EXPECT_NE(touched->find("touch."), std::string::npos) << *touched;
  end(*memtrace);
}

// Some containers may not lower it.
bool may_lower_oom_score() {
  return run_script("echo -1000 >/proc/self/oom_score_adj", "/", {}).status == 0;
}

// memtrace is the largest process of its cgroup, by far: it would be the one to be killed.
TEST_F(WatchTest, outlives_a_kill_as_the_largest_process_of_its_cgroup) {
  const MemoryGroup group(dir_.path(), 256 * kMebibyte);
  if (!group.usable()) {
    GTEST_SKIP() << "no memory cgroup can be made";
  }
  if (!may_lower_oom_score()) {
    GTEST_SKIP() << "the kernel refuses a lower oom_score_adj: CAP_SYS_RESOURCE is missing";
  }
  group.forbid_swap();
  const auto memtrace = watch(std::string(kTimes) + "--on oom --max-memory 96M", group.enter());
  run(group.enter() + "$PUPPETS/press_memory anon 100000; true");
  EXPECT_EQ(group.kills(), 1U);
  EXPECT_GT(memory_of(*memtrace).anonymous, 128 * kMebibyte);
  const std::string file = wait_for_file("oom");
  ASSERT_NE(file, "") << memtrace->err();
  EXPECT_NE(happened(file).front().find("killed press_memory"), std::string::npos);
  EXPECT_EQ(end(*memtrace).find("may kill memtrace"), std::string::npos);
}

// Against /proc: nothing of what processes that begin, end and take memory make memtrace hold has
// to be asked of the kernel.
TEST_F(WatchTest, takes_all_its_memory_at_the_start_and_is_not_among_those_that_grew) {
  const auto memtrace = watch(std::string(kTimes) + "--on oom");
  const OwnMemory before = memory_of(*memtrace);
  EXPECT_GE(before.anonymous, (32 + 80 + 8) * kMebibyte);
  run("for i in 1 2 3 4 5 6 7 8 9 10; do $PUPPETS/press_memory anon 2000; $PUPPETS/press_memory "
      "names 1000; sh -c 'ls / | sort | sed s/a/b/' >/dev/null; sleep 0.5; done");
  const OwnMemory after = memory_of(*memtrace);
  EXPECT_LT(after.anonymous, before.anonymous + kMebibyte);
  EXPECT_LT(after.resident, before.resident + kMebibyte);
  memtrace->signal(SIGUSR2);
  const std::string file = wait_for_file("asked");
  ASSERT_NE(file, "") << memtrace->err();
  // Others may run beside it.
  const std::string own = "(pid " + std::to_string(memtrace->pid()) + ")";
  for (const std::string& sentence : happened(file)) {
    EXPECT_EQ(sentence.find(own), std::string::npos) << sentence;
  }
  end(*memtrace);
}

TEST_F(WatchTest, memory_is_locked_or_the_refusal_is_told) {
  const auto locked = watch(std::string(kTimes));
  const OwnMemory memory = memory_of(*locked);
  EXPECT_GE(memory.locked, (32 + 80 + 8) * kMebibyte);
  EXPECT_EQ(end(*locked).find("mlockall"), std::string::npos);
  const auto refused =
      watch(std::string(kTimes) + "--ring-size 64K",
            "setpriv --bounding-set=-ipc_lock sh -c 'ulimit -l 4096; exec \"$@\"' - ");
  EXPECT_EQ(memory_of(*refused).locked, 0U);
  EXPECT_NE(end(*refused).find("may be swapped out: mlockall: Cannot allocate memory; ulimit -l "
                               "allows 4.0 MiB, and CAP_IPC_LOCK any amount"),
            std::string::npos);
}

TEST_F(WatchTest, doctor_says_what_watch_is_refused) {
  const auto states_of = [this](const std::string& before) {
    std::map<std::string, std::string> states;
    const Json doctor = json_of(before + "$MEMTRACE doctor watch --json");
    for (const Json& row : doctor.at("tables").at(2).at("rows")) {
      states[row.at("part")] = row.at("state");
    }
    return states;
  };
  auto states = states_of("");
  for (const char* part : {"oom", "enomem", "swap-in", "reclaim", "rss", "available"}) {
    EXPECT_EQ(states[part], "works") << part;
  }
  EXPECT_EQ(states["locked memory"], "works");
  EXPECT_EQ(states["oom_score_adj"], may_lower_oom_score() ? "works" : "in part");
  EXPECT_EQ(states["pressure"],
            std::filesystem::exists("/proc/pressure/memory") ? "works" : "cannot");
  states = states_of("ulimit -l 4096; setpriv --bounding-set=-ipc_lock ");
  EXPECT_EQ(states["locked memory"], "in part");
}

TEST_F(WatchTest, refused_call_is_a_trigger) {
  const auto memtrace = watch(std::string(kTimes) + "--on enomem");
  run("ulimit -v 100000; $PUPPETS/press_memory anon 50000; true");
  expect_happened("enomem", {"refused memory to press_memory", "mmap of 195.3 MiB failed"});
  end(*memtrace);
}

TEST_F(WatchTest, wait_for_reclaim_and_swap_ins_are_triggers) {
  const MemoryGroup group(dir_.path(), 32 * kMebibyte);
  const SwapFile swap(dir_.file("swap"), 128);
  if (!group.usable() || !swap.usable()) {
    GTEST_SKIP() << "no memory cgroup or no swap file can be made";
  }
  const auto memtrace = watch(std::string(kTimes) + "--on 'reclaim>1us' --on 'swap-in>1000/s'");
  run(group.enter() + "$PUPPETS/press_memory anon 16000");
  const std::string file = wait_for_file("reclaim");
  ASSERT_NE(file, "") << memtrace->err();
  EXPECT_NE(happened(file).front().find("reclaim for its cgroup's limit"), std::string::npos)
      << happened(file).front();
  wait_for_words(*memtrace, "swapped in", 1);
  const std::string told = end(*memtrace);
  EXPECT_NE(told.find("pages a second were swapped in"), std::string::npos) << told;
}

TEST_F(WatchTest, size_of_a_process_is_a_trigger_once_as_long_as_it_stays_true) {
  const auto memtrace = watch("--before 60s --after 100ms --on 'rss(press_mem*)>20M'");
  const auto puppet = start("exec $PUPPETS/press_memory hold 10000");
  expect_happened("rss", {"press_memory (pid " + std::to_string(puppet->pid()) + ") had 4"});
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(files().size(), 1U);
  end(*memtrace);
}

// Puppets hold memory until /proc/meminfo is below the limit; others may take some, too.
TEST_F(WatchTest, available_memory_is_a_trigger) {
  const auto kibibytes = [](const std::string& field) {
    const std::string all = text_of("/proc/meminfo");
    return std::stoull(all.substr(all.find(field) + field.size()));
  };
  const auto available = [&kibibytes] { return kibibytes("MemAvailable:"); };
  const std::uint64_t total = kibibytes("MemTotal:");
  const std::uint64_t limit = (available() - 512 * 1024) * 1000 / total;  // thousandths
  const std::string share = std::to_string(limit / 10) + "." + std::to_string(limit % 10) + "%";
  const auto memtrace = watch(std::string(kTimes) + "--on 'available<" + share + "'");
  std::vector<std::unique_ptr<Background>> puppets;
  for (int i = 0; i < 60 && available() * 1000 / total >= limit; ++i) {
    puppets.push_back(start("exec $PUPPETS/press_memory hold 16384"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_LT(available() * 1000 / total, limit);
  expect_happened("available", {"available<" + share + " fired at ", " were available"});
  end(*memtrace);
}

TEST_F(WatchTest, signal_asks_for_a_file_and_keep_leaves_the_newest) {
  run_well("echo mine > w-20200101-000000-mine.data; echo PERFILE2 > w-notes.data");
  const auto memtrace = watch("--before 1s --after 1ms --keep 2");
  for (int i = 0; i < 4; ++i) {
    memtrace->signal(SIGUSR2);
    wait_for_words(*memtrace, "wrote ", i + 1);
  }
  const std::string told = end(*memtrace);
  EXPECT_NE(told.find("4 files were written"), std::string::npos) << told;
  EXPECT_EQ(files().size(), 4U) << run("ls").out;  // two, and two that are none of its own
  EXPECT_EQ(run("cat w-20200101-000000-mine.data").out, "mine\n");
}

TEST_F(WatchTest, watch_goes_on_where_no_file_can_be_written) {
  const auto memtrace = start_recording(
      "exec unshare -m sh -c 'mkdir full; mount -t tmpfs -o size=8k none full; "
      "exec $MEMTRACE watch --before 1s --after 1ms -o full/w'");
  for (int i = 0; i < 2; ++i) {
    memtrace->signal(SIGUSR2);
    wait_for_words(*memtrace, "goes on", i + 1);
  }
  memtrace->signal(SIGTERM);
  const Outcome outcome = memtrace->wait();
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  EXPECT_TRUE(outcome.says("the watch goes on: ")) << outcome.all();
}

TEST_F(WatchTest, memory_has_a_bound_and_the_file_says_what_found_no_room) {
  const auto memtrace = watch("--before 600s --after 100ms --max-memory 4M --on oom");
  run("$PUPPETS/touch_pages 1 >/dev/null 2>&1; for i in 1 2 3 4 5 6 7 8; do "
      "$PUPPETS/press_memory anon 200000; done");
  const auto figures = text_of("/proc/" + std::to_string(memtrace->pid()) + "/status");
  const std::size_t at = figures.find("RssAnon:");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stoull(figures.substr(at + 8)), (4 + 128) * 1024U);
  memtrace->signal(SIGUSR2);
  const std::string file = wait_for_file("asked");
  ASSERT_NE(file, "") << memtrace->err();
  const std::string notes = report("-i " + file).at("caveats").at("notes").dump();
  EXPECT_NE(notes.find("--max-memory has no room for more"), std::string::npos) << notes;
  end(*memtrace);
}

}  // namespace
}  // namespace memtrace::test
