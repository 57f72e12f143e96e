// Mappings, brk, shared memory and refused calls of programs whose doings are known, against
// /proc/PID/maps, /proc/sysvipc/shm and perf's own counting.
#include <fstream>
#include <set>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class AddressSpaceTest : public LiveTest {
 protected:
  static const Json& table(const Json& report, std::string_view title) {
    for (const Json& each : report.at("tables")) {
      if (begins_with(each.at("title"), title)) {
        return each;
      }
    }
    static const Json kNone = {{"rows", Json::array()}};
    return kNone;
  }

  std::string text_of(const std::string& name) {
    std::ifstream file(dir_.file(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // "start-limit rwxp offset path" of each page, so that neighbours that the kernel has merged do
  // not matter.
  using Pages = std::map<std::uint64_t, std::string>;

  static void add_pages(Pages& pages,
                        std::uint64_t start,
                        std::uint64_t limit,
                        std::uint64_t offset,
                        const std::string& what) {
    const bool has_file = what.find('/') != std::string::npos;
    for (std::uint64_t at = start; at < limit; at += kPageBytes) {
      pages[at] = what + (has_file ? " " + std::to_string(offset + (at - start)) : "");
    }
  }

  // As the process saw them itself. [vsyscall] is not a mapping of the process.
  Pages pages_of_proc(const std::string& name) {
    Pages pages;
    std::istringstream lines(text_of(name));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::uint64_t start = 0;
      std::uint64_t limit = 0;
      std::uint64_t offset = 0;
      char dash = 0;
      std::string flags, device, inode, path;
      words >> std::hex >> start >> dash >> limit >> flags >> offset >> device >> inode;
      std::getline(words >> std::ws, path);
      if (path != "[vsyscall]") {
        add_pages(pages, start, limit, offset, flags + " " + path);
      }
    }
    return pages;
  }

  static Pages pages_of_report(const Json& mappings) {
    Pages pages;
    for (const Json& row : mappings.at("rows")) {
      const std::string file =
          row.at("file") == "[anonymous]" ? "" : row.at("file").get<std::string>();
      if (file == "[vsyscall]") {
        continue;
      }
      const std::uint64_t start = row.at("start");
      add_pages(pages,
                start,
                start + row.at("bytes").get<std::uint64_t>(),
                row.at("offset").is_null() ? 0 : row.at("offset").get<std::uint64_t>(),
                row.at("access").get<std::string>() + " " + file);
    }
    return pages;
  }

  void expect_same_pages(const Pages& shown, const Pages& expected) {
    EXPECT_GT(expected.size(), 500U);
    std::size_t told = 0;
    for (const auto& [at, what] : expected) {
      const auto found = shown.find(at);
      const std::string is = found == shown.end() ? "nothing" : found->second;
      EXPECT_TRUE(is == what || ++told > 5) << std::hex << at << " is " << what << ", not " << is;
    }
    for (const auto& [at, what] : shown) {
      EXPECT_TRUE(expected.contains(at) || ++told > 10)
          << std::hex << at << " is unmapped, not " << what;
    }
    EXPECT_EQ(told, 0U);
  }
};

TEST_F(AddressSpaceTest, the_table_of_mappings_is_that_of_the_kernel) {
  const Json shown = json_of(
      "$MEMTRACE mmap --format json --maps -- $PUPPETS/change_space map /etc/passwd own.maps");
  EXPECT_EQ(lost_in(shown), 0U);
  expect_same_pages(pages_of_report(table(shown, "mappings")), pages_of_proc("own.maps"));
}

TEST_F(AddressSpaceTest, so_is_that_of_a_recording) {
  run_well(
      "$MEMTRACE record --for mmap -o m.data -- $PUPPETS/change_space map /etc/passwd own.maps");
  const Json shown = report("mmap --maps -i m.data");
  expect_same_pages(pages_of_report(table(shown, "mappings")), pages_of_proc("own.maps"));
  const Outcome shm = run("$MEMTRACE report shm -i m.data");
  EXPECT_EQ(shm.status, 1);
  EXPECT_TRUE(shm.says("the recording has no events for the view shm")) << shm.all();
}

TEST_F(AddressSpaceTest, so_is_that_of_a_process_that_ran_already) {
  run_well(
      "sleep 30 & pid=$!\n"
      "$MEMTRACE mmap --format json --maps -p $pid -d 0.3 > shown.json\n"
      "status=$?; cat /proc/$pid/maps > own.maps; kill $pid; exit $status");
  const Json shown = Json::parse(text_of("shown.json"));
  const Pages expected = pages_of_proc("own.maps");
  const Pages seen = pages_of_report(table(shown, "mappings"));
  EXPECT_GT(expected.size(), 100U);
  EXPECT_EQ(seen, expected);
}

TEST_F(AddressSpaceTest, calls_and_bytes_are_those_that_were_made) {
  const Json shown = json_of(
      "exec 5< /etc/group\n"
      "$MEMTRACE mmap --format json --by stack,file --top 100 -- "
      "$PUPPETS/change_space map /etc/passwd own.maps");
  EXPECT_EQ(sum_with_function(shown, "map_many"), 50U);
  EXPECT_EQ(sum_with_function(shown, "map_many", "bytes"), 50 * 8 * kPageBytes);
  EXPECT_EQ(sum_with_function(shown, "map_many", "at_exit"), (50 * 8 - 20 * 3) * kPageBytes);
  EXPECT_EQ(sum_with_function(shown, "remap_one"), 2U);
  EXPECT_EQ(sum_with_function(shown, "remap_one", "at_exit"), 16 * kPageBytes);
  EXPECT_EQ(sum_with_function(shown, "map_wrongly", "failed"), 3U);
  EXPECT_EQ(figure_of(shown, "file", "/etc/passwd", "at_exit"), 2 * kPageBytes);
  EXPECT_EQ(figure_of(shown, "file", "/etc/group", "bytes"), 2 * kPageBytes);
}

TEST_F(AddressSpaceTest, calls_are_as_many_as_perf_counts) {
  need_perf();
  if (IsSkipped()) {
    return;
  }
  const Json shown = json_of(
      "perf stat -x, -o stat -e syscalls:sys_enter_mmap,syscalls:sys_enter_munmap,"
      "syscalls:sys_enter_brk -- "
      "$PUPPETS/change_space heap\n"
      "$MEMTRACE record --for mmap,brk -o m.data -- $PUPPETS/change_space heap >&2\n"
      "$MEMTRACE report mmap --by call --format json -i m.data");
  std::map<std::string, std::uint64_t> counted;
  std::istringstream lines(text_of("stat"));
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("syscalls:sys_enter_");
    if (at != std::string::npos) {
      counted[line.substr(at + 19, line.find(',', at) - at - 19)] = std::stoull(line);
    }
  }
  ASSERT_GT(counted["mmap"], 0U);
  EXPECT_EQ(figure_of(shown, "call", "mmap"), counted["mmap"]);
  EXPECT_EQ(shown.at("totals").at("unmaps"), counted["munmap"]);
  const Json heap = report("brk -i m.data").at("totals");
  EXPECT_EQ(heap.at("grows").get<std::uint64_t>() + heap.at("shrinks").get<std::uint64_t>() +
                heap.at("queries").get<std::uint64_t>(),
            counted["brk"]);
}

TEST_F(AddressSpaceTest, brk_grows_and_shrinks_by_what_was_asked) {
  const Json shown =
      json_of("$MEMTRACE brk --format json --by stack -- $PUPPETS/change_space heap");
  EXPECT_EQ(sum_with_function(shown, "grow", "grows"), 10U);
  EXPECT_EQ(sum_with_function(shown, "grow", "grown"), 10 * 102'400U);
  EXPECT_EQ(sum_with_function(shown, "shrink", "shrinks"), 4U);
  EXPECT_EQ(sum_with_function(shown, "shrink", "shrunk"), 4 * 40'960U);
  EXPECT_EQ(sum_with_function(shown, "ask", "queries"), 7U);
  EXPECT_EQ(sum_with_function(shown, "ask", "grows"), 0U);
}

TEST_F(AddressSpaceTest, shared_memory_is_told_and_what_is_left_of_it) {
  const std::string name = "memtrace-test-" + std::to_string(::getpid());
  // The segments that are left are removed even when memtrace fails.
  const Json shown = traced(
      "trap 'for id in $(cat ids); do ipcrm -m $id; done' EXIT\n"
      "$MEMTRACE record --for shm -o s.data -- $PUPPETS/share_memory " +
      name +
      " > ids\n"
      "$MEMTRACE report shm --trace --format json -i s.data");
  EXPECT_EQ(figure_of(shown, "call", "shmget"), 3U);
  EXPECT_EQ(figure_of(shown, "call", "shmat"), 6U);
  EXPECT_EQ(figure_of(shown, "call", "shmdt"), 6U);
  EXPECT_EQ(figure_of(shown, "call", "shmctl", "failed"), 1U);
  EXPECT_EQ(figure_of(shown, "call", "memfd_create"), 1U);
  EXPECT_EQ(figure_of(shown, "call", "ftruncate", "bytes"), 20'480U + 12'288U);
  EXPECT_EQ(shown.at("totals").at("left"), 2);
  EXPECT_EQ(shown.at("totals").at("left_bytes"), 8'192 + 65'536);
  std::set<std::int64_t> left;
  for (const Json& row : table(shown, "System V").at("rows")) {
    if (row.at("left").get<std::uint64_t>() > 0) {
      left.insert(row.at("id").get<std::int64_t>());
      EXPECT_EQ(row.at("attached_now"), 0);
    }
  }
  std::istringstream ids(text_of("ids"));
  std::set<std::int64_t> expected;
  for (std::int64_t id = 0; ids >> id;) {
    expected.insert(id);
  }
  EXPECT_EQ(left, expected);
  const std::string files = table(shown, "memfd").at("rows").dump();
  EXPECT_NE(files.find("/memfd:" + name), std::string::npos);
  EXPECT_NE(files.find("/dev/shm/" + name), std::string::npos);
  EXPECT_NE(shown.at("lines").dump().find("key=IPC_PRIVATE size=8192"), std::string::npos);
}

TEST_F(AddressSpaceTest, a_refusal_has_its_limit_though_the_program_ended_at_once) {
  // The shell becomes dd, and memtrace waits for it in the end.
  run("$MEMTRACE record --for enomem -- "
      "sh -c 'ulimit -v 60000; exec dd if=/dev/zero of=/dev/null bs=200M count=1'");
  const Json enomem = report("enomem");
  bool is_told = false;
  for (const Json& row : enomem.at("tables").at(1).at("rows")) {
    is_told = is_told || (row.at("comm") == "dd" && row.at("exceeds") == "RLIMIT_AS");
  }
  EXPECT_TRUE(is_told) << enomem.dump(1);
}

TEST_F(AddressSpaceTest, refused_calls_have_the_limits_of_that_moment) {
  for (const std::string& how :
       {std::string("$MEMTRACE enomem --format json -- $PUPPETS/change_space refuse"),
        std::string("$MEMTRACE record --for enomem -o e.data -- $PUPPETS/change_space refuse >&2\n"
                    "$MEMTRACE report enomem --format json -i e.data")}) {
    const Json shown = json_of(how);
    EXPECT_EQ(shown.at("totals").at("count"), 23) << how;
    EXPECT_EQ(shown.at("totals").at("asked"), 23ULL << 28U) << how;
    const Json& last = table(shown, "the last refusal").at("rows");
    ASSERT_EQ(last.size(), 2U) << how;
    for (const Json& row : last) {
      EXPECT_EQ(row.at("exceeds"), "RLIMIT_AS") << how << row;
    }
    for (const Json& row : table(shown, "limits of the process").at("rows")) {
      EXPECT_GT(row.at("rlimit_as").get<std::uint64_t>(), 64U << 20U) << row;
      EXPECT_LT(row.at("vm_size").get<std::uint64_t>(), 64U << 20U) << row;
      EXPECT_GT(row.at("mappings").get<std::uint64_t>(), 5U) << row;
    }
    for (const Json& row : table(shown, "limits of the machine").at("rows")) {
      EXPECT_GT(row.at("committed").get<std::uint64_t>(), 0U) << row;
    }
  }
}

}  // namespace
}  // namespace memtrace::test
