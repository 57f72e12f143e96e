#include "sections/joined_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/units.h"
#include "sections/embedded_symbols.h"

namespace memtrace {
namespace {

// A file knows the notes and the names of the files before it of the same recording. So of each
// recording the last file counts that says anything.
std::vector<const JoinedFile*> last_ones(std::span<const JoinedFile> files,
                                         std::string Recording::*text) {
  std::vector<const JoinedFile*> last;
  for (const JoinedFile& file : files) {
    if ((file.recording.*text).empty()) {
      continue;
    }
    if (!last.empty() && file.is_of_recording_of(*last.back())) {
      last.back() = &file;
    } else {
      last.push_back(&file);
    }
  }
  return last;
}

template <typename Value>
void add_new(std::vector<Value>& all, const std::vector<Value>& more) {
  for (const Value& value : more) {
    if (std::ranges::find(all, value) == all.end()) {
      all.push_back(value);
    }
  }
}

template <typename Value>
void append(std::vector<Value>& all, const std::vector<Value>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void add_counters(RecordingFacts& all, const RecordingFacts& more) {
  all.mapping_reads += more.mapping_reads;
  all.own_samples += more.own_samples;
  all.late += more.late;
  all.overload += more.overload;
  all.malformed += more.malformed;
  all.cut_stacks += more.cut_stacks;
  all.disk_full += more.disk_full;
  all.observations_skipped += more.observations_skipped;
  for (const auto& [name, growth] : more.vmstat) {
    all.vmstat[name] += growth;
  }
  for (const auto& [name, count] : more.own_events) {
    all.own_events[name] += count;
  }
}

void add_facts(RecordingFacts& all, const RecordingFacts& more) {
  add_counters(all, more);
  append(all.observations, more.observations);
  append(all.losses, more.losses);
  add_new(all.limited, more.limited);
  all.filters.insert(more.filters.begin(), more.filters.end());
  all.slab_caches.insert(more.slab_caches.begin(), more.slab_caches.end());
  all.whole_machine = all.whole_machine && more.whole_machine;
  all.boot_id = all.boot_id == more.boot_id ? all.boot_id : "";
}

RecordingFacts joined_facts(std::span<const JoinedFile> files) {
  RecordingFacts all = files.front().facts;
  for (const JoinedFile& file : files.subspan(1)) {
    if (!file.recording.about_json.empty()) {
      add_facts(all, file.facts);
    }
  }
  // The losses of a file that was never finished stand in its records only, and those of all files
  // stand in their records, too.
  if (std::ranges::any_of(
          files, [](const JoinedFile& file) { return file.recording.about_json.empty(); })) {
    all.losses.clear();
  }
  all.notes.clear();
  all.notes_of_samples.clear();
  for (const JoinedFile* file : last_ones(files, &Recording::about_json)) {
    add_new(all.notes, file->facts.notes);
    add_new(all.notes_of_samples, file->facts.notes_of_samples);
  }
  all.started_ns = files.front().started_ns();
  all.stopped_ns = files.back().facts.stopped_ns;
  all.earlier_files = files.front().facts.earlier_files;
  return all;
}

std::string joined_symbols(std::span<const JoinedFile> files) {
  const auto last = last_ones(files, &Recording::symbols_json);
  if (last.size() <= 1) {
    return last.empty() ? "" : last.front()->recording.symbols_json;
  }
  EmbeddedSymbols all;
  for (const JoinedFile* file : last) {
    const auto symbols = EmbeddedSymbols::parse(file->recording.symbols_json);
    if (symbols.ok()) {
      all.merge(symbols.value());
    }
  }
  return all.to_json();
}

void add_build_ids(Recording& all, const Recording& more) {
  for (const BuildIdEntry& entry : more.build_ids) {
    const auto is_same = [&entry](const BuildIdEntry& known) {
      return known.path == entry.path && known.build_id == entry.build_id;
    };
    if (std::ranges::none_of(all.build_ids, is_same)) {
      all.build_ids.push_back(entry);
    }
  }
}

// What is not known between two files.
std::string gap_between(const JoinedFile& before, const JoinedFile& after) {
  if (after.is_of_recording_of(before)) {
    const std::uint64_t missing = after.part.number - before.part.number - 1;
    return counted(missing, "file", "files") + " of the recording between " + before.path +
           " and " + after.path + (missing == 1 ? " is" : " are") +
           " not given: the events in it are missing here, and blocks that were freed meanwhile "
           "seem to be live";
  }
  return before.path + " and " + after.path +
         " are of two recordings: what happened between them was not recorded, and blocks that "
         "were freed meanwhile seem to be live";
}

}  // namespace

JoinedFile JoinedFile::of(std::string path, Recording recording) {
  JoinedFile file{.path = std::move(path),
                  .recording = std::move(recording),
                  .part = {},
                  .facts = {},
                  .given = 0};
  file.part = parse_recording_part(file.recording.part_json);
  file.facts = parse_recording_facts(file.recording.about_json);
  return file;
}

void release_repeated_names(std::vector<JoinedFile>& files) {
  JoinedFile& added = files.back();
  for (JoinedFile& file : std::span(files).first(files.size() - 1)) {
    std::string& names = file.recording.symbols_json;
    if (names.empty() || added.recording.symbols_json.empty() || !added.is_of_recording_of(file)) {
      continue;
    }
    if (file.part.number < added.part.number) {
      std::string().swap(names);  // an assignment keeps the memory
    } else {
      std::string().swap(added.recording.symbols_json);
    }
  }
}

std::uint64_t JoinedFile::started_ns() const {
  if (facts.started_ns != 0) {
    return facts.started_ns;
  }
  return part.started_ns != 0 ? part.started_ns : recording.first_time_ns;
}

std::uint64_t JoinedFile::stopped_ns() const {
  return facts.stopped_ns != 0 ? facts.stopped_ns : recording.last_time_ns;
}

Recording join_recordings(std::vector<JoinedFile> files) {
  std::string symbols_json = joined_symbols(files);
  for (JoinedFile& file : files) {
    std::string().swap(file.recording.symbols_json);
  }
  Recording all = files.front().recording;
  all.events.clear();
  all.caveats.clear();
  all.identities.clear();
  all.last_time_ns = files.back().recording.last_time_ns;
  for (const JoinedFile& file : files) {
    all.tells_exec = all.tells_exec && file.recording.tells_exec;
    all.identities += file.recording.identities;
    add_build_ids(all, file.recording);
  }
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (!files[i].follows(files[i - 1])) {
      all.caveats.push_back(gap_between(files[i - 1], files[i]));
    }
  }
  all.symbols_json = std::move(symbols_json);
  all.about_json = to_json(joined_facts(files));
  return all;
}

}  // namespace memtrace
