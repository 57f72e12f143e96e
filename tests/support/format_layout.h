// Field lines of a format file as the kernel's TRACE_EVENT lays them out: natural alignment, one
// after the other.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memtrace::test {

// "char name[32]" is type "char" and name "name[32]".
struct DeclaredField {
  std::string type;
  std::string name;

  std::string_view bare_name() const { return std::string_view(name).substr(0, name.find('[')); }
};

struct ValueNames {
  std::vector<std::string> fields;
  std::vector<std::pair<std::string, std::string>> names;  // value, name
};

// Text that grows by one field line after the other.
class FormatLayout {
 public:
  void add(const DeclaredField& field) {
    const std::size_t size_bytes = size_of(field);
    const std::size_t alignment =
        field.name.ends_with(']') ? element_bytes(field.type) : size_bytes;
    offset_bytes_ = (offset_bytes_ + alignment - 1) / alignment * alignment;
    text_ += fmt::format("\tfield:{} {};\toffset:{};\tsize:{};\tsigned:{};\n",
                         field.type,
                         field.name,
                         offset_bytes_,
                         size_bytes,
                         is_signed(field.type) ? 1 : 0);
    offset_bytes_ += size_bytes;
  }

  void end_common() { text_ += "\n"; }

  // A field that is there but that the format does not tell of.
  void skip(std::size_t size_bytes) { offset_bytes_ += size_bytes; }

  const std::string& text() const { return text_; }

 private:
  static bool is_signed(const std::string& type) {
    return type == "int" || type == "long" || type == "pid_t" || type == "short" || type == "char";
  }

  static std::size_t element_bytes(const std::string& type) {
    static const std::map<std::string, std::size_t> kSizes = {{"int", 4},
                                                              {"unsigned int", 4},
                                                              {"gfp_t", 4},
                                                              {"pid_t", 4},
                                                              {"dev_t", 4},
                                                              {"short", 2},
                                                              {"unsigned short", 2},
                                                              {"isolate_mode_t", 4},
                                                              {"bool", 1},
                                                              {"char", 1},
                                                              {"unsigned char", 1},
                                                              {"long", 8},
                                                              {"unsigned long", 8},
                                                              {"size_t", 8},
                                                              {"sector_t", 8},
                                                              {"ino_t", 8},
                                                              {"pgoff_t", 8},
                                                              {"unsigned long long", 8},
                                                              {"__data_loc char[]", 4}};
    const bool is_enum = type.starts_with("enum ");
    const auto found = kSizes.find(type);
    EXPECT_TRUE(is_enum || type.ends_with('*') || found != kSizes.end()) << type;
    return is_enum ? 4 : found == kSizes.end() ? 8 : found->second;
  }

  static std::size_t size_of(const DeclaredField& field) {
    const std::size_t bracket = field.name.find('[');
    const std::size_t count =
        bracket == std::string::npos ? 1 : std::stoul(field.name.substr(bracket + 1));
    return count * element_bytes(field.type);
  }

  std::string text_;
  std::size_t offset_bytes_ = 0;
};

}  // namespace memtrace::test
