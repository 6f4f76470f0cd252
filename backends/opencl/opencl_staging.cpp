#include "opencl_staging.hpp"

#include "opencl_event.hpp"

#include <algorithm>

namespace concord::opencl {

Staging::Chunk& Staging::chunk(u64 i, std::string_view call) {
    Chunk& chunk = chunks_[i % chunks_.size()];
    if (!chunk.memory) chunk.memory = allocate_(chunk_bytes);
    if (chunk.transfer) wait_for(chunk.transfer.get(), call);
    chunk.transfer = {};
    return chunk;
}

void Staging::write(cl_command_queue queue, cl_mem to, u64 offset, const std::byte* from, u64 bytes) {
    constexpr const char* call = "Stream::write";
    for (u64 at = 0, i = 0; at < bytes; at += chunk_bytes, ++i) {
        const u64 n = std::min(chunk_bytes, bytes - at);
        Chunk& free = chunk(i, call);
        std::memcpy(free.memory->host_pointer(), from + at, n);
        check(cl().clEnqueueWriteBuffer(queue, to, CL_FALSE, offset + at, n, free.memory->host_pointer(), 0,
                                        nullptr, free.transfer.out()),
              call, "clEnqueueWriteBuffer");
        check(cl().clFlush(queue), call, "clFlush");
    }
}

void Staging::read(cl_command_queue queue, std::byte* to, cl_mem from, u64 offset, u64 bytes) {
    constexpr const char* call = "Stream::read";
    const u64 pieces = (bytes + chunk_bytes - 1) / chunk_bytes;
    auto length = [&](u64 i) { return std::min(chunk_bytes, bytes - i * chunk_bytes); };
    // One piece ahead: while the host copies piece i - 1 out of its chunk, piece i comes into the other.
    for (u64 i = 0; i <= pieces; ++i) {
        if (i < pieces) {
            Chunk& free = chunk(i, call);
            check(cl().clEnqueueReadBuffer(queue, from, CL_FALSE, offset + i * chunk_bytes, length(i),
                                           free.memory->host_pointer(), 0, nullptr, free.transfer.out()),
                  call, "clEnqueueReadBuffer");
            check(cl().clFlush(queue), call, "clFlush");
        }
        if (i > 0) {
            const Chunk& full = chunk(i - 1, call);
            std::memcpy(to + (i - 1) * chunk_bytes, full.memory->host_pointer(), length(i - 1));
        }
    }
}

}  // namespace concord::opencl
