// kmem: kmalloc, kmem_cache_alloc, their _node forms and frees (include/trace/events/kmem.h). The
// _node forms are gone since 6.1, where the plain events have the node. gfp_flags has 4 bytes up
// to 5.15 and 8 after. name: of frees since 5.15 and RHEL 8.6, of allocations since 6.18.
#include <array>
#include <optional>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

struct AllocFields {
  NumberAt call_site;
  NumberAt ptr;
  NumberAt bytes_req;
  NumberAt bytes_alloc;
  NumberAt gfp;
  std::optional<NumberAt> node;
  std::optional<Field> cache;
  std::size_t needed_bytes = 0;
};

SlabAlloc read_alloc(const AllocFields& fields, std::span<const std::byte> raw) {
  SlabAlloc alloc;
  const std::byte* data = raw.data();
  alloc.call_site = fields.call_site.load(data);
  alloc.ptr = fields.ptr.load(data);
  alloc.bytes_req = fields.bytes_req.load(data);
  alloc.bytes_alloc = fields.bytes_alloc.load(data);
  alloc.gfp = fields.gfp.load(data);
  if (fields.node) {
    alloc.node = static_cast<std::int32_t>(fields.node->load(data));
  }
  if (fields.cache) {
    alloc.cache = fields.cache->text(raw);
  }
  return alloc;
}

Result<Decoder> bind_alloc(const EventFormat& format, bool kmalloc) {
  FieldLookup lookup(format);
  AllocFields fields;
  fields.call_site = lookup.required({"call_site"});
  fields.ptr = lookup.required({"ptr"});
  fields.bytes_req = lookup.required({"bytes_req"});
  fields.bytes_alloc = lookup.required({"bytes_alloc"});
  fields.gfp = lookup.required({"gfp_flags"});
  fields.node = lookup.optional("node");
  fields.cache = lookup.optional_text("name");
  fields.needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([fields, kmalloc](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < fields.needed_bytes) {
      return {};
    }
    SlabAlloc alloc = read_alloc(fields, sample.raw);
    alloc.kmalloc = kmalloc;
    return alloc;
  });
}

Result<Decoder> bind_free(const EventFormat& format, bool kmalloc) {
  FieldLookup lookup(format);
  const NumberAt call_site = lookup.required({"call_site"});
  const NumberAt ptr = lookup.required({"ptr"});
  const std::optional<Field> cache = lookup.optional_text("name");
  const std::size_t needed_bytes = lookup.needed_bytes();
  TRY(lookup.check());
  return Decoder([=](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return SlabFree{.call_site = call_site.load(sample.raw.data()),
                    .ptr = ptr.load(sample.raw.data()),
                    .kmalloc = kmalloc,
                    .cache = cache ? cache->text(sample.raw) : std::string_view()};
  });
}

Result<Decoder> bind_kmalloc(const EventFormat& format) {
  return bind_alloc(format, true);
}

Result<Decoder> bind_cache_alloc(const EventFormat& format) {
  return bind_alloc(format, false);
}

Result<Decoder> bind_kfree(const EventFormat& format) {
  return bind_free(format, true);
}

Result<Decoder> bind_cache_free(const EventFormat& format) {
  return bind_free(format, false);
}

// Memory of each CPU goes by the name of a cache of its own; its addresses are offsets that no slab
// object has. bytes_alloc, of all CPUs together, exists since 6.1: before, the event has the bytes
// of one CPU.
Result<Decoder> bind_percpu_alloc(const EventFormat& format) {
  FieldLookup lookup(format);
  const std::optional<NumberAt> call_site = lookup.optional("call_site");
  const NumberAt ptr = lookup.required({"ptr"});
  const NumberAt size = lookup.required({"size"});
  const std::optional<NumberAt> bytes_alloc = lookup.optional("bytes_alloc");
  const std::optional<NumberAt> gfp = lookup.optional("gfp_flags");
  return reading(lookup, [=](std::span<const std::byte> raw) {
    const std::uint64_t bytes = size.load(raw.data());
    return SlabAlloc{.call_site = load_or(call_site, raw, std::uint64_t{0}),
                     .ptr = ptr.load(raw.data()),
                     .bytes_req = bytes,
                     .bytes_alloc = load_or(bytes_alloc, raw, bytes),
                     .gfp = load_or(gfp, raw, std::uint64_t{0}),
                     .cache = kPercpuCache};
  });
}

Result<Decoder> bind_percpu_free(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt ptr = lookup.required({"ptr"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return SlabFree{.ptr = ptr.load(raw.data()), .cache = kPercpuCache};
  });
}

}  // namespace

std::span<const Tracepoint> slab_tracepoints() {
  static constexpr std::array<Tracepoint, 8> kTracepoints = {
      {{"kmem:kmalloc", &bind_kmalloc},
       {"kmem:kmalloc_node", &bind_kmalloc},
       {"kmem:kmem_cache_alloc", &bind_cache_alloc},
       {"kmem:kmem_cache_alloc_node", &bind_cache_alloc},
       {"kmem:kfree", &bind_kfree, EventRole::Free},
       {.name = "kmem:kmem_cache_free",
        .bind = &bind_cache_free,
        .role = EventRole::Free,
        .optional_field = {"name",
                           "caches are named by the size of their objects, if /proc/slabinfo has "
                           "only one cache of this size"}},
       {.name = "percpu:percpu_alloc_percpu",
        .bind = &bind_percpu_alloc,
        .when_missing = "per-CPU memory is not seen"},
       {"percpu:percpu_free_percpu", &bind_percpu_free}}};
  return kTracepoints;
}

}  // namespace memtrace
