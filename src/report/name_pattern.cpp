#include "report/name_pattern.h"

#include <re2/re2.h>

namespace memtrace {

Result<NamePattern> NamePattern::parse(const std::string& expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes, as they come from the kernel
  NamePattern pattern;
  pattern.expression_ = std::make_shared<const re2::RE2>(expression, options);
  if (!pattern.expression_->ok()) {
    constexpr std::size_t kShownBytes = 100;  // it may quote the expression
    const std::string why = pattern.expression_->error().substr(0, kShownBytes);
    return Error{"is not a regular expression: " + why, 0, ""};
  }
  return pattern;
}

bool NamePattern::is_found_in(std::string_view name) const {
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
}

}  // namespace memtrace
