#pragma once
/// Work recorded once, to be enqueued again and again.

#include <concord/stream.hpp>

#include <memory>

namespace concord {

namespace detail {
struct RecordingContents;
}

/// What a stream was asked for between Stream::begin_recording() and end_recording(): launches with their arguments,
/// fills, copies between buffers. It keeps the buffers and kernels, so that their memory stays where it is. On CUDA
/// replaying is one launch of a graph, elsewhere (and while a Trace is on) the operations are enqueued one by one
/// without what an algorithm does to plan them.
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

    /// The device on whose streams it can be replayed.
    Device& device() const noexcept;
    /// The operations in it.
    u64 size() const noexcept;
    /// Enqueues all of it on a stream of the device. Replays come one after another, whatever their streams: they
    /// share their scratch. Throws wrong_device, and unsupported if the stream is recording.
    void replay(Stream& stream);

  private:
    friend struct detail::Access;
    explicit Recording(std::shared_ptr<Device> device);

    std::unique_ptr<detail::RecordingContents> contents_;
};

}  // namespace concord
