#pragma once
// An allocator that fails on demand. A program that links to the library, or that runs with it in LD_PRELOAD, calls it
// instead of the C library's malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign, mmap and pthread_create.
// `operator new` calls malloc.
//
// A call counts if the code that asks for memory belongs to Concord or to a library that it builds on, such as oneTBB.
// The first function on the stack outside the C and C++ runtime decides. Calls of OpenCL implementations, of their
// compilers and of oneTBB's own allocator never fail: these crash, and Concord cannot prevent it.

#include <cstdint>

namespace concord::test {

struct AllocatorFailures {
    std::uint64_t first = 0;  // number of the first call that fails, from 1; 0: none
    std::uint64_t last = 0;   // number of the last call that fails
};

// Counts calls from now on, and fails those.
extern "C" void concord_test_start_failing(AllocatorFailures failures);
// Ends counting. No call fails. Returns the number of calls since start.
extern "C" std::uint64_t concord_test_stop_failing();
// The number of calls that failed since start.
extern "C" std::uint64_t concord_test_failed_calls();

// Without code that calls these functions: the variable FAILING_ALLOCATOR has the form "FIRST LAST FILE". Counting
// begins before main(). When the program ends, FILE receives the number of calls. For each failed call it receives the
// stack.

}  // namespace concord::test
