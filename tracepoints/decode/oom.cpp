// Kills for lack of memory (include/trace/events/oom.h), and for kernels before 4.13 the signal
// that kills (include/trace/events/signal.h).
#include <array>
#include <optional>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kKiB = 1024;

struct VictimFields {
  NumberAt pid;
  std::optional<Field> comm;
  std::optional<NumberAt> total_vm_kib;
  std::optional<NumberAt> anon_kib;
  std::optional<NumberAt> file_kib;
  std::optional<NumberAt> shmem_kib;
  std::optional<NumberAt> page_tables_kib;
  std::optional<NumberAt> uid;
  std::optional<NumberAt> oom_score_adj;
};

OomVictim read_victim(const VictimFields& fields, std::span<const std::byte> raw) {
  OomVictim victim;
  victim.pid = static_cast<std::uint32_t>(fields.pid.load(raw.data()));
  victim.has_memory = fields.anon_kib.has_value();
  victim.comm = fields.comm ? fields.comm->text(raw) : std::string_view();
  victim.total_vm_bytes = load_or(fields.total_vm_kib, raw, std::uint64_t{0}) * kKiB;
  victim.anon_bytes = load_or(fields.anon_kib, raw, std::uint64_t{0}) * kKiB;
  victim.file_bytes = load_or(fields.file_kib, raw, std::uint64_t{0}) * kKiB;
  victim.shmem_bytes = load_or(fields.shmem_kib, raw, std::uint64_t{0}) * kKiB;
  victim.page_table_bytes = load_or(fields.page_tables_kib, raw, std::uint64_t{0}) * kKiB;
  victim.uid = load_or(fields.uid, raw, std::uint32_t{0});
  victim.oom_score_adj = load_or(fields.oom_score_adj, raw, std::int32_t{0});
  return victim;
}

// The event has the victim's memory since 6.9, 6.1.92 and 5.10.218.
Result<Decoder> bind_victim(const EventFormat& format) {
  FieldLookup lookup(format);
  VictimFields fields;
  fields.pid = lookup.required({"pid"});
  fields.comm = lookup.optional_text("comm");
  fields.total_vm_kib = lookup.optional("total_vm");
  fields.anon_kib = lookup.optional("anon_rss");
  fields.file_kib = lookup.optional("file_rss");
  fields.shmem_kib = lookup.optional("shmem_rss");
  fields.page_tables_kib = lookup.optional("pgtables");
  fields.uid = lookup.optional("uid");
  fields.oom_score_adj = lookup.optional("oom_score_adj");
  return reading(lookup,
                 [fields](std::span<const std::byte> raw) { return read_victim(fields, raw); });
}

Result<Decoder> bind_signal(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt signal = lookup.required({"sig"});
  const NumberAt pid = lookup.required({"pid"});
  const std::optional<NumberAt> result = lookup.optional("result");
  const std::optional<Field> comm = lookup.optional_text("comm");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return SignalSent{.signal = static_cast<std::int32_t>(signal.load(raw.data())),
                      .pid = static_cast<std::uint32_t>(pid.load(raw.data())),
                      .result = load_or(result, raw, std::int32_t{0}),
                      .comm = comm ? comm->text(raw) : std::string_view()};
  });
}

}  // namespace

std::span<const Tracepoint> oom_tracepoints() {
  static constexpr std::array<Tracepoint, 2> kTracepoints = {
      {{.name = "oom:mark_victim",
        .bind = &bind_victim,
        .when_missing = "kills are found by their signal and the kernel stack; the victim's memory "
                        "is what /proc showed a moment later",
        .optional_field = {"anon_rss", "the victim's memory is what /proc showed a moment later"}},
       {.name = "signal:signal_generate",
        .bind = &bind_signal,
        .when_missing = "the signals of failed faults are not known"}}};
  return kTracepoints;
}

}  // namespace memtrace
