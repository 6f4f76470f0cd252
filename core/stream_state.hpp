#pragma once
// What core keeps about a stream: the backend's queue, tickets, the recording in progress, and who listens.

#include "access.hpp"
#include "buffer_state.hpp"
#include "operation.hpp"

#include <atomic>
#include <mutex>

namespace concord::detail {

struct StreamState {
    StreamState(Stream& stream, std::unique_ptr<backend::Queue> queue);
    ~StreamState();

    // Operations that are valid and not recorded, with the lock held. They are traced if something listens.
    void copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes);
    void fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const KernelArgument> arguments);
    void record(Event& event);

    /// Runs f, which notes uses and enqueues one operation, with the lock held. The ticket counts only once the operation
    /// is in the queue: reached() may otherwise find an idle device and take for done what was not yet begun.
    template <class F>
    void enqueue(F&& f) {
        const std::lock_guard lock(mutex);
        struct Count {
            std::atomic<u64>& submitted;
            ~Count() { ++submitted; }  // also if f throws: part of it may be in the queue
        } count{submitted};
        f();
    }
    /// Runs f, which calls the queue for that operation, and has it traced if something listens.
    template <class F>
    void perform(const Operation& operation, F&& f) {
        if (listeners.load(std::memory_order_relaxed) != 0) [[unlikely]]
            return perform_traced(operation, f);
        f();
    }
    void perform_traced(const Operation& operation, const std::function<void()>& f);
    /// Notes that the operation at hand uses the buffer.
    void note_use(const Buffer& buffer) { Access::state(buffer).note_use(stream, ended, submitted + 1); }
    /// Enqueues a recording.
    void replay(Recording& recording);
    void replay_one_by_one(const RecordingContents& contents);
    /// What the recording in progress holds; null if the stream is not recording. With the lock held.
    RecordingContents* recorded() const { return recording ? &Access::contents(*recording) : nullptr; }

    /// Whether all work up to a ticket is done; asks the device if it is not known to be.
    bool reached(u64 ticket);
    /// Waits until reached(); errors stay for synchronize() to throw.
    void drain(u64 ticket) noexcept;
    void synchronize();

    // Validation; inline, because a launch makes these checks for each of its buffers.
    void check_device(const char* call, const char* what, const Device& other) const {
        if (&other != &device) [[unlikely]]
            refuse_device(call, what, other);
    }
    static void check_room(const char* call, const Buffer& buffer, u64 offset, u64 bytes) {
        if (offset > buffer.size() || bytes > buffer.size() - offset) [[unlikely]]
            refuse_range(call, buffer, offset, bytes);
    }
    void check_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes) const {
        check_device(call, "the buffer", buffer.device());
        check_room(call, buffer, offset, bytes);
    }
    /// Throws unsupported if the stream is recording.
    void check_not_recording(const char* call) const;
    [[noreturn]] void refuse_device(const char* call, const char* what, const Device& other) const;
    [[noreturn]] static void refuse_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes);

    Stream& stream;
    Device& device;
    std::unique_ptr<backend::Queue> queue;
    std::mutex mutex;                // one call at a time
    std::atomic<u64> submitted = 0;  // tickets given out: one an operation, counted once it is in the queue
    std::atomic<u64> completed = 0;
    std::shared_ptr<std::atomic<bool>> ended = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<Buffer> zeros;
    std::shared_ptr<Buffer> workspace;
    u64 workspace_uses = 0;
    std::function<void(const Kernel&, const LaunchShape&)> observer;
    std::atomic<bool> is_recording = false;
    std::shared_ptr<Recording> recording;  // in progress; null unless is_recording
    std::shared_ptr<StreamTrace> trace;
};

}  // namespace concord::detail
