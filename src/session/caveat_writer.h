// What a report says of its own truth: what is missing from it and what seems otherwise than it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"
#include "report/report.h"
#include "sections/recording_facts.h"
#include "session/dispatch/view_dispatch.h"
#include "session/frame_namer.h"
#include "session/loss_counter.h"
#include "session/memory_bound.h"
#include "session/session_options.h"
#include "session/unknown_identities.h"
#include "session/unmatched_frees.h"

namespace memtrace {

class CaveatWriter {
 public:
  // What a session knows, as of now. All outlive the writer.
  struct Sources {
    const SessionOptions& options;
    const Pipeline& pipeline;
    const ViewDispatch& dispatch;
    const FrameNamer& naming;
    const RecordingFacts& about;
    const LossCounter& losses;
    const UnknownIdentities& unknown;
    const UnmatchedFrees& unmatched;
    const MemoryBound& bound;
    std::uint64_t shown_ns;
  };

  explicit CaveatWriter(const Sources& sources) : of_(sources) {}

  // The caveats of a view's report, before those that the view itself has written there.
  void write(std::size_t view_index, Report& report) const;

  // Those that are the same for all views: the losses in the records, classified by what `record`
  // wrote about itself, and the notes of all stations.
  Caveats shared() const;

  // Those of the shared notes that are about samples which came: how they were read, unwound and
  // named. They do not explain why others did not come.
  std::vector<std::string> notes_of_samples() const;

 private:
  std::vector<std::string> own_work_note() const;  // one or none
  std::vector<std::string> bound_note() const;     // the same
  void note_clock(const Report& report, Caveats& known) const;
  void note_empty(Report& report) const;
  static void note_bounds(const Report& report, Caveats& caveats);
  void note_earlier_files(const ViewSpec& view, Caveats& caveats) const;
  void note_partial(const ViewSpec& view, Caveats& caveats) const;
  void note_unmatched(std::size_t view_index, Caveats& caveats) const;
  void note_parts(const ViewSpec& view, Caveats& caveats) const;
  void note_lost_mappings(const ViewSpec& view, Caveats& caveats) const;
  bool was_used(std::size_t event) const;
  bool is_sampled(std::size_t view_index) const;

  Sources of_;
};

}  // namespace memtrace
