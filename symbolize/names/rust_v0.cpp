#include "symbolize/names/rust_v0.h"

#include <utility>

#include "symbolize/names/rust_name_cursor.h"

namespace memtrace {

namespace {

// Follows the grammar in rustc's book, "v0 Symbol Format": each method reads one rule and appends
// its text. Backward references may repeat text without bound: length and depth are limited.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {}

  bool failed() const { return name_.failed(); }

  std::string take() { return std::move(out_); }

  void path();

 private:
  static constexpr int kMaxDepth = 128;
  static constexpr std::size_t kMaxTextBytes = 4096;

  void nested_path();
  void impl_path(bool has_trait);
  void generic_arguments();
  void generic_argument();
  void type();
  bool eat_type_around_type();
  void function_pointer();
  void trait_object();
  void constant();
  void constant_value(char type_tag);
  std::size_t types_until_end();

  void require(bool condition) {
    if (!condition) {
      name_.fail();
    }
  }

  void print(std::string_view text) {
    if (!silent_) {
      out_ += text;
      require(out_.size() <= kMaxTextBytes);
    }
  }

  template <typename Rule>
  void backward_reference(Rule rule);

  RustNameCursor name_;
  int depth_ = 0;
  bool silent_ = false;
  std::string out_;
};

std::string_view basic_type(char tag) {
  constexpr std::string_view kNames[] = {"i8",   "bool",  "char",  "f64", "str", "f32", "",
                                         "u8",   "isize", "usize", "",    "i32", "u32", "i128",
                                         "u128", "_",     "",      "",    "i16", "u16", "()",
                                         "...",  "",      "i64",   "u64", "!"};
  return tag >= 'a' && tag <= 'z' ? kNames[tag - 'a'] : std::string_view();
}

template <typename Rule>
void NameReader::backward_reference(Rule rule) {
  const std::size_t here = name_.position() - 1;
  const std::uint64_t target = name_.base62();
  require(target < here);
  if (failed()) {
    return;
  }
  if (!silent_) {  // else there is nothing to print, and the text itself was read before
    const std::size_t after = name_.position();
    name_.go_to(target);
    (this->*rule)();
    name_.go_to(after);
  }
}

void NameReader::path() {
  require(++depth_ <= kMaxDepth);
  switch (name_.next()) {
    case 'C':
      print(name_.identifier().text);
      break;
    case 'N':
      nested_path();
      break;
    case 'M':
      impl_path(false);
      break;
    case 'X':
      impl_path(true);
      break;
    case 'Y':
      print("<");
      type();
      print(" as ");
      path();
      print(">");
      break;
    case 'I':
      path();
      generic_arguments();
      break;
    case 'B':
      backward_reference(&NameReader::path);
      break;
    default:
      name_.fail();
  }
  --depth_;
}

// Namespaces in capitals have no name that a program could use: closures and shims.
void NameReader::nested_path() {
  const char space = name_.next();
  path();
  const auto last = name_.identifier();
  if (space >= 'A' && space <= 'Z') {
    const std::string kind = space == 'C'   ? "closure"
                             : space == 'S' ? "shim"
                                            : std::string(1, space);
    print("::{" + kind + (last.text.empty() ? "" : ":" + last.text) + "#" +
          std::to_string(last.disambiguator) + "}");
  } else if (!last.text.empty()) {
    print("::" + last.text);
  }
}

// The path to the impl block itself says nothing that the type does not.
void NameReader::impl_path(bool has_trait) {
  name_.optional_base62('s');
  const bool was_silent = silent_;
  silent_ = true;
  path();
  silent_ = was_silent;
  print("<");
  type();
  if (has_trait) {
    print(" as ");
    path();
  }
  print(">");
}

void NameReader::generic_arguments() {
  print("<");
  for (bool first = true; !failed() && !name_.eat('E'); first = false) {
    print(first ? "" : ", ");
    generic_argument();
  }
  print(">");
}

void NameReader::generic_argument() {
  if (name_.eat('L')) {
    name_.base62();
    print("'_");
  } else if (name_.eat('K')) {
    constant();
  } else {
    type();
  }
}

void NameReader::type() {
  require(++depth_ <= kMaxDepth);
  if (const auto basic = basic_type(name_.peek()); !basic.empty()) {
    name_.next();
    print(basic);
  } else if (name_.eat('T')) {
    print("(");
    print(types_until_end() == 1 ? ",)" : ")");
  } else if (name_.eat('F')) {
    function_pointer();
  } else if (name_.eat('D')) {
    trait_object();
  } else if (name_.eat('B')) {
    backward_reference(&NameReader::type);
  } else if (!eat_type_around_type()) {
    path();
  }
  --depth_;
}

// References, pointers, arrays and slices; false when the next type is none of them.
bool NameReader::eat_type_around_type() {
  constexpr std::string_view kTags = "RQPOAS";
  constexpr std::string_view kPrefixes[] = {"&", "&mut ", "*const ", "*mut ", "[", "["};
  const char tag = name_.peek();
  const std::size_t kind = kTags.find(tag);
  if (tag == '\0' || kind == kTags.npos) {
    return false;
  }
  const bool is_list = tag == 'A' || tag == 'S';
  name_.next();
  if (!is_list) {
    name_.optional_base62('L');
  }
  print(kPrefixes[kind]);
  type();
  if (tag == 'A') {
    print("; ");
    constant();
  }
  print(is_list ? "]" : "");
  return true;
}

std::size_t NameReader::types_until_end() {
  std::size_t count = 0;
  for (; !failed() && !name_.eat('E'); ++count) {
    print(count == 0 ? "" : ", ");
    type();
  }
  return count;
}

void NameReader::function_pointer() {
  name_.optional_base62('G');
  print(name_.eat('U') ? "unsafe " : "");
  if (name_.eat('K')) {
    const std::string abi = name_.eat('C') ? "C" : name_.identifier().text;
    print("extern \"" + abi + "\" ");
  }
  print("fn(");
  types_until_end();
  print(")");
  if (!name_.eat('u')) {  // a function that returns () is written without it
    print(" -> ");
    type();
  }
}

void NameReader::trait_object() {
  name_.optional_base62('G');
  print("dyn ");
  for (bool first = true; !failed() && !name_.eat('E'); first = false) {
    print(first ? "" : " + ");
    path();
    while (name_.eat('p')) {
      print("<" + name_.identifier().text + " = ");
      type();
      print(">");
    }
  }
  require(name_.eat('L'));
  name_.base62();
}

void NameReader::constant() {
  if (name_.eat('p')) {
    print("_");
  } else if (name_.eat('B')) {
    backward_reference(&NameReader::constant);
  } else {
    constant_value(name_.next());
  }
}

// Only numbers, truth values and characters: structures as parameters are not stable Rust.
void NameReader::constant_value(char type_tag) {
  require(!basic_type(type_tag).empty());
  const bool is_negative = name_.eat('n');
  std::string digits;
  while (!failed() && !name_.eat('_')) {
    digits += name_.next();
  }
  if (type_tag == 'b') {
    print(digits == "1" ? "true" : "false");
    return;
  }
  std::uint64_t value = 0;
  for (const char digit : digits) {
    const bool is_decimal = digit >= '0' && digit <= '9';
    require(is_decimal || (digit >= 'a' && digit <= 'f'));
    value = value * 16 + static_cast<unsigned>(is_decimal ? digit - '0' : digit - 'a' + 10);
  }
  print((is_negative ? "-" : "") + (digits.size() <= 16 ? std::to_string(value) : "0x" + digits));
}

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view mangled) {
  if (!mangled.starts_with("_R") || mangled.size() < 4) {
    return std::nullopt;
  }
  NameReader reader(mangled.substr(2));
  reader.path();
  return reader.failed() ? std::nullopt : std::optional(reader.take());
}

}  // namespace memtrace
