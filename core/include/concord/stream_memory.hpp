#pragma once
/// @file
/// Memory of a stream that keeps its contents between calls, for kernels whose groups exchange counters or totals.

#include <concord/stream.hpp>

namespace concord {

/// 256 zero bytes that belong to the stream, for counters that find the last group of a launch. Kernels that use them
/// must set them back to zero. Asynchronous; throws out_of_memory.
Buffer& zero_counters(Stream& stream);

/// Memory of the stream, at least `bytes` bytes, that keeps its contents between calls. It is zero when it is new,
/// after it has grown, and after every 2^29 calls. Status words that hold a use count therefore never match older
/// ones. Hold the pointer until the work that uses it is enqueued. Asynchronous; throws out_of_memory.
std::shared_ptr<Buffer> workspace(Stream& stream, u64 bytes);

}  // namespace concord
