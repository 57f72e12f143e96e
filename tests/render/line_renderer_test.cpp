#include <gtest/gtest.h>

#include <sstream>

#include "render/all/all_renderers.h"

namespace memtrace {
namespace {

class LineRendererTest : public testing::Test {
 protected:
  void make(std::string_view format, const LineOptions& options = {}) {
    renderer_ = make_line_renderer(format, options);
    ASSERT_NE(renderer_, nullptr);
  }

  static Report call(std::uint64_t at_ns, const char* comm, Cell bytes) {
    Report lines;
    lines.tables.push_back(
        {.columns = {{"at_ns", Unit::Nanoseconds}, {"comm", Unit::Text}, {"bytes", Unit::Bytes}}});
    lines.tables[0].rows = {{at_ns, comm, std::move(bytes)}};
    return lines;
  }

  std::string printed(const Report& lines) {
    std::ostringstream out;
    renderer_->render(lines, out);
    return out.str();
  }

  std::unique_ptr<LineRenderer> renderer_;
};

TEST_F(LineRendererTest, text_has_one_header_and_columns_in_their_places) {
  make("text");
  EXPECT_EQ(printed(call(1'500'000, "cat", std::uint64_t{4096})),
            "       at  comm                 bytes\n"
            "   1.5 ms  cat                4.0 KiB\n");
  EXPECT_EQ(printed(call(2'000'000, "a-longer-command", Cell())),
            "     2 ms  a-longer-command          -\n");
  EXPECT_EQ(printed(call(3'000'000, "cat", std::uint64_t{1})),
            "     3 ms  cat                     1 B\n")
      << "a column that had to grow stays as wide";
}

TEST_F(LineRendererTest, text_shows_the_header_again_on_each_screen) {
  make("text", {.screen_rows = 4});
  std::string all;
  for (std::uint64_t i = 0; i < 7; ++i) {
    all += printed(call(i, "cat", i)).starts_with("       at") ? "h" : ".";
  }
  EXPECT_EQ(all, "h..h..h") << "a header and three lines";
}

TEST_F(LineRendererTest, lines_that_the_terminal_wraps_count_as_more) {
  make("text", {.columns = 40, .screen_rows = 7});
  const std::string name(40, 'x');
  std::string all;
  for (std::uint64_t i = 0; i < 7; ++i) {
    all += printed(call(i, name.c_str(), i)).starts_with("       at") ? "h" : ".";
  }
  EXPECT_EQ(all, "h..h..h") << "a header and three lines of two";
}

TEST_F(LineRendererTest, text_is_never_cut_and_shows_no_control_characters) {
  make("text", {.columns = 40});
  const std::string path(300, 'x');
  EXPECT_NE(printed(call(0, path.c_str(), Cell())).find(path), std::string::npos);
  EXPECT_EQ(printed(call(0, "\x1b[31m", Cell())).find('\x1b'), std::string::npos);
}

TEST_F(LineRendererTest, stacks_stand_below_their_line) {
  make("text");
  Report lines = call(0, "cat", Cell());
  lines.tables[0].columns.push_back({"stack", Unit::Stack});
  lines.tables[0].rows[0].push_back(StackId{1});
  lines.stacks[StackId{1}] = {{.function = "malloc", .module = "/lib/libc.so.6"},
                              {.function = "main", .module = "/bin/cat"}};
  const std::string text = printed(lines);
  EXPECT_NE(text.find("-\n    malloc [libc.so.6]\n    main [cat]\n"), std::string::npos) << text;
}

TEST_F(LineRendererTest, json_is_an_object_a_line) {
  make("json");
  EXPECT_EQ(printed(call(5, "cat", Cell())),
            R"({"at_ns":5,"comm":"cat","bytes":null})"
            "\n");
  EXPECT_EQ(printed(call(6, "\xff", std::uint64_t{1})).find('\xff'), std::string::npos);
}

TEST_F(LineRendererTest, csv_has_its_header_once) {
  make("csv");
  EXPECT_EQ(printed(call(5, "a,b", std::uint64_t{7})), "at_ns,comm,bytes\n5,\"a,b\",7\n");
  EXPECT_EQ(printed(call(6, "cat", Cell())), "6,cat,\n");
}

TEST_F(LineRendererTest, header_comes_anew_with_other_columns) {
  for (const char* format : {"text", "csv"}) {
    make(format);
    printed(call(5, "cat", Cell()));
    Report wider = call(6, "cat", Cell());
    wider.tables[0].columns.push_back({"more", Unit::Count});
    wider.tables[0].rows[0].emplace_back(std::uint64_t{1});
    EXPECT_NE(printed(wider).find("more"), std::string::npos) << format;
    EXPECT_EQ(printed(wider).find("more"), std::string::npos) << format;
  }
}

TEST_F(LineRendererTest, folded_stacks_have_no_lines) {
  EXPECT_EQ(make_line_renderer("folded", {}), nullptr);
  EXPECT_EQ(make_line_renderer("xml", {}), nullptr);
}

}  // namespace
}  // namespace memtrace
