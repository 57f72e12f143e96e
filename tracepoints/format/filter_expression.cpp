#include "tracepoints/format/filter_expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr int kDeepest = 64;

bool is_filter_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

}  // namespace

// or := and {"||" and};  and := not {"&&" not};  not := {"!"} ("(" or ")" | field op number)
class FilterExpression::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool parse_all() {
    const bool is_well = parse_or();
    skip_blanks();
    return is_well && rest_.empty();
  }

  FilterExpression take() { return std::move(made_); }

 private:
  bool parse_or() { return parse_joined("||", Step::Or, &Parser::parse_and); }

  bool parse_and() { return parse_joined("&&", Step::And, &Parser::parse_not); }

  bool parse_joined(std::string_view joint, Step step, bool (Parser::*part)()) {
    if (!(this->*part)()) {
      return false;
    }
    while (take_word(joint)) {
      if (!(this->*part)()) {
        return false;
      }
      made_.nodes_.push_back({.step = step});
    }
    return true;
  }

  bool parse_not() {
    if (++depth_ > kDeepest) {
      return false;
    }
    const bool is_negated = !next_is("!=") && take_word("!");
    bool is_well = false;
    if (is_negated) {
      is_well = parse_not();
      made_.nodes_.push_back({.step = Step::Not});
    } else if (take_word("(")) {
      is_well = parse_or() && take_word(")");
    } else {
      is_well = parse_comparison();
    }
    --depth_;
    return is_well;
  }

  bool parse_comparison() {
    // The longer first: "<" begins "<=" too.
    static constexpr auto kOps = std::to_array<std::pair<std::string_view, Op>>({
        {"==", Op::Equal},
        {"!=", Op::NotEqual},
        {"<=", Op::LessEqual},
        {">=", Op::MoreEqual},
        {"<", Op::Less},
        {">", Op::More},
        {"&", Op::Bits},
    });
    const std::string field(take_name());
    if (field.empty() || std::isdigit(static_cast<unsigned char>(field.front())) != 0 ||
        next_is("&&")) {
      return false;
    }
    const auto* op = std::find_if(
        kOps.begin(), kOps.end(), [this](const auto& each) { return take_word(each.first); });
    const bool is_negative = op != kOps.end() && take_word("-");
    const auto value = parse_number_of(take_name());
    if (op == kOps.end() || !value) {
      return false;
    }
    made_.nodes_.push_back({.step = Step::Compare,
                            .op = op->second,
                            .field = number_of(field),
                            .value = is_negative ? -*value : *value});
    return true;
  }

  static std::optional<std::uint64_t> parse_number_of(std::string_view word) {
    const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
    return is_hex ? parse_number(word.substr(2), 16) : parse_number(word);
  }

  std::size_t number_of(const std::string& field) {
    auto& fields = made_.fields_;
    const auto known = std::find(fields.begin(), fields.end(), field);
    const auto number = static_cast<std::size_t>(known - fields.begin());
    if (known == fields.end()) {
      fields.push_back(field);
    }
    return number;
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  bool next_is(std::string_view word) {
    skip_blanks();
    return rest_.starts_with(word);
  }

  bool take_word(std::string_view word) {
    const bool is_there = next_is(word);
    rest_.remove_prefix(is_there ? word.size() : 0);
    return is_there;
  }

  std::string_view take_name() {
    skip_blanks();
    const auto* end = std::find_if_not(rest_.begin(), rest_.end(), is_filter_word);
    const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(name.size());
    return name;
  }

  std::string_view rest_;
  FilterExpression made_;
  int depth_ = 0;
};

Result<FilterExpression> FilterExpression::parse(std::string_view text) {
  Parser parser(text);
  if (parser.parse_all()) {
    return parser.take();
  }
  return Error{"filter '" + std::string(text) + "'",
               0,
               "without tracefs, filters of user probes compare fields with numbers, joined by "
               "&& and ||: 'size >= 4096 && size < 65536'",
               ErrorKind::Usage};
}

template <typename Number>
bool FilterExpression::compare(Op op, Number left, Number right) {
  switch (op) {
    case Op::Equal:
      return left == right;
    case Op::NotEqual:
      return left != right;
    case Op::Less:
      return left < right;
    case Op::LessEqual:
      return left <= right;
    case Op::More:
      return left > right;
    case Op::MoreEqual:
      return left >= right;
    case Op::Bits:
      return (left & right) != 0;
  }
  return false;
}

bool FilterExpression::accepts(const std::vector<std::uint64_t>& values,
                               const std::vector<bool>& are_signed) const {
  std::vector<bool> results;
  for (const Node& node : nodes_) {
    if (node.step == Step::Compare) {
      const bool is_signed = node.field < are_signed.size() && are_signed[node.field];
      const std::uint64_t value = values[node.field];
      results.push_back(is_signed ? compare(node.op,
                                            static_cast<std::int64_t>(value),
                                            static_cast<std::int64_t>(node.value))
                                  : compare(node.op, value, node.value));
      continue;
    }
    const bool last = results.back();
    if (node.step == Step::Not) {
      results.back() = !last;
      continue;
    }
    results.pop_back();
    results.back() = node.step == Step::And ? results.back() && last : results.back() || last;
  }
  return results.back();
}

}  // namespace memtrace
