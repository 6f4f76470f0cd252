#pragma once
// What the pipelines of all algorithms share: segments, slots and streams.

#include <concord/pipeline.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>

namespace concord::detail {

// A segment, as passed to the algorithm's task.
struct PipelineSegment {
    u64 index, first, count;  // elements [first, first + count)
    u32 device;               // index of its device in the pipeline
    u32 slot;                 // index of its slot among those of all devices; reused by a later segment
    std::span<const View> in;
    View out;   // `count` elements; none if the task has no `out`
    bool only;  // the only segment
};

// How an algorithm processes segments. The functions receive a stream of the segment's device.
struct PipelineTask {
    std::string_view name;
    std::vector<const PipelineSource*> in;  // all of one count
    // For at most one element per input element. Null: the algorithm collects the results itself.
    PipelineSink* out = nullptr;
    u64 grain = 1;   // segments, except the last one, are multiples of it
    u64 memory = 0;  // bytes of device memory that the task needs in addition to slots
    // Whether every input element has an element of `out` at the same index.
    bool one_to_one = true;
    // Enqueues the kernels of a segment. Called in the order of segments.
    std::function<Enqueued(Stream&, const PipelineSegment&)> begin = {};
    // Enqueues more work after the first kernels are done, and returns the number of results. Optional. Called in the
    // order of segments, while the next segment is in flight.
    std::function<u64(Stream&, const PipelineSegment&)> complete = {};
};

// Length and number of segments.
struct PipelinePlan {
    u64 segment = 0;  // elements
    u32 depth = 1;    // segments in flight
};

// What a plan depends on in addition to the device, the task and the options.
struct PipelineLoad {
    u64 slot_bytes = 0;        // bytes of a slot per element
    u64 all_bytes = 0;         // bytes of input and output per element
    u64 devices = 1;           // devices that share memory limit and segments
    bool host_copies = false;  // whether the host copies data between the caller's memory and slots
};

// What an error about the memory limit names as its call. Callers with an option of their own recognise it.
inline constexpr std::string_view memory_option = "PipelineOptions::memory";

// Plans segments for one device. Throws invalid_argument if the memory limit is too small.
PipelinePlan plan_pipeline(Device& device, const PipelineTask& task, const PipelineOptions& options,
                           const PipelineLoad& load);

// Two events of a stream and the time between them.
struct PipelineStage {
    std::shared_ptr<Event> from, to;
    bool used = false;

    void start(Stream& stream);
    void end(Stream& stream) { stream.record(*to); }
    // Adds the time to `milliseconds`, resets the stage, and returns the time.
    double take(double& milliseconds);
};

// Buffers and state of a segment in flight.
struct PipelineSlot {
    u32 number = 0;
    u64 index = 0, first = 0, count = 0;
    bool busy = false, is_complete = false, only = false;
    u64 results = 0;
    std::vector<std::shared_ptr<Buffer>> in;       // null for an input that the device accesses in place
    std::vector<std::shared_ptr<Buffer>> in_host;  // pinned; null for an input without a copy by the host
    std::shared_ptr<Buffer> out, out_host;         // the same for the output
    std::vector<View> views;
    View out_view;
    PipelineStage upload, first_kernels, last_kernels, download;

    // The stage with which the segment ends.
    const PipelineStage& last() const {
        return download.used ? download : last_kernels.used ? last_kernels : first_kernels;
    }
};

// An address in page-locked memory; none without a buffer.
struct PageLocked {
    std::shared_ptr<Buffer> buffer;
    u64 offset = 0;  // bytes
};

// One device's part of a pipeline: its streams, its slots, and the stages of a segment.
class DevicePipeline {
  public:
    DevicePipeline(Device& device, u32 number, const PipelineOptions& options);
    DevicePipeline(const DevicePipeline&) = delete;
    DevicePipeline& operator=(const DevicePipeline&) = delete;

    Device& device() { return device_; }
    u32 number() const { return number_; }
    Stream& kernels() { return *kernels_; }
    // The longest segment, and the number of segments in flight.
    const PipelinePlan& plan() const { return plan_; }
    PipelineSlot& slot(u64 i) { return *slots_[i % slots_.size()]; }
    // Returns a slot that is not busy, or null.
    PipelineSlot* free_slot() const;
    u32 busy_slots() const;

    // devices: number of devices that share the work; first: number of the first slot.
    void make_slots(const PipelineTask& task, u64 devices, u32 first);
    // The stages, in this order. complete() is called only if the task has one. Errors that they throw are of this
    // device.
    void take(PipelineSlot& slot, u64 index, u64 first, u64 count, u64 all);
    void read(const PipelineTask& task, PipelineSlot& slot, PipelineTimes& times);
    void upload(const PipelineTask& task, PipelineSlot& slot);
    void begin(const PipelineTask& task, PipelineSlot& slot);
    void complete(const PipelineTask& task, PipelineSlot& slot);
    // Waits for the segment.
    void wait(PipelineSlot& slot, PipelineTimes& times);
    // Whether the device stores results directly in the sink's memory.
    bool has_out_memory() const { return out_memory_ != nullptr || out_locked_.buffer != nullptr; }
    static void* results_of(PipelineSlot& slot);
    // Waits for all streams. Throws errors of the device.
    void synchronize();

    const PipelineShare& share() const { return share_; }
    double compile_milliseconds() const { return begun_.compile() + completed_.compile(); }
    // Elements per second of the last segments (0: unknown), and elements of the segments in flight.
    double rate() const { return rate_; }
    u64 under_way() const { return under_way_; }

  private:
    using Clock = std::chrono::steady_clock;
    // Host time of launches.
    struct Launches {
        double first = 0, least = 0;  // of the first segment; minimum of the others
        u64 count = 0;
        void add(double milliseconds) {
            if (count == 0) {
                first = milliseconds;
            } else {
                least = count == 1 ? milliseconds : std::min(least, milliseconds);
            }
            ++count;
        }
        double compile() const { return count < 2 ? 0 : std::max(0.0, first - least); }
    };

    void download(const PipelineTask& task, PipelineSlot& slot);
    PipelineSegment segment_of(const PipelineSlot& slot) const;

    Device& device_;
    u32 number_;
    const PipelineOptions& options_;
    PipelinePlan plan_;
    PipelineShare share_;
    double rate_ = 0;
    u64 under_way_ = 0, done_ = 0;  // elements, segments
    Launches begun_, completed_;
    std::vector<std::shared_ptr<Buffer>> in_memory_;  // inputs that the device accesses in place; null: read
    std::shared_ptr<Buffer> out_memory_;
    std::vector<PageLocked> in_locked_;  // inputs that the device uploads without a copy by the host
    PageLocked out_locked_;              // output that the device downloads without a copy by the host
    std::vector<std::unique_ptr<PipelineSlot>> slots_;
    // Last, so that their work ends before its buffers are freed. Uploads and downloads are null if the device works
    // in host memory.
    std::shared_ptr<Stream> uploads_, kernels_, downloads_;
};

// Runs one task. Tasks also use the devices' kernel streams before and after the segments.
class Pipeline {
  public:
    Pipeline(std::string_view name, const PipelineDevices& devices, const PipelineOptions& options);
    ~Pipeline();

    u32 devices() const { return static_cast<u32>(parts_.size()); }
    Device& device(u32 i = 0) { return parts_[i]->device(); }
    Stream& kernels(u32 i = 0) { return parts_[i]->kernels(); }
    PipelineRun run(const PipelineTask& task);

    // Calls f. With several devices, its errors name the device.
    template <class F>
    decltype(auto) on(u32 i, F&& f) {
        if (parts_.size() == 1) return f();
        try {
            return f();
        } catch (const Error& error) {
            name_device(i, error);
        }
    }

  private:
    // A segment in flight, with several devices.
    struct Flight {
        DevicePipeline* part;
        PipelineSlot* slot;
    };

    void check(const PipelineTask& task) const;
    bool in_order(const PipelineTask& task) const;
    void finish(const PipelineTask& task, DevicePipeline& part, PipelineSlot& slot);
    void run_alone(const PipelineTask& task);

    // With several devices, in pipeline_shared.cpp.
    void run_shared(const PipelineTask& task);
    bool hand_out(const PipelineTask& task);
    bool complete_next(const PipelineTask& task);
    bool finish_next(const PipelineTask& task);
    void wait_for_any(const PipelineTask& task);
    u64 length_for(const PipelineTask& task, const DevicePipeline& part) const;
    [[noreturn]] void name_device(u32 i, const Error& error) const;

    std::string name_;
    const PipelineOptions& options_;
    PipelineRun result_;
    u64 all_ = 0, taken_ = 0, done_ = 0;  // elements
    u64 handed_out_ = 0;                  // segments
    u64 completed_ = 0;                   // number of leading flights that are complete
    std::deque<Flight> flights_;          // in the order of segments
    std::vector<std::unique_ptr<DevicePipeline>> parts_;
};

}  // namespace concord::detail
