#include "render/ink.h"

#include <gtest/gtest.h>

#include <sstream>

#include "render/all/all_renderers.h"
#include "render/text_table.h"

namespace memtrace {
namespace {

Report a_report() {
  Report report;
  report.view = "kmalloc";
  report.title = "kmalloc";
  report.is_of_events = true;
  report.tables.push_back({.columns = {{"comm", Unit::Text}, {"bytes", Unit::Bytes}},
                           .key_count = 1,
                           .rows = {{"bash", std::uint64_t{960}},
                                    {"s\x1b[31mh", std::uint64_t{36}},
                                    {"cat", std::uint64_t{4}}},
                           .share_of = "bytes",
                           .whole = 1000});
  report.caveats.notes = {"one note"};
  return report;
}

std::string rendered(bool colours) {
  std::ostringstream out;
  make_renderer("text", {.columns = 100, .colours = colours})->render(a_report(), out);
  return out.str();
}

TEST(Ink, text_for_streams_that_take_no_marks_stays_as_it_is) {
  std::ostringstream out;
  EXPECT_EQ(inked("comm", Ink::Header, out), "comm");
}

TEST(Ink, marks_become_escape_sequences) {
  std::ostringstream out;
  take_ink(out);
  out << "a " << inked("b", Ink::Caveat, out) << '\n';
  EXPECT_EQ(painted(out.view()), "a \x1b[33mb\x1b[m\n");
}

TEST(Ink, a_mark_without_an_end_paints_no_more_than_its_text) {
  EXPECT_EQ(painted("\x01"), "");
  EXPECT_EQ(painted("x\x01z"), "x");
  EXPECT_EQ(painted("\x01"
                    "cx"),
            "\x1b[33mx\x1b[m");
}

TEST(Ink, names_in_a_painted_report_send_no_orders) {
  EXPECT_EQ(rendered(true),
            "\x1b[1mkmalloc\x1b[m\n"
            "\n"
            "\x1b[1mcomm        bytes  share\x1b[m\n"
            "bash        960 B  \x1b[31m96.0%\x1b[m\n"
            "s\\x1b[31mh   36 B  \x1b[32m 3.6%\x1b[m\n"
            "cat           4 B   0.4%\n"
            "\n"
            "Lost: none.\n"
            "\x1b[33mNote: one note\x1b[m\n");
}

TEST(Ink, a_plain_report_has_no_escape_sequence) {
  EXPECT_EQ(rendered(false).find('\x1b'), std::string::npos);
  EXPECT_EQ(rendered(false).find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace memtrace
