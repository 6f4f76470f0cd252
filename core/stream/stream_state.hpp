#pragma once
// State of a stream: the backend's queue, tickets, the recording in progress, and listeners.

#include "device/access.hpp"
#include "memory/buffer_state.hpp"
#include "stream/index_reports.hpp"
#include "stream/interruption.hpp"
#include "stream/operation.hpp"
#include "stream/stream_progress.hpp"
#include "system/forked.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace concord::detail {

struct StreamState {
    StreamState(Stream& stream, std::unique_ptr<backend::Queue> queue);
    ~StreamState();

    // Execute valid operations that are not recorded. The caller holds the lock. They are traced if there is a
    // listener.
    void copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes);
    void fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const KernelArgument> arguments);
    void record(Event& event);

    // Calls f, which notes uses and enqueues one operation, with the lock held. Counts the ticket after the operation
    // is in the queue. Otherwise reached() could find an idle device and report an operation as done that has not
    // started.
    template <class F>
    void enqueue(F&& f) {
        poll_interruption();
        const std::lock_guard lock(mutex);
        struct Count {
            std::atomic<u64>& submitted;
            ~Count() { ++submitted; }  // also if f throws, because part of the work may be in the queue
        } count{submitted};
        is_captured = queue->captured();
        f();
    }
    // Calls f, which calls the queue for the operation, and traces it if there is a listener.
    template <class F>
    void perform(const Operation& operation, F&& f) {
        if (listeners.load(std::memory_order_relaxed) != 0) [[unlikely]]
            return perform_traced(operation, f);
        f();
    }
    void perform_traced(const Operation& operation, const std::function<void()>& f);
    // Notes that the current operation uses the buffer.
    void note_use(const Buffer& buffer) {
        Access::state(buffer).note_use(stream, progress, submitted + 1);
        if (is_captured) [[unlikely]]
            keep(Access::state(buffer).self.lock());
    }
    // Keeps an object until the stream is destroyed, because a graph that the owner of the queue captures uses it. The
    // caller holds the lock.
    void keep(const std::shared_ptr<const void>& object) {
        if (object != nullptr) kept.try_emplace(object.get(), object);
    }
    // Enqueues a recording.
    void replay(Recording& recording);
    void replay_one_by_one(const RecordingContents& contents);
    // The contents of the recording in progress, null if the stream is not recording. The caller holds the lock.
    RecordingContents* recorded() const { return recording ? &Access::contents(*recording) : nullptr; }

    // Words for reports of indices, of the stream or of its recording in progress. Makes them at the first call.
    std::shared_ptr<IndexReports> made_index_reports();
    // The argument for a word of a launch. The caller holds the lock.
    KernelArgument index_word(const std::shared_ptr<IndexReports>& from, const IndexCheck& check);
    // Notes that kernels in the queue may report in these words. The caller holds the lock.
    void add_unread(const std::shared_ptr<IndexReports>& words);
    // Another stream reads the words of a recording from now on. The caller holds the lock.
    void forget(const std::shared_ptr<IndexReports>& words) { std::erase(unread, words); }
    // Enqueues copies of the words that were not read since kernels may have reported in them. Returns the number of
    // the last copy.
    u64 read_reports();
    // The copies up to a number.
    std::vector<std::unique_ptr<IndexReading>> take_readings(u64 last);

    // Whether all work up to a ticket is done. Asks the device if necessary.
    bool reached(u64 ticket);
    // Waits until reached(), also while other threads keep the queue busy. synchronize() throws errors later.
    void drain(u64 ticket) noexcept;
    // The callback as the queue runs it. It may release buffers: all work before it is done. The caller holds the lock.
    std::function<void()> watched(Task f) const;
    void synchronize();

    // Validation. Inline, because a launch checks each of its buffers.
    static void check_host_pointer(const char* call, const void* pointer) {
        if (pointer == nullptr) [[unlikely]]
            refuse_null(call);
    }
    void check_device(const char* call, const char* what, const Device& other) const {
        if (&other != &device) [[unlikely]]
            refuse_device(call, what, other);
    }
    static void check_room(const char* call, const Buffer& buffer, u64 offset, u64 bytes) {
        if (offset > buffer.size() || bytes > buffer.size() - offset) [[unlikely]]
            refuse_range(call, buffer, offset, bytes);
    }
    void check_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes) const {
        check_device(call, "buffer", buffer.device());
        check_room(call, buffer, offset, bytes);
    }
    // Throws unsupported if the stream is recording.
    void check_not_recording(const char* call) const;
    [[noreturn]] static void refuse_null(const char* call);
    [[noreturn]] void refuse_device(const char* call, const char* what, const Device& other) const;
    [[noreturn]] static void refuse_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes);

    Stream& stream;
    Device& device;
    std::unique_ptr<backend::Queue> queue;
    std::mutex mutex;                // one call at a time
    std::atomic<u64> submitted = 0;  // tickets, one per operation in the queue
    std::shared_ptr<StreamProgress> progress = std::make_shared<StreamProgress>();
    std::shared_ptr<Buffer> zeros;
    std::shared_ptr<Buffer> workspace;
    u64 workspace_uses = 0;
    bool is_captured = false;  // Queue::captured() at the start of the current operation
    std::map<const void*, std::shared_ptr<const void>> kept;
    std::function<void(const Kernel&, const LaunchShape&)> observer;
    std::atomic<bool> is_recording = false;
    std::shared_ptr<Recording> recording;  // in progress; null unless is_recording
    std::shared_ptr<StreamTrace> trace;
    std::shared_ptr<IndexReports> reports;                // null before the first call with indices
    std::vector<std::shared_ptr<IndexReports>> unread;    // in which kernels in the queue may report
    std::vector<std::unique_ptr<IndexReading>> readings;  // in the queue, by number
    u64 last_reading = 0;
    std::atomic<bool> has_reports = false;  // in `unread` or `readings`

  private:
    // Of the stream or of its recording in progress. The caller holds the lock.
    std::shared_ptr<IndexReports>& index_reports();
    void clear(IndexReports& words);
    // Waits for the queue and returns the words.
    std::vector<std::unique_ptr<IndexReading>> synchronize_with_reports();
};

}  // namespace concord::detail
