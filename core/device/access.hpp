#pragma once
// Access to the private parts of the public classes, for core's sources.

#include <concord/backend/device.hpp>
#include <concord/recording.hpp>

namespace concord::detail {

struct Access {
    static backend::Device& device(const Device& device) noexcept;
    static const backend::Kernel& kernel(const Kernel& kernel) noexcept { return *kernel.kernel_; }
    static backend::Event& event(Event& event) noexcept { return *event.event_; }
    static const backend::Event& event(const Event& event) noexcept { return *event.event_; }

    static StreamState& state(Stream& stream) noexcept { return *stream.state_; }
    static BufferState& state(const Buffer& buffer) noexcept { return *buffer.state_; }
    static RecordingContents& contents(Recording& recording) noexcept { return *recording.contents_; }

    static bool is_recorded(const Event& event) noexcept { return event.recorded_; }
    static void set_recorded(Event& event) noexcept { event.recorded_ = true; }
    static void set_size(Buffer& buffer, u64 bytes) noexcept { buffer.size_ = bytes; }
    static void set_read_only(Buffer& buffer) noexcept { buffer.read_only_ = true; }

    // Creates an object of a public class with a private constructor.
    template <class T, class... Arguments>
    static std::unique_ptr<T> make(Arguments&&... arguments) {
        return std::unique_ptr<T>(new T(std::forward<Arguments>(arguments)...));
    }
};

}  // namespace concord::detail
