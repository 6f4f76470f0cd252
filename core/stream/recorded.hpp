#pragma once
// The contents of a recording.

#include <concord/backend/queue.hpp>
#include <concord/recording.hpp>

#include <array>
#include <mutex>
#include <variant>
#include <vector>

namespace concord::detail {

class IndexReports;

struct RecordedCopy {
    Buffer* to;
    u64 to_offset;
    Buffer* from;
    u64 from_offset;
    u64 bytes;
};
struct RecordedFill {
    Buffer* to;
    u64 offset;
    u64 bytes;
    std::array<std::byte, 8> pattern;
    u32 pattern_size;
};
struct RecordedLaunch {
    std::shared_ptr<const Kernel> kernel;
    LaunchShape shape;
    std::vector<KernelArgument> arguments;  // values point into `values`
    std::vector<std::byte> values;
};
using RecordedOperation = std::variant<RecordedCopy, RecordedFill, RecordedLaunch>;

struct RecordingContents {
    std::shared_ptr<Device> device;
    std::vector<RecordedOperation> operations;
    std::vector<std::shared_ptr<Buffer>> buffers;  // used by the operations, without duplicates
    std::shared_ptr<Buffer> zeros;
    std::shared_ptr<IndexReports> reports;  // null without indices
    std::shared_ptr<void> captured;  // capture of the backend; null: operations are enqueued one by one

    std::mutex mutex;  // one replay at a time
    std::weak_ptr<Stream> last;
    std::shared_ptr<Event> behind_last;

    // Keeps the buffer alive as long as the recording.
    void keep(Buffer& buffer);
    void add(const Kernel& kernel, const LaunchShape& shape, std::span<const KernelArgument> arguments);
    // Passes an operation to a queue.
    static void enqueue(backend::Queue& queue, const RecordedOperation& operation);
};

}  // namespace concord::detail
