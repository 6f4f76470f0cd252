#pragma once
// The host kernels of sorts without a comparator of the user's, in sets for each size of key and value. Their
// definitions are in the files sort_host_*.cpp and sort_builtin.cpp, which have no launch code.

#include <concord/sort.hpp>

namespace concord::detail {

// sort_host_radix.cpp: radix8 and radix16.
struct RadixHost {
    HostKernel digits, plan, count, offsets, scatter, finish, serial;
    u64 line_bytes;  // scratch per group
};
inline constexpr u32 radix_host_bits = 8;           // of a digit of radix8
inline constexpr u64 radix_host_plan = 1 + 64 / 8;  // words of the plan
// value_size: 0 without values.
const RadixHost& radix_host(u32 key_size, u32 value_size);

// sort_host_split.cpp: sample sorts, for keys of 2 bytes and more.
struct SampleHost {
    HostKernel splitters, count, offsets, scatter, leaves, one;
    u64 splitters_bytes;
    bool leaves_in_spare;  // leaves are sorted from the spare array
    u64 max_caches;  // the longest input that is one leaf on one thread, in multiples of the caches; 0: any
};
extern const bool has_vqsort;  // whether Concord was built with Highway
const SampleHost& sample_vqsort_host(u32 key_size);
const SampleHost& sample_radix_host(u32 key_size);

// sort_host_split.cpp: counting, for keys of 1 and 2 bytes.
struct CountingHost {
    HostKernel count, sums, starts, fill;
    u64 turns;  // tables per chunk
};
const CountingHost& counting_host(u32 key_size);

// sort_host_lines.cpp: sort over an axis. The kernel for keys of a size, and the scratch bytes of a group that sorts
// `width` lines of n elements at a time.
HostKernel sort_lines_host(u32 key_size);
u64 sort_lines_scratch(u32 key_size, u32 value_size, u64 width, u64 n);
// The same for lines of at most short_line keys without values, several at a time. indexed: for argsort, with keys of
// at most 4 bytes.
namespace host {
inline constexpr u64 short_line = 64;
}
HostKernel sort_short_host(u32 key_size, bool indexed);

// sort_builtin.cpp
HostKernel sort_std_host(u32 key_size, u32 value_size);
HostKernel sort_qsort_host(u32 key_size);

}  // namespace concord::detail
