// pprof's file, read again by a decoder of its own.
#include <gtest/gtest.h>

#include <sstream>

#include "base/gzip.h"
#include "render/all/all_renderers.h"
#include "render/profile/protobuf.h"
#include "support/golden.h"
#include "support/sample_report.h"

namespace memtrace {
namespace {

// Messages of profile.proto as text: "2: {" for a sample, packed numbers in a row.
class ProtoText {
 public:
  explicit ProtoText(std::string_view bytes) : bytes_(bytes) {}

  // `path`: the numbers of the fields around, such as "4." in a location.
  std::string text(const std::string& path = "", const std::string& indent = "") {
    std::string lines;
    while (!bytes_.empty()) {
      const std::uint64_t key = varint();
      const std::string field = std::to_string(key >> 3U);
      lines += indent + field + ": " +
               ((key & 7U) == 0 ? std::to_string(varint()) : value(path + field, indent)) + "\n";
    }
    return lines;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        break;
      }
    }
    return number;
  }

  std::string value(const std::string& path, const std::string& indent) {
    const std::size_t size = varint();
    ProtoText inner(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    if (path == "6") {
      return "\"" + std::string(inner.bytes_) + "\"";
    }
    if (path == "2.1" || path == "2.2") {
      std::string numbers;
      while (!inner.bytes_.empty()) {
        numbers += (numbers.empty() ? "" : " ") + std::to_string(inner.varint());
      }
      return numbers;
    }
    return "{\n" + inner.text(path + ".", indent + "  ") + indent + "}";
  }

  std::string_view bytes_;
};

std::string pprof_text(const Report& report) {
  std::ostringstream out;
  make_renderer("pprof", {.version = "1.2.3"})->render(report, out);
  const auto bytes = gunzip(out.str());
  return bytes.ok() ? ProtoText(bytes.value()).text() : describe(bytes.error());
}

TEST(Protobuf, numbers_have_seven_bits_a_byte) {
  ProtobufMessage message;
  message.add(1, std::uint64_t{150});
  EXPECT_EQ(message.bytes(), "\x08\x96\x01");
  message.add(1, std::uint64_t{0});  // the default
  EXPECT_EQ(message.bytes().size(), 3U);
}

TEST(Protobuf, texts_messages_and_packed_numbers_have_their_length_before_them) {
  ProtobufMessage message;
  message.add(2, std::string_view("testing"));
  EXPECT_EQ(message.bytes(), "\x12\x07testing");
  ProtobufMessage outer;
  outer.add(3, message);
  EXPECT_EQ(outer.bytes(), "\x1a\x09\x12\x07testing");
  ProtobufMessage packed;
  const std::vector<std::uint64_t> numbers = {3, 0, 270};
  packed.add(6, numbers);
  EXPECT_EQ(packed.bytes(), std::string("\x32\x04\x03\x00\x8e\x02", 6));
}

TEST(Protobuf, a_negative_number_takes_ten_bytes) {
  ProtobufMessage message;
  message.add(1, static_cast<std::uint64_t>(std::int64_t{-1}));
  EXPECT_EQ(message.bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Pprof, a_report_with_every_shape_is_the_golden_profile) {
  test::expect_golden("sample.pprof.txt", pprof_text(test::sample_report()));
}

TEST(Pprof, a_report_without_stacks_has_its_keys_as_functions) {
  const std::string text = pprof_text(test::sample_overview().reports.at(0));
  EXPECT_NE(text.find("\"bash\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"ls\\x1b[2J\""), std::string::npos) << text;
}

}  // namespace
}  // namespace memtrace
