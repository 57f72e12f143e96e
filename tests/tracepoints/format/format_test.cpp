#include "tracepoints/format/format.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "support/saved_formats.h"
#include "tracepoints/format/print_fmt.h"

namespace memtrace {
namespace {

// "offset/size" of a field, with s for signed, * for a pointer: short enough for a table.
std::string place(const EventFormat& format, std::string_view name) {
  const Field* field = format.find(name);
  if (field == nullptr) {
    return "missing";
  }
  return std::to_string(field->offset_bytes) + "/" + std::to_string(field->size_bytes) +
         (field->is_signed ? "s" : "") + (field->is_pointer ? "*" : "");
}

TEST(parse_format, kmalloc_of_5_10_is_where_the_file_says) {
  const EventFormat format = saved_format("5.10", "kmem:kmalloc");
  EXPECT_EQ(format.system, "kmem");
  EXPECT_EQ(format.name, "kmalloc");
  EXPECT_EQ(format.id, 529U);
  EXPECT_EQ(format.fields.size(), 9U);
  EXPECT_EQ(place(format, "common_type"), "0/2");
  EXPECT_EQ(place(format, "common_pid"), "4/4s");
  EXPECT_EQ(place(format, "call_site"), "8/8");
  EXPECT_EQ(place(format, "ptr"), "16/8*");
  EXPECT_EQ(place(format, "bytes_req"), "24/8");
  EXPECT_EQ(place(format, "bytes_alloc"), "32/8");
  EXPECT_EQ(place(format, "gfp_flags"), "40/4");
  EXPECT_EQ(place(format, "node"), "missing");
}

TEST(parse_format, kmalloc_has_wide_gfp_flags_and_a_node_since_6_1) {
  for (const char* kernel : {"6.1", "6.12"}) {
    const EventFormat format = saved_format(kernel, "kmem:kmalloc");
    EXPECT_EQ(place(format, "gfp_flags"), "40/8") << kernel;
    EXPECT_EQ(place(format, "node"), "48/4s") << kernel;
  }
}

TEST(parse_format, page_allocation_moves_with_the_width_of_its_gfp_flags) {
  EXPECT_EQ(place(saved_format("5.10", "kmem:mm_page_alloc"), "gfp_flags"), "20/4");
  EXPECT_EQ(place(saved_format("5.10", "kmem:mm_page_alloc"), "migratetype"), "24/4s");
  EXPECT_EQ(place(saved_format("6.12", "kmem:mm_page_alloc"), "gfp_flags"), "24/8");
  EXPECT_EQ(place(saved_format("6.12", "kmem:mm_page_alloc"), "migratetype"), "32/4s");
}

TEST(parse_format, kinds_of_texts_are_told_apart) {
  EXPECT_EQ(saved_format("6.1", "kmem:kmem_cache_free").find("name")->kind, FieldKind::DynamicText);
  const EventFormat update = saved_format("6.1", "oom:oom_score_adj_update");
  EXPECT_EQ(update.find("comm")->kind, FieldKind::Text);
  EXPECT_EQ(update.find("comm")->size_bytes, 16U);
  EXPECT_EQ(update.find("pid")->kind, FieldKind::Integer);
}

TEST(parse_format, flags_of_this_kernel_have_their_names) {
  const auto text = TracepointFiles("/sys/kernel/tracing").event_format_text("kmem:kmalloc");
  if (!text.ok()) {
    GTEST_SKIP() << "/sys/kernel/tracing cannot be read";
  }
  const auto format = parse_format(text.value(), "kmem");
  ASSERT_TRUE(format.ok());
  const Field* gfp = format.value().find("gfp_flags");
  ASSERT_NE(gfp, nullptr);
  EXPECT_GT(gfp->flags.size(), 20U);
}

constexpr std::string_view kOddFields =
    "name: odd\nID: 9\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:__rel_loc char[] path;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned char address[6];\toffset:12;\tsize:6;\tsigned:0;\n"
    "\tfield:unsigned long pages[1024];\toffset:24;\tsize:8192;\tsigned:0;\n"
    "\tfield:__data_loc unsigned long[] mask;\toffset:8216;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * label;\toffset:8224;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 state;\toffset:8232;\tsize:4;\tsigned:0;\n\n";

TEST(parse_format, arrays_are_not_texts_and_relative_texts_are_known) {
  const auto format = parse_format(std::string(kOddFields) + "print fmt: \"\"\n", "made");
  ASSERT_TRUE(format.ok());
  EXPECT_EQ(format.value().find("path")->kind, FieldKind::RelativeText);
  EXPECT_EQ(format.value().find("address")->kind, FieldKind::Array);
  EXPECT_EQ(format.value().find("pages")->kind, FieldKind::Array);
  EXPECT_EQ(format.value().find("pages")->size_bytes, 8192U);
  EXPECT_EQ(format.value().find("mask")->kind, FieldKind::Array);
  EXPECT_EQ(format.value().find("label")->kind, FieldKind::Integer);
  EXPECT_TRUE(format.value().find("label")->is_pointer);
  EXPECT_EQ(place(format.value(), "state"), "8232/4");
}

TEST(parse_format, gfp_flags_print_as_the_kernel_prints_them) {
  const auto names = [](const char* kernel) {
    return saved_format(kernel, "kmem:kmalloc").find("gfp_flags")->flags;
  };
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    EXPECT_EQ(print_flags(0xcc0, names(kernel)), "GFP_KERNEL") << kernel;
    EXPECT_EQ(print_flags(0xdc0, names(kernel)), "GFP_KERNEL|__GFP_ZERO") << kernel;
    EXPECT_EQ(print_flags(0x400cc0, names(kernel)), "GFP_KERNEL_ACCOUNT") << kernel;
    EXPECT_EQ(print_flags(0x100cca, names(kernel)), "GFP_HIGHUSER_MOVABLE") << kernel;
    // GFP_TRANSHUGE_LIGHT is an expression with & ~.
    EXPECT_EQ(print_flags(0x1c20ca, names(kernel)), "GFP_TRANSHUGE_LIGHT") << kernel;
    EXPECT_EQ(print_flags(0, names(kernel)), "none") << kernel;
  }
  EXPECT_EQ(print_flags(0xa20, names("5.10")), "GFP_ATOMIC");
  EXPECT_EQ(print_flags(0x820, names("6.12")), "GFP_ATOMIC");
  EXPECT_EQ(names("5.10").size(), 35U);
}

TEST(parse_format, symbols_of_whole_values_are_kept_apart_from_flags) {
  const EventFormat format = saved_format("6.1", "oom:reclaim_retry_zone");
  const Field* zone = format.find("zone_idx");
  ASSERT_EQ(zone->symbols.size(), 4U);
  EXPECT_EQ(zone->symbols[2].mask, 2U);
  EXPECT_EQ(zone->symbols[2].name, "Normal");
  EXPECT_TRUE(zone->flags.empty());
}

TEST(parse_format, names_whose_enum_the_kernel_did_not_resolve_are_left_out) {
  const EventFormat format = saved_format("6.12", "vmscan:mm_vmscan_throttled");
  EXPECT_TRUE(format.find("reason")->flags.empty());
  const auto made = parse_format(
      std::string(kOddFields) +
          "print fmt: \"%s\", __print_flags((unsigned long)REC->state & (0xf0 | 0x0f), \"|\", "
          "{ 1, \"A\" }, { SECOND, \"B\" }, { 1 << THIRD, \"C\" }, { 0x8u, \"D\" })\n",
      "made");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(print_flags(0xf, made.value().find("state")->flags), "A|D|0x6");
}

TEST(has_unresolved_name, casts_and_number_suffixes_are_no_names) {
  EXPECT_FALSE(has_unresolved_name("(unsigned long)(((( gfp_t)(0x400u|0x800UL)) & ~(( gfp_t)1)))"));
  EXPECT_FALSE(has_unresolved_name("( gfp_t)((((1UL))) << (10))"));
  EXPECT_FALSE(has_unresolved_name(""));
  EXPECT_TRUE(has_unresolved_name("(1 << VMSCAN_THROTTLE_ISOLATED)"));
  EXPECT_TRUE(has_unresolved_name("(LATER) | 1"));
  EXPECT_TRUE(has_unresolved_name("LATER"));
}

TEST(parse_format, fields_are_there_when_the_print_fmt_does_not_parse) {
  for (const char* print :
       {"print fmt: \"%s\", no_such_function(REC->state, {)\n", "print fmt: \"unclosed", ""}) {
    const auto format = parse_format(std::string(kOddFields) + print, "made");
    ASSERT_TRUE(format.ok()) << print;
    EXPECT_EQ(place(format.value(), "state"), "8232/4") << print;
    EXPECT_TRUE(format.value().find("state")->flags.empty()) << print;
  }
}

TEST(parse_format, kernel_2_6_32_has_a_lock_depth_and_says_no_signs) {
  const auto format = parse_format(kOldKmalloc, "kmem");
  ASSERT_TRUE(format.ok());
  EXPECT_EQ(place(format.value(), "common_lock_depth"), "8/4s");
  EXPECT_EQ(place(format.value(), "common_type"), "0/2");
  EXPECT_EQ(place(format.value(), "call_site"), "16/8");
  EXPECT_EQ(place(format.value(), "ptr"), "24/8*");
  EXPECT_EQ(place(format.value(), "gfp_flags"), "48/4");
  EXPECT_EQ(print_flags(0x80d0, format.value().find("gfp_flags")->flags), "GFP_KERNEL|GFP_ZERO");
}

TEST(parse_format, text_that_is_no_format_is_an_error_with_a_hint) {
  for (const char* text : {"",
                           "name: x\n",
                           "\x7f"
                           "ELF",
                           "name: x\nID: 3\nformat:\n"}) {
    const auto format = parse_format(text, "kmem");
    ASSERT_FALSE(format.ok()) << text;
    EXPECT_FALSE(format.error().hint.empty());
  }
}

TEST(parse_format, format_cut_at_any_byte_is_survived) {
  const auto text = saved("6.1").event_format_text("kmem:kmem_cache_free");
  ASSERT_TRUE(text.ok());
  std::size_t parsed_count = 0;
  for (std::size_t length = 0; length < text.value().size(); ++length) {
    parsed_count += parse_format(text.value().substr(0, length), "kmem").ok() ? 1 : 0;
  }
  EXPECT_GT(parsed_count, 0U);
}

// Each field line of the file, read here by hand, against what libtraceevent made of it.
void expect_fields_match(std::string_view text, const EventFormat& format) {
  std::size_t at = 0;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = split(trim(line), ';');
    if (!trim(line).starts_with("field:") || parts.size() < 4) {
      continue;
    }
    ASSERT_LT(at, format.fields.size()) << format.name;
    const Field& field = format.fields[at++];
    const auto number = [&](std::size_t part) {
      return parse_number(trim(parts[part]).substr(trim(parts[part]).find(':') + 1));
    };
    EXPECT_NE(parts[0].find(field.name), std::string_view::npos) << format.name << " " << line;
    EXPECT_EQ(number(1), field.offset_bytes) << format.name << " " << line;
    EXPECT_EQ(number(2), field.size_bytes) << format.name << " " << line;
    if (!field.is_pointer && field.kind == FieldKind::Integer) {
      EXPECT_EQ(number(3), field.is_signed ? 1U : 0U) << format.name << " " << line;
    }
  }
  EXPECT_EQ(at, format.fields.size()) << format.name;
}

// Returns how many were checked.
std::size_t check_all(const TracepointFiles& files, std::string_view pattern = "*:*") {
  const auto events = files.list_events(pattern);
  if (!events.ok()) {
    return 0;
  }
  for (const std::string& event : events.value()) {
    const auto text = files.event_format_text(event);
    if (!text.ok()) {
      ADD_FAILURE() << describe(text.error());
      continue;
    }
    const auto format = parse_format(text.value(), event.substr(0, event.find(':')));
    EXPECT_TRUE(format.ok()) << event;
    if (format.ok()) {
      expect_fields_match(text.value(), format.value());
    }
  }
  return events.value().size();
}

TEST(parse_format, every_saved_format_gives_the_fields_that_its_file_lists) {
  EXPECT_GT(check_all(saved("5.10")), 40U);
  EXPECT_GT(check_all(saved("6.1")), 35U);
  EXPECT_GT(check_all(saved("6.12")), 35U);
}

TEST(parse_format, every_memory_event_of_this_kernel_gives_its_fields) {
  const TracepointFiles files("/sys/kernel/tracing");
  if (!files.header_page().ok()) {
    GTEST_SKIP() << "/sys/kernel/tracing cannot be read";
  }
  EXPECT_GT(check_all(files, "kmem:*"), 10U);
  EXPECT_GT(check_all(files, "vmscan:*"), 10U);
  EXPECT_GT(check_all(files, "oom:*"), 5U);
}

}  // namespace
}  // namespace memtrace
