#include "views/kernel/kmem_events.h"

namespace memtrace {

// The _node forms were merged into the plain events after 5.15.
bool is_kmalloc(const EventType& type) {
  return type.name == "kmem:kmalloc" || type.name == "kmem:kmalloc_node";
}

bool is_slab_alloc(const EventType& type) {
  return is_kmalloc(type) || type.name == "kmem:kmem_cache_alloc" ||
         type.name == "kmem:kmem_cache_alloc_node";
}

bool is_slab_free(const EventType& type) {
  return type.name == "kmem:kfree" || type.name == "kmem:kmem_cache_free";
}

// Before 3.10 mm_page_free was mm_page_free_direct and mm_pagevec_free.
bool is_page_event(const EventType& type) {
  return type.name == "kmem:mm_page_alloc" || type.name == "kmem:mm_page_free" ||
         type.name == "kmem:mm_page_free_direct" || type.name == "kmem:mm_pagevec_free";
}

}  // namespace memtrace
