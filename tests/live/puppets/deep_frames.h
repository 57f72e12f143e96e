// Forty known frames, without frame pointers, and a kernel event at the innermost. See
// deep_frames.cpp.
#pragma once

// Calls frame<40>, which calls frame<39> and so on; frame<1> sends a message of 1000 bytes. What
// stands between: frame<31> calls frame<30> through libc's qsort, frame<21> calls frame<20> as a
// signal handler, frame<11> calls frame<10> from a function with a realigned stack.
extern "C" long call_deep_frames(int queue);
