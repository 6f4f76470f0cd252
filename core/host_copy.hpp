#pragma once
/// Large copies within the host's memory.

#include <concord/types.hpp>

#include <cstddef>

namespace concord::detail {

/// A thread's part of a large copy, by way of L1 and past the other caches: reads run ahead of the stores better than line by
/// line, and what is written is not read again soon.
void copy_past_cache(std::byte* to, const std::byte* from, u64 bytes);

/// A large copy by the calling thread and up to seven helpers (at most host_threads() in all), which the process keeps. The ranges may not overlap. Returns
/// when it is done.
void copy_in_parallel(void* to, const void* from, u64 bytes);

}  // namespace concord::detail
