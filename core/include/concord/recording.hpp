#pragma once
/// @file
/// Work that is recorded once and replayed many times.

#include <concord/stream.hpp>

#include <memory>

namespace concord {

namespace detail {
struct RecordingContents;
}

/// The operations that a stream received between Stream::begin_recording() and end_recording(): launches with their
/// arguments, fills, and copies between buffers.
///
/// A recording keeps its buffers and kernels, so that their addresses stay valid. On CUDA a replay launches one graph.
/// On other backends, and while a Trace is active, a replay enqueues the operations one by one. Both skip the planning
/// that algorithms do at every call.
///
///     stream->begin_recording();
///     reduce(*stream, x, sum);
///     const auto recording = stream->end_recording();
///     for (int i = 0; i < 1000; ++i) recording->replay(*stream);
class Recording {
  public:
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// The device whose streams can replay the recording.
    Device& device() const noexcept;
    /// The number of operations.
    u64 size() const noexcept;
    /// Enqueues all operations on a stream of the device. Asynchronous. Replays on different streams execute one after
    /// another, because they share scratch memory. Throws wrong_device, and unsupported if the stream is recording.
    void replay(Stream& stream);

  private:
    friend struct detail::Access;
    explicit Recording(std::shared_ptr<Device> device);

    std::unique_ptr<detail::RecordingContents> contents_;
};

}  // namespace concord
