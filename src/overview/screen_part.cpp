#include "overview/screen_part.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "views/all/all_views.h"

namespace memtrace {
namespace {

SessionOptions options_of(SessionOptions options, const std::vector<std::size_t>& finders) {
  for (const std::size_t number : finders) {
    const Finder& finder = all_finders()[number];
    SessionOptions::Choice choice{.by = finder.by};
    for (const std::string& flag : finder.flags) {
      choice.own[flag] = "1";
    }
    options.views.push_back(find_view(finder.view));
    options.choices.push_back(std::move(choice));
  }
  options.as_made = true;
  options.part = StackPart::Whole;  // the kernel's part shows what memory is for
  return options;
}

}  // namespace

ScreenPart::ScreenPart(std::vector<std::size_t> finders, std::unique_ptr<Session> session)
    : finders_(std::move(finders)), session_(std::move(session)) {}

Result<ScreenPart> ScreenPart::create(RecordSource& source,
                                      SessionOptions options,
                                      std::vector<std::size_t> finders) {
  auto session = Session::create(source, options_of(std::move(options), finders));
  if (!session.ok()) {
    return session.take_error();
  }
  return ScreenPart(std::move(finders), session.take());
}

Result<> ScreenPart::run() {
  return session_->run([this](std::vector<Report> reports) -> Result<> {
    find_all(reports);
    reports_ = std::move(reports);
    return kDone;
  });
}

void ScreenPart::find_all(std::vector<Report>& reports) {
  const View::Span span = session_->span();
  const FindingContext context{.span_ns = span.end_ns - span.start_ns, .namer = session_->namer()};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (session_->view_has_events(i)) {
      const Finder& finder = all_finders()[finders_[i]];
      std::ranges::move(finder.find(reports[i], context), std::back_inserter(findings_));
    }
    reports[i].tables.clear();
  }
}

void ScreenPart::add_to(Screen& screen) {
  std::ranges::move(findings_, std::back_inserter(screen.findings));
  for (std::size_t i = 0; i < reports_.size(); ++i) {
    screen.reports[finders_[i]] = std::move(reports_[i]);
    screen.has_events[finders_[i]] = session_->view_has_events(i);
  }
}

}  // namespace memtrace
