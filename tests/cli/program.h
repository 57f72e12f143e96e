// The built program, run without root on recordings that are in the tree.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "support/run_command.h"
#include "support/temp_dir.h"

namespace memtrace::test {

// Where tools/install-deps puts packages of npm.
inline constexpr const char* kPackages = "/usr/local/lib/memtrace-readers/node_modules";

class ProgramTest : public testing::Test {
 protected:
  Outcome run(const std::string& script) {
    return run_script(script,
                      dir_.path(),
                      {{"MEMTRACE", TEST_BINARY_DIR "/memtrace"},
                       {"CROWD", crowd_path()},
                       {"DATA", TEST_SOURCE_DIR "/data"},
                       {"COLUMNS", "100"},
                       {"LC_ALL", "C"},
                       {"TZ", "UTC"}});
  }

  // "memtrace WORDS" ends with this status; the sentences stand on standard error, and nothing on
  // standard output.
  void expect_refused(const std::string& words,
                      int status,
                      std::string_view sentence,
                      std::string_view hint) {
    const Outcome outcome = run("$MEMTRACE " + words);
    EXPECT_EQ(outcome.status, status) << words << "\n" << outcome.all();
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_TRUE(outcome.says("memtrace: " + std::string(sentence))) << words << "\n"
                                                                    << outcome.all();
    EXPECT_TRUE(hint.empty() || outcome.says("hint: " + std::string(hint))) << words << "\n"
                                                                            << outcome.all();
  }

  static std::string crowd_path() { return TEST_SOURCE_DIR "/data/crowd/crowd.data"; }

  void write(const std::string& name, std::string_view bytes) {
    std::ofstream file(dir_.file(name), std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ASSERT_TRUE(file.good()) << name;
  }

  TempDir dir_;
};

}  // namespace memtrace::test
