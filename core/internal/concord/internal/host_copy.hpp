#pragma once
// Large copies within host memory.

#include <concord/types.hpp>

#include <cstddef>

namespace concord::detail {

// One thread's part of a large copy, through blocks in L1 and with non-temporal stores. Blocks overlap reads and stores
// better than single lines.
void copy_non_temporal(std::byte* to, const std::byte* from, u64 bytes);

// Copies with the calling thread and up to seven helpers, at most host_threads() threads in total. The ranges must not
// overlap. Blocks until the copy is done.
void copy_in_parallel(void* to, const void* from, u64 bytes);

}  // namespace concord::detail
