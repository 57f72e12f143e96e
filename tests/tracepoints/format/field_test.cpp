#include "tracepoints/format/field.h"

#include <gtest/gtest.h>

#include <array>

#include "support/saved_formats.h"

namespace memtrace {
namespace {

Field number_field(std::uint32_t offset_bytes, std::uint32_t size_bytes, bool is_signed) {
  Field field;
  field.offset_bytes = offset_bytes;
  field.size_bytes = size_bytes;
  field.is_signed = is_signed;
  return field;
}

Field text_field(std::uint32_t offset_bytes, std::uint32_t size_bytes, FieldKind kind) {
  Field field = number_field(offset_bytes, size_bytes, false);
  field.kind = kind;
  return field;
}

TEST(field, signed_numbers_of_every_size_are_sign_extended) {
  RawBytes raw(8);
  raw.put<std::uint64_t>(0, ~std::uint64_t{0});
  for (const std::uint32_t size_bytes : {1U, 2U, 4U, 8U}) {
    const auto value = number_field(0, size_bytes, true).number(raw.span());
    EXPECT_EQ(static_cast<std::int64_t>(value), -1) << size_bytes;
  }
}

TEST(field, unsigned_numbers_are_not_sign_extended) {
  RawBytes raw(8);
  raw.put<std::uint64_t>(0, 0x8877665544332211U);
  EXPECT_EQ(number_field(7, 1, false).number(raw.span()), 0x88U);
  EXPECT_EQ(number_field(6, 2, false).number(raw.span()), 0x8877U);
  EXPECT_EQ(number_field(4, 4, false).number(raw.span()), 0x88776655U);
  EXPECT_EQ(number_field(0, 8, false).number(raw.span()), 0x8877665544332211U);
}

TEST(field, number_beyond_the_sample_is_zero) {
  RawBytes raw(8);
  raw.put<std::uint64_t>(0, ~std::uint64_t{0});
  EXPECT_EQ(number_field(1, 8, false).number(raw.span()), 0U);
  EXPECT_EQ(number_field(8, 1, false).number(raw.span()), 0U);
  EXPECT_EQ(number_field(0xffffffffU, 4, false).number(raw.span()), 0U);
  EXPECT_EQ(number_field(0, 8, false).number({}), 0U);
}

TEST(field, number_of_an_odd_size_or_of_a_text_is_zero) {
  RawBytes raw(8192);
  raw.put<std::uint64_t>(0, 7);
  EXPECT_EQ(number_field(0, 3, false).number(raw.span()), 0U);
  EXPECT_EQ(number_field(0, 8192, false).number(raw.span()), 0U);
  EXPECT_EQ(text_field(0, 8, FieldKind::Text).number(raw.span()), 0U);
}

TEST(field, fixed_text_ends_at_its_nul_or_at_its_size) {
  RawBytes raw(32);
  raw.put_text(8, "bash").put_text(16, "sixteen_letters_");
  EXPECT_EQ(text_field(8, 8, FieldKind::Text).text(raw.span()), "bash");
  EXPECT_EQ(text_field(16, 16, FieldKind::Text).text(raw.span()), "sixteen_letters_");
  EXPECT_EQ(text_field(16, 17, FieldKind::Text).text(raw.span()), "");
}

TEST(field, text_of_8192_bytes_is_read_whole) {
  RawBytes raw(8200);
  raw.put_text(8, std::string(8192, 'x'));
  EXPECT_EQ(text_field(8, 8192, FieldKind::Text).text(raw.span()).size(), 8192U);
  EXPECT_EQ(text_field(9, 8192, FieldKind::Text).text(raw.span()), "");
}

TEST(field, dynamic_text_is_found_from_the_record_start) {
  RawBytes raw(48);
  raw.put(24, location(28, 8)).put_text(28, "dentry");
  EXPECT_EQ(text_field(24, 4, FieldKind::DynamicText).text(raw.span()), "dentry");
}

TEST(field, relative_text_is_found_from_the_fields_end) {
  RawBytes raw(48);
  raw.put(24, location(4, 7)).put_text(32, "dentry");
  EXPECT_EQ(text_field(24, 4, FieldKind::RelativeText).text(raw.span()), "dentry");
}

TEST(field, dynamic_text_that_points_outside_is_empty) {
  RawBytes raw(32);
  const Field field = text_field(24, 4, FieldKind::DynamicText);
  for (const std::uint32_t word :
       {location(32, 1), location(28, 5), location(0xffff, 0xffff), location(0, 0)}) {
    raw.put(24, word);
    EXPECT_EQ(field.text(raw.span()), "") << word;
  }
  EXPECT_EQ(field.text(raw.span().first(27)), "");
  EXPECT_EQ(text_field(24, 4, FieldKind::RelativeText).text(raw.span().first(27)), "");
}

TEST(field, text_of_a_number_or_an_array_is_empty) {
  RawBytes raw(8);
  raw.put_text(0, "text");
  EXPECT_EQ(number_field(0, 8, false).text(raw.span()), "");
  EXPECT_EQ(text_field(0, 8, FieldKind::Array).text(raw.span()), "");
}

TEST(event_format, find_returns_null_for_an_unknown_field) {
  EventFormat format;
  format.fields.push_back(number_field(0, 8, false));
  format.fields[0].name = "ptr";
  EXPECT_EQ(format.find("ptr"), &format.fields[0]);
  EXPECT_EQ(format.find("pt"), nullptr);
}

const std::array<FlagName, 4> kNames = {
    {{0xcc0, "GFP_KERNEL"}, {0x40, "__GFP_IO"}, {0x100, "__GFP_ZERO"}, {0x80, "__GFP_FS"}}};

TEST(print_flags, takes_names_greedily_in_the_formats_order) {
  EXPECT_EQ(print_flags(0xdc0, kNames), "GFP_KERNEL|__GFP_ZERO");
  EXPECT_EQ(print_flags(0xc0, kNames), "__GFP_IO|__GFP_FS");
}

TEST(print_flags, bits_without_a_name_are_in_hex) {
  EXPECT_EQ(print_flags(0x8dc0, kNames), "GFP_KERNEL|__GFP_ZERO|0x8000");
  EXPECT_EQ(print_flags(0x8000000000000000U, {}), "0x8000000000000000");
}

TEST(print_flags, zero_is_none_unless_it_has_a_name) {
  const std::array<FlagName, 2> names = {{{1, "ONE"}, {0, "NOWAIT"}}};
  EXPECT_EQ(print_flags(0, kNames), "none");
  EXPECT_EQ(print_flags(0, names), "NOWAIT");
  EXPECT_EQ(print_flags(1, names), "ONE");
  EXPECT_EQ(print_flags(2, names), "0x2");
}

}  // namespace
}  // namespace memtrace
