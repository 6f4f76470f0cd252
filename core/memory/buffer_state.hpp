#pragma once
// State of a buffer: the streams that use it.

#include <concord/stream.hpp>

#include "stream/stream_progress.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace concord::detail {

struct BufferState {
    // The last operation of a stream that uses the buffer.
    struct Use {
        std::weak_ptr<Stream> stream;
        std::shared_ptr<StreamProgress> progress;  // also when the stream itself is already gone
        const Stream* id;
        u64 ticket;
    };
    void note_use(Stream& stream, const std::shared_ptr<StreamProgress>& progress, u64 ticket);

    std::weak_ptr<Buffer> self;  // while it is allocated to a user
    bool is_adopted = false;
    std::mutex mutex;
    std::vector<Use> uses;
};

}  // namespace concord::detail
