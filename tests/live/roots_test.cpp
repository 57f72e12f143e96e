// Programs that see another file system than we do: below chroot(2), and in a mount namespace of
// their own. What they call /usr/bin/id is not our /usr/bin/id.
#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

class RootsTest : public HeapLiveTest {
 protected:
  void SetUp() override {
    HeapLiveTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const Outcome made =
        run("mkdir -p root/usr/bin mounted && cp $PUPPETS/known_calls root/usr/bin/id && "
            "cp $PUPPETS/heap_patterns root/usr/bin/env && "
            "for file in $(ldd $PUPPETS/heap_patterns | grep -o '/[^ ]*'); do cp --parents -L "
            "$file root; "
            "done && chroot root /usr/bin/id all");
    if (made.status != 0) {
      GTEST_SKIP() << "no program runs below chroot here: " << made.all();
    }
  }
};

TEST_F(RootsTest, a_command_below_chroot_is_probed_from_its_start_and_named_from_its_own_file) {
  run_well("$MEMTRACE record --for malloc,leaks -- chroot root /usr/bin/id all");
  EXPECT_EQ(sum_with_function(report("malloc --top 0"), "use_malloc"), 40U);
  const Json leaks = report("leaks --top 0");
  EXPECT_EQ(sum_with_function(leaks, "use_malloc"), 10U);
  EXPECT_EQ(sum_with_function(leaks, "use_realloc", "bytes"), 640U);
}

TEST_F(RootsTest, a_process_in_a_mount_namespace_of_its_own_is_probed_and_unwound) {
  const Outcome mounted = run("unshare -m sh -c 'mount -t tmpfs none mounted'");
  if (mounted.status != 0) {
    GTEST_SKIP() << "nothing can be mounted here: " << mounted.all();
  }
  run_well(
      "unshare -m sh -c 'mount -t tmpfs none mounted && cp -a root/. mounted && "
      "exec chroot mounted /usr/bin/env pause' >told & PUPPET=$!\n"
      "await ready told $PUPPET || exit 1\n"
      "begin $MEMTRACE record --for malloc -p $PUPPET; kill -USR2 $PUPPET; wait $RECORDER");
  const Json calls = report("malloc --by function --top 0");
  EXPECT_GE(figure_of(calls, "function", "malloc"), 10U);
  // Its files went away with it: what was unwound before is whole, though it has no names.
  for (const Json& note : calls.at("caveats").at("notes")) {
    EXPECT_EQ(note.get<std::string>().find("end early"), std::string::npos) << note;
  }
}

}  // namespace
}  // namespace memtrace::test
