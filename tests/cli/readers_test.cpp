// Reports in files.
#include "cli/program.h"

namespace memtrace::test {
namespace {

class ReadersTest : public ProgramTest {
 protected:
  // What the script prints, which ends well.
  std::string well(const std::string& script) {
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.status, 0) << script << "\n" << outcome.all();
    return outcome.out;
  }

};

TEST_F(ReadersTest, a_report_in_a_file_is_the_one_on_standard_output) {
  const std::string text = well("$MEMTRACE report kmalloc -i $CROWD");
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o report.txt; cat report.txt"), text);
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o -"), text);
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o /dev/stdout"), text);
  EXPECT_EQ(well("$MEMTRACE report kmalloc -i $CROWD -o /dev/stdout | cat"), text);
  EXPECT_EQ(well("[ -L /dev/stdout ]"), "");
  EXPECT_EQ(well("ls"), "report.txt\n");  // nothing is left beside it
}

TEST_F(ReadersTest, a_file_that_cannot_be_written_is_as_it_was) {
  const Outcome none = run("$MEMTRACE report kmalloc -i $CROWD -o none/report.txt");
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(none.says("open(none/report.txt.new-")) << none.all();
  const Outcome folder = run("mkdir d; $MEMTRACE report kmalloc -i $CROWD -o d");
  EXPECT_EQ(folder.status, 1);
  EXPECT_TRUE(folder.says("open(d)")) << folder.all();
  EXPECT_EQ(well("ls"), "d\n");
}

}  // namespace
}  // namespace memtrace::test
