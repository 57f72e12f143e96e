// Files that are not what they should be: a sentence and status 1, or a report with its caveat.
// Never a crash, never a report of nothing.
#include <algorithm>
#include <random>

#include "cli/program.h"

namespace memtrace::test {
namespace {

class BadFilesTest : public ProgramTest {
 protected:
  void expect_refused_file(std::string_view sentence, std::string_view hint) {
    expect_refused("report -i bad.data", 1, sentence, hint);
    expect_refused("report kmalloc -i bad.data", 1, sentence, hint);
  }

  std::string crowd() const { return text_of(crowd_path()); }

  // A report of the events only, or of all views: names that the file has lost are then looked up
  // in this machine's files, which takes its time.
  void expect_sentence_or_report(const std::string& view, const std::string& what) {
    const Outcome outcome = run("$MEMTRACE report -i bad.data " + view);
    const bool refused = outcome.status == 1 && outcome.says("memtrace: ") && outcome.out.empty();
    const bool reported = outcome.status == 0 && outcome.err.empty() && !outcome.out.empty();
    EXPECT_TRUE(refused || reported) << what << "\n" << outcome.all();
  }
};

TEST_F(BadFilesTest, file_that_is_not_there) {
  expect_refused("report", 1, "open(memtrace.data): No such file or directory", "give the file");
  expect_refused("report -i no.data", 1, "open(no.data): No such file or directory", "give the");
}

TEST_F(BadFilesTest, file_of_another_kind) {
  write("bad.data", "root:x:0:0:root:/root:/bin/bash\n");
  expect_refused_file("bad.data is not a perf.data file", "give a file made by");
}

TEST_F(BadFilesTest, program_in_place_of_a_recording) {
  write("bad.data", std::string("\177ELF\2\1\1", 7) + std::string(200, '\0'));
  expect_refused_file("bad.data is a program (ELF)", "to record a program: memtrace record");
}

TEST_F(BadFilesTest, folder) {
  expect_refused("report -i .", 1, ". is a directory", "give a perf.data file");
  const Outcome outcome = run("$MEMTRACE report -i .");
  EXPECT_TRUE(outcome.says("record without --threads")) << outcome.all();
}

TEST_F(BadFilesTest, empty_file) {
  write("bad.data", "");
  expect_refused_file("bad.data is empty", "the recording did not start");
  expect_refused("report -i - < bad.data", 1, "standard input is empty", "the recording did not");
}

TEST_F(BadFilesTest, big_endian_file_is_refused_by_name) {
  std::string bytes = crowd();
  std::reverse(bytes.begin(), bytes.begin() + 8);
  write("bad.data", bytes);
  expect_refused_file("bad.data was recorded on a big-endian machine", "memtrace reads little");
}

TEST_F(BadFilesTest, file_cut_before_its_first_record_is_refused) {
  for (const std::size_t bytes : {16U, 103U, 500U, 3000U, 20000U}) {
    write("bad.data", crowd().substr(0, bytes));
    expect_refused("report -i bad.data", 1, "bad.data ", "");
  }
}

TEST_F(BadFilesTest, file_cut_among_its_records_is_reported_with_a_caveat) {
  for (const std::size_t bytes : {60000U, 100001U, 150003U}) {
    write("bad.data", crowd().substr(0, bytes));
    const Outcome outcome = run("$MEMTRACE report --all -i bad.data");
    EXPECT_EQ(outcome.status, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("Note: The file is cut off; its last records are missing."),
              std::string::npos)
        << bytes;
    EXPECT_NE(outcome.out.find("kmem:kmalloc"), std::string::npos) << bytes;
  }
}

TEST_F(BadFilesTest, file_cut_behind_its_records_lacks_none_of_them) {
  write("bad.data", crowd().substr(0, crowd().size() - 1));
  const Outcome outcome = run("$MEMTRACE report -i bad.data");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("samples 562"), std::string::npos) << outcome.all();
  EXPECT_NE(outcome.out.find("Note: The end of the file is cut off"), std::string::npos);
}

TEST_F(BadFilesTest, file_cut_anywhere_gives_a_sentence_or_a_report) {
  for (std::size_t bytes = 1; bytes < crowd().size(); bytes += 5003) {
    write("bad.data", crowd().substr(0, bytes));
    expect_sentence_or_report(bytes % 8 == 1 ? "" : "count", "cut at " + std::to_string(bytes));
  }
}

TEST_F(BadFilesTest, damaged_file_gives_a_sentence_or_a_report) {
  std::mt19937 random(1);
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::string bytes = crowd();
    // Half of the damage to the head, where a wrong number leads furthest astray.
    const std::size_t range = attempt % 2 == 0 ? 1000 : bytes.size();
    for (int flip = 0; flip < 20; ++flip) {
      bytes[8 + random() % (range - 8)] = static_cast<char>(random());
    }
    write("bad.data", bytes);
    expect_sentence_or_report(attempt % 8 == 0 ? "" : "count", std::to_string(attempt));
  }
}

}  // namespace
}  // namespace memtrace::test
