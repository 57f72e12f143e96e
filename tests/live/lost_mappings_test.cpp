// Mappings that were made while records were lost: read again from /proc.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

class LostMappingsTest : public LiveTest {
 protected:
  // A puppet loads a library while nobody empties its ring, which is full of other records, and
  // calls it afterwards.
  Json record_storm(const std::string& target) {
    run_well(
        "mkfifo go; $PUPPETS/load_in_storm 60000 20 <go >told & PID=$!; exec 9>go\n"
        "await ready told $PID || exit 1\n"
        "begin $MEMTRACE record --ring-size 1M --call-graph dwarf -e kmem:kmalloc --filter "
        "'bytes_req == "
        "1048' " +
        target +
        "; kill -STOP $RECORDER; echo >&9\n"
        "for i in $(seq 100); do grep -q loaded told && break; sleep 0.05; done\n"
        "kill -CONT $RECORDER; sleep 0.5; echo >&9; sleep 0.7; exec 9>&-; wait $PID\n"
        "kill -INT $RECORDER 2>/dev/null; wait $RECORDER");
    return report("kmalloc --by stack --top 0");
  }

  static void expect_named(const Json& kmalloc) {
    EXPECT_GT(lost_in(kmalloc), 1000U) << "nothing was lost";
    EXPECT_EQ(sum_with_function(kmalloc, "long frame<1>"), 20U) << kmalloc.dump(1);
    EXPECT_EQ(sum_with_function(kmalloc, "long frame<40>"), 20U);
    EXPECT_EQ(sum_with_function(kmalloc, "call_deep_frames"), 20U);
  }
};

TEST_F(LostMappingsTest, library_that_a_process_loaded_meanwhile_is_known) {
  expect_named(record_storm("-p $PID"));
}

TEST_F(LostMappingsTest, library_is_known_in_a_recording_of_the_whole_machine) {
  expect_named(record_storm("-a"));
}

}  // namespace
}  // namespace memtrace::test
