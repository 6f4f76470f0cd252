// Counters of 32 or 64 bits in global memory, CUDA C++. Parallel source: histogram_counter.cl.
//
// WORDS: 32-bit words per counter.

template <int Words> struct CounterOf { using Type = u32; };
template <> struct CounterOf<2> { using Type = u64; };
using Counter = CounterOf<WORDS>::Type;
