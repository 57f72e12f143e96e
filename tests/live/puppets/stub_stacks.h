// What stub_stacks calls through its procedure linkage table; in a library of its own.
#pragma once

// The queue that the resolver of bound_late sends a message to.
extern "C" long stub_queue;

// An indirect function: its resolver, choose_function, runs in the dynamic linker at the first
// call.
extern "C" long bound_late(long number);

extern "C" long called_by_stub(long number);
