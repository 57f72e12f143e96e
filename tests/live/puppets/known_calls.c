// known_calls MODE: calls of every function that a C library has for its heap, so often and with so
// many blocks left as the names below say; in C, for C libraries that have no C++ library beside
// them. `all`: each function; `children`: 20 children, each of which begins with 3 mallocs; `loop`:
// the 40 mallocs alone, as the program's first calls; `refused`: calls that no allocator can serve.
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void* reallocarray(void*, size_t, size_t);
void* aligned_alloc(size_t, size_t);

#define NOT_INLINED __attribute__((noinline, noclone))

// Else the compiler leaves calls out whose result it sees nobody use.
static void* volatile kept;

static void* keep(void* block) {
  kept = block;
  return block;
}

NOT_INLINED static void use_malloc(void) {  // 40 calls; 10 blocks, 500 bytes
  for (int i = 0; i < 40; ++i) {
    void* block = keep(malloc(50));
    if (i >= 10) {
      free(block);
    }
  }
}

NOT_INLINED static void use_calloc(void) {  // 20 calls; 5 blocks, 255 bytes
  for (int i = 0; i < 20; ++i) {
    void* block = keep(calloc(3, 17));
    if (i >= 5) {
      free(block);
    }
  }
}

NOT_INLINED static void use_realloc(void) {  // 25 calls; 2 blocks, 640 bytes
  for (int i = 0; i < 5; ++i) {
    void* block = NULL;
    for (size_t size = 64; size <= 320; size += 64) {
      block = keep(realloc(block, size));
    }
    if (i >= 2) {
      free(block);
    }
  }
}

NOT_INLINED static void use_array(void) {  // 6 calls; 3 blocks, 210 bytes
  for (int i = 0; i < 3; ++i) {
    keep(reallocarray(keep(reallocarray(NULL, 5, 7)), 10, 7));
  }
}

NOT_INLINED static void use_posix_memalign(void) {  // 7 calls; 2 blocks, 800 bytes
  for (int i = 0; i < 7; ++i) {
    void* block = NULL;
    if (posix_memalign(&block, 64, 400) == 0 && i >= 2) {
      free(keep(block));
    }
  }
}

NOT_INLINED static void use_aligned_alloc(void) {  // 8 calls; 4 blocks, 1,536 bytes
  for (int i = 0; i < 8; ++i) {
    void* block = keep(aligned_alloc(64, 384));
    if (i >= 4) {
      free(block);
    }
  }
}

NOT_INLINED static void use_memalign(void) {  // 9 calls; 3 blocks, 900 bytes
  for (int i = 0; i < 9; ++i) {
    void* block = keep(memalign(128, 300));
    if (i >= 3) {
      free(block);
    }
  }
}

NOT_INLINED static void use_in_child(void) {  // 3 calls; 3 blocks, 210 bytes
  for (int i = 0; i < 3; ++i) {
    keep(malloc(70));
  }
}

static void use_in_children(void) {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      use_in_child();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}

NOT_INLINED static void be_refused(void) {  // 6 calls of 2^60 bytes, 2 of 100; 2 blocks, 200 bytes
  volatile size_t huge = (size_t)1 << 60;
  for (int i = 0; i < 6; ++i) {
    keep(malloc(huge));
  }
  keep(malloc(100));
  keep(malloc(100));
}

static void use_all(void) {
  use_realloc();  // first: of a fresh process each of them may do more than later
  use_posix_memalign();
  use_memalign();
  use_calloc();
  use_malloc();
  use_array();
  use_aligned_alloc();
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "all";
  if (strcmp(mode, "children") == 0) {
    use_in_children();
  } else if (strcmp(mode, "loop") == 0) {
    use_malloc();
  } else if (strcmp(mode, "refused") == 0) {
    be_refused();
  } else {
    use_all();
  }
  return 0;
}
