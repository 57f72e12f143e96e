// A library with the static probes of glibc's malloc, for systems whose libc has none.
#pragma once

#include <cstddef>

void play_arena(char* heap, std::size_t heap_bytes, char* arena);
void play_heap_growth(char* heap, std::size_t heap_bytes);
void play_heap_end(char* heap, std::size_t heap_bytes);
void play_wait(char* arena);
void play_sbrk(char* top, std::size_t bytes);
void play_thresholds(std::size_t mmap_bytes, std::size_t trim_bytes);
