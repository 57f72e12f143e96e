#include "cli/terminal/key.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

std::vector<Key> keys_of(std::string_view bytes) {
  return KeyDecoder().feed(bytes);
}

TEST(KeyDecoder, knows_the_keys_of_xterm_vt220_and_the_console) {
  const auto kind_of = [](std::string_view bytes) {
    const std::vector<Key> keys = keys_of(bytes);
    return keys.size() == 1 ? keys.front().kind : KeyKind::Escape;
  };
  EXPECT_EQ(kind_of("\x1b[A"), KeyKind::Up);
  EXPECT_EQ(kind_of("\x1bOB"), KeyKind::Down);
  EXPECT_EQ(kind_of("\x1b[1~"), KeyKind::Home);
  EXPECT_EQ(kind_of("\x1bOF"), KeyKind::End);
  EXPECT_EQ(kind_of("\x1b[6~"), KeyKind::PageDown);
  EXPECT_EQ(kind_of("\x1b[Z"), KeyKind::BackTab);
  EXPECT_EQ(kind_of("\r"), KeyKind::Enter);
  EXPECT_EQ(kind_of("\x7f"), KeyKind::Backspace);
}

TEST(KeyDecoder, several_keys_come_at_once_and_unknown_sequences_are_left_out) {
  const std::vector<Key> expected = {{.character = 'q'}, {.kind = KeyKind::Up}, {.character = ' '}};
  EXPECT_EQ(keys_of("q\x1b[A\x1b[200~\x1b[1;5P\x01 "), expected);
}

TEST(KeyDecoder, a_sequence_may_come_in_pieces) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b").empty());
  EXPECT_TRUE(decoder.feed("[").empty());
  EXPECT_EQ(decoder.feed("5~"), std::vector<Key>{{.kind = KeyKind::PageUp}});
}

TEST(KeyDecoder, an_escape_byte_alone_is_the_key_when_nothing_follows) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b").empty());
  EXPECT_EQ(decoder.flush(), std::vector<Key>{{.kind = KeyKind::Escape}});
  EXPECT_TRUE(decoder.flush().empty());
  EXPECT_EQ(decoder.feed("q"), std::vector<Key>{{.character = 'q'}});
}

TEST(KeyDecoder, escape_before_another_key_is_both_keys) {
  const std::vector<Key> expected = {{.kind = KeyKind::Escape}, {.character = 'q'}};
  EXPECT_EQ(keys_of("\x1bq"), expected);
}

TEST(KeyDecoder, the_mouse_says_where_counted_from_zero) {
  const std::vector<Key> click = {{.kind = KeyKind::Click, .column = 11, .line = 2}};
  EXPECT_EQ(keys_of("\x1b[<0;12;3M\x1b[<0;12;3m"), click) << "the release is no key";
  EXPECT_EQ(keys_of("\x1b[<65;1;1M").at(0).kind, KeyKind::WheelDown);
  EXPECT_TRUE(keys_of("\x1b[<0;0;3M\x1b[<0;3M\x1b[<;1;1M").empty()) << "no places";
  EXPECT_TRUE(keys_of("\x1b[<2;1;1M").empty()) << "another button";
}

TEST(KeyDecoder, a_sequence_without_end_does_not_wait_for_ever) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b[" + std::string(100, '0')).empty());
  EXPECT_EQ(decoder.feed("q"), std::vector<Key>{{.character = 'q'}});
}

}  // namespace
}  // namespace memtrace
