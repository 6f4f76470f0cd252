#pragma once
/// An in-order, asynchronous queue of work on one device.

#include <concord/buffer.hpp>
#include <concord/kernel.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace concord {

class Device;
class Event;
class Recording;
namespace detail {
struct Operation;
class StreamTrace;
}  // namespace detail

/// A grid of groups of work-items.
struct LaunchShape {
    u64 groups_x = 1, groups_y = 1, groups_z = 1;
    u32 group_size_x = 1, group_size_y = 1, group_size_z = 1;
    u64 local_bytes = 0;  ///< dynamic group-local memory, on top of what the kernel declares

    static LaunchShape linear(u64 groups, u32 group_size, u64 local_bytes = 0) {
        return {.groups_x = groups, .group_size_x = group_size, .local_bytes = local_bytes};
    }
};

/// One argument of a launch, in the order of the kernel's parameters.
///
/// Types are compared where that of the argument and that of the parameter are known: a value has the parameter's
/// type, sign included; a buffer's elements have the type of the parameter's, or the parameter's are unsigned
/// integers of the same size, as kernels declare that move elements and do not look at them. The types of
/// parameters are known of host kernels (but for structs, void* and std::byte*) and in OpenCL where the driver
/// tells them; of CUDA kernels the sizes are.
struct KernelArgument {
    Buffer* buffer = nullptr;     ///< null: a value
    u64 offset = 0;               ///< of a buffer: bytes from its base
    u32 element_size = 1;         ///< of a buffer: bytes; offset is a multiple of it
    const void* value = nullptr;  ///< of a value: its bytes, read before launch() returns
    u32 size = 0;
    std::optional<Type> type = {};  ///< of the value or of the buffer's elements; none: not compared
};

/// Every call enqueues and returns, but for synchronize(), and for transfers of pageable host memory: where
/// the device does not share the host's memory these may keep the caller until the stream has got there, so
/// for overlap use copy() with a host buffer. Calls from several threads are taken one at a time. A failure
/// that shows only later, on the device or in a callback, is thrown by the next synchronize(). All offsets
/// and sizes are bytes; ranges are checked (invalid_argument), as is that all objects are of this stream's
/// device (wrong_device). Host memory given to write() and read() stays untouched by the caller until the
/// stream has passed that point. Destroying a stream waits for its work.
class Stream : public std::enable_shared_from_this<Stream> {
  public:
    virtual ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    Device& device() const noexcept { return *device_; }
    /// The queue as the backend's own API knows it, for use beside other libraries: CUstream (cudaStream_t)
    /// of the device's primary context, cl_command_queue; null where there is none. Work that others put into
    /// it is ordered with the stream's, but callers see to it that buffers live until it is done.
    virtual void* native_handle() noexcept { return nullptr; }

    /// Host to device.
    void write(Buffer& to, u64 offset, const void* from, u64 bytes);
    /// Device to host.
    void read(void* to, const Buffer& from, u64 offset, u64 bytes);
    /// Between buffers; either may be a pinned host buffer, or of a device within reach (peer.hpp). No overlap.
    void copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes);
    /// Repeats a pattern of 1, 2, 4 or 8 bytes; offset and bytes are multiples of its size.
    void fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    /// Runs a kernel over a grid; a grid without groups is no work. See also the typed launch() in span.hpp.
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const KernelArgument> arguments);
    /// Moves the event's mark to here.
    void record(Event& event);
    /// Work enqueued from here on starts after the event's mark, which may be on another stream of this
    /// device, or of one within reach (peer.hpp).
    void wait(const Event& event);
    /// Calls f on a thread of Concord's choice once the stream gets here; later work waits for it. f calls no
    /// stream, waits for no other callback (a device may run them all on one thread), and does not own the
    /// last reference to a stream.
    void callback(std::function<void()> f);
    /// Calls f, on the caller's thread and in order, for each launch from here on, before it is enqueued; f
    /// calls no stream. For tools that ask which kernels a call launches. An empty f ends it.
    void observe(std::function<void(const Kernel&, const LaunchShape&)> f);
    /// What is asked for from here on is not done but kept, until end_recording() gives it to be done again and
    /// again: launches, fills and copies between buffers (page-locked host buffers too); for all else the calls throw
    /// unsupported. Buffers and kernels live as long as the recording that uses them; scratch is the recording's own.
    /// Throws invalid_argument if the stream records already.
    void begin_recording();
    /// Ends what begin_recording() began; a recording of nothing is one. Throws invalid_argument if none was begun,
    /// and what the backend has against a launch, if it looks at launches now (else replay() does).
    std::shared_ptr<Recording> end_recording();
    /// Whether the stream is between begin_recording() and end_recording().
    bool is_recording() const noexcept { return is_recording_; }
    /// Blocks until the stream is empty; throws what failed since the last time.
    void synchronize();
    /// Whether the stream is empty now.
    bool idle();

    /// Memory whose first use is on this stream: may be what this stream released a moment ago. Same as
    /// device().allocate(bytes, this).
    std::shared_ptr<Buffer> scratch(u64 bytes);

    /// 256 bytes of zeros that belong to this stream: counters for "the last group finishes". A kernel that
    /// uses them leaves them zero.
    Buffer& zeros();

    /// Memory of this stream, `bytes` at least, that keeps what kernels leave in it from one call to the next. All zero when
    /// it is new, when it has had to grow, and after every 2^29 calls, so that what is marked with a count of its
    /// uses is never mistaken for what is older. Hold it until the work that uses it is enqueued.
    std::shared_ptr<Buffer> workspace(u64 bytes);

  protected:
    explicit Stream(std::shared_ptr<Device> device);

    // What a backend implements. Arguments are valid, on this device and not empty; one call at a time.
    virtual void do_write(Buffer& to, u64 offset, const void* from, u64 bytes) = 0;
    virtual void do_read(void* to, const Buffer& from, u64 offset, u64 bytes) = 0;
    virtual void do_copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) = 0;
    virtual void do_fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) = 0;
    virtual void do_launch(const Kernel& kernel, const LaunchShape& shape,
                           std::span<const KernelArgument> arguments) = 0;
    virtual void do_record(Event& event) = 0;
    virtual void do_wait(const Event& event) = 0;
    virtual void do_callback(std::function<void()> f) = 0;
    /// Called without the stream's lock, so that other threads may go on enqueueing.
    virtual void do_synchronize() = 0;
    virtual bool do_idle() = 0;
    /// Calls f, which enqueues one operation, and places the marks so that from `begin` to `end` is the time that the
    /// device spent on it. Default: records one before and one after it.
    virtual void do_time(Event& begin, Event& end, const std::function<void()>& f);
    /// From here to do_end_capture() do_launch(), do_fill(), do_copy(), do_write() and do_read() add to something that
    /// do_replay() enqueues in one go. Default: false, there is no such thing, and operations are enqueued one by one.
    virtual bool do_begin_capture() { return false; }
    /// What was added since do_begin_capture(); null if the backend cannot replay it after all. Does not throw where
    /// an operation has failed in between.
    virtual std::shared_ptr<void> do_end_capture() { return nullptr; }
    /// Enqueues what do_end_capture() of a stream of this device has returned.
    virtual void do_replay(void* /*captured*/) {}

  private:
    friend class BufferPool;
    friend class Buffer;
    friend class Recording;
    /// Whether all work up to a ticket is done; asks the device if it is not known to be.
    bool reached(u64 ticket);
    /// Waits until reached(); errors stay for synchronize() to throw.
    void drain(u64 ticket) noexcept;
    void note_use(const Buffer& buffer);
    void check_device(const char* call, const char* what, const Device& other) const;
    void check_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes) const;
    static void check_on_device(const char* call, const Buffer& buffer);
    template <class F>
    void enqueue(F&& f);
    /// Runs f, which enqueues that operation, and has it traced if something listens.
    template <class F>
    void perform(const detail::Operation& operation, F&& f);
    void perform_traced(const detail::Operation& operation, const std::function<void()>& f);
    /// Throws unsupported if the stream is recording.
    void check_not_recording(const char* call) const;
    void copy_now(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes);
    void fill_now(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    void launch_now(const Kernel& kernel, const LaunchShape& shape,
                    std::span<const KernelArgument> arguments);
    void replay(Recording& recording);
    void replay_one_by_one(Recording& recording);

    std::shared_ptr<Device> device_;
    std::mutex mutex_;                // one call at a time
    std::atomic<u64> submitted_ = 0;  // tickets given out: one an operation, counted once it is in the queue
    std::atomic<u64> completed_ = 0;
    std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<Buffer> zeros_;
    std::shared_ptr<Buffer> workspace_;
    u64 workspace_uses_ = 0;
    std::function<void(const Kernel&, const LaunchShape&)> observer_;
    std::atomic<bool> is_recording_ = false;
    std::shared_ptr<Recording> recording_;  // in the making; null but for is_recording_
    std::shared_ptr<detail::StreamTrace> trace_;
};

}  // namespace concord
