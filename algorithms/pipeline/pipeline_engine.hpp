#pragma once
// What the pipelines of all algorithms share: segments, slots, streams.

#include <concord/pipeline.hpp>

#include <chrono>
#include <deque>

namespace concord::detail {

/// A segment as its algorithm sees it.
struct PipelineSegment {
    u64 index, first, count;  ///< elements [first, first + count)
    u32 device;               ///< its place among the pipeline's
    u32 slot;  ///< of all devices' depths: what a slot has of its own is free again when its next segment begins
    std::span<const View> in;
    View out;   ///< as many elements; none if the task has no `out`
    bool only;  ///< there is no other
};

/// What an algorithm makes of segments. Streams are those of the segment's device.
struct PipelineTask {
    std::string_view name;
    std::vector<const PipelineSource*> in;  ///< of one count
    PipelineSink* out =
        nullptr;     ///< for an element or less of each of the input; null: results are collected otherwise
    u64 grain = 1;   ///< segments but the last are multiples of it
    u64 memory = 0;  ///< bytes that it takes on each device besides the slots
    /// Whether every element of the input has one of `out`, in the same place.
    bool one_to_one = true;
    /// Enqueues the kernels of a segment. Called in order.
    std::function<Enqueued(Stream&, const PipelineSegment&)> begin = {};
    /// If there is more to enqueue once that is done, or the number of results to be known: called then, in order, while
    /// the next segment is under way. Returns that number.
    std::function<u64(Stream&, const PipelineSegment&)> complete = {};
};

/// How segments are cut.
struct PipelinePlan {
    u64 segment = 0;  ///< elements
    u32 depth = 1;
};

/// Throws invalid_argument if the limit is too small. slot_bytes: what a slot takes for an element; all_bytes: what an
/// element has of input and output; devices: how many share memory and segments; host_copies: whether the host copies any of
/// it between the caller's memory and slots.
PipelinePlan plan_pipeline(Device& device, const PipelineTask& task, const PipelineOptions& options,
                           u64 slot_bytes, u64 all_bytes, u64 devices, bool host_copies);

/// Two marks of a stream and the time between them.
struct PipelineStage {
    std::shared_ptr<Event> from, to;
    bool used = false;

    void start(Stream& stream);
    void end(Stream& stream) { stream.record(*to); }
    /// Adds the time, and forgets it. Returns it.
    double take(double& milliseconds);
};

/// Where a segment lies while it is under way.
struct PipelineSlot {
    u32 number = 0;
    u64 index = 0, first = 0, count = 0;
    bool busy = false, is_complete = false, only = false;
    u64 results = 0;
    std::vector<std::shared_ptr<Buffer>> in,
        in_host;  // null where an input stays where it lies; pinned, or null
    std::shared_ptr<Buffer> out, out_host;
    std::vector<View> views;
    View out_view;
    PipelineStage upload, first_kernels, last_kernels, download;

    /// Whose end is the segment's.
    const PipelineStage& last() const {
        return download.used ? download : last_kernels.used ? last_kernels : first_kernels;
    }
};

/// A place in page-locked memory; none if there is no buffer.
struct PageLocked {
    std::shared_ptr<Buffer> buffer;
    u64 offset = 0;  ///< bytes
};

/// One device's part of a pipeline: its streams, its slots, and the stages that a segment goes through.
class PipelineLine {
  public:
    PipelineLine(Device& device, u32 number, const PipelineOptions& options);
    PipelineLine(const PipelineLine&) = delete;
    PipelineLine& operator=(const PipelineLine&) = delete;

    Device& device() { return device_; }
    u32 number() const { return number_; }
    Stream& kernels() { return *kernels_; }
    /// The longest segment, and how many are under way at once.
    const PipelinePlan& plan() const { return plan_; }
    PipelineSlot& slot(u64 i) { return *slots_[i % slots_.size()]; }
    /// One that is not busy, or null.
    PipelineSlot* free_slot() const;
    u32 busy_slots() const;

    /// devices: how many share the work; slots are numbered from `first` on.
    void make_slots(const PipelineTask& task, u64 devices, u32 first);
    /// The stages, in this order; complete() only if the task has one. What they throw of their own accord is the device's.
    void take(PipelineSlot& slot, u64 index, u64 first, u64 count, u64 all);
    void read(const PipelineTask& task, PipelineSlot& slot, PipelineTimes& times);
    void upload(const PipelineTask& task, PipelineSlot& slot);
    void begin(const PipelineTask& task, PipelineSlot& slot);
    void complete(const PipelineTask& task, PipelineSlot& slot);
    /// Waits for the segment.
    void wait(PipelineSlot& slot, PipelineTimes& times);
    /// Whether results are written by the device, where they are to lie.
    bool has_out_memory() const { return out_memory_ != nullptr || out_locked_.buffer != nullptr; }
    static void* results_of(PipelineSlot& slot);
    /// Throws what failed on the device.
    void synchronize();

    const PipelineShare& share() const { return share_; }
    double compile_milliseconds() const { return begun_.compile() + completed_.compile(); }
    /// Elements a second by the last segments, and of those under way; 0: not known yet.
    double rate() const { return rate_; }
    u64 under_way() const { return under_way_; }

  private:
    using Clock = std::chrono::steady_clock;
    // What launching takes the host.
    struct Launches {
        double first = 0, least = 0;  // of the first segment, of the others
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
    std::vector<std::shared_ptr<Buffer>> in_memory_;  // inputs where they lie; null: read
    std::shared_ptr<Buffer> out_memory_;
    std::vector<PageLocked> in_locked_;  // inputs that are uploaded from where they lie
    PageLocked out_locked_;              // results that are downloaded to where they are to lie
    std::vector<std::unique_ptr<PipelineSlot>> slots_;
    // Last, so that they are gone, and their work is done, before what it uses. Uploads and downloads: null where the device
    // works in the host's memory.
    std::shared_ptr<Stream> uploads_, kernels_, downloads_;
};

/// Runs one task. The devices' streams of kernels serve for what comes before and after the segments, too.
class Pipeline {
  public:
    Pipeline(std::string_view name, const PipelineDevices& devices, const PipelineOptions& options);
    ~Pipeline();

    u32 devices() const { return static_cast<u32>(lines_.size()); }
    Device& device(u32 i = 0) { return lines_[i]->device(); }
    Stream& kernels(u32 i = 0) { return lines_[i]->kernels(); }
    PipelineRun run(const PipelineTask& task);

    /// Calls f; with several devices errors of it name the device.
    template <class F>
    decltype(auto) on(u32 i, F&& f) {
        if (lines_.size() == 1) return f();
        try {
            return f();
        } catch (const Error& error) {
            name_device(i, error);
        }
    }

  private:
    // A segment that is under way with several devices.
    struct Flight {
        PipelineLine* line;
        PipelineSlot* slot;
    };

    void check(const PipelineTask& task) const;
    bool in_order(const PipelineTask& task) const;
    void finish(const PipelineTask& task, PipelineLine& line, PipelineSlot& slot);
    void run_alone(const PipelineTask& task);

    // With several devices, in pipeline_shared.cpp.
    void run_shared(const PipelineTask& task);
    bool hand_out(const PipelineTask& task);
    bool complete_next(const PipelineTask& task);
    bool finish_next(const PipelineTask& task);
    void wait_for_any(const PipelineTask& task);
    u64 length_for(const PipelineTask& task, const PipelineLine& line) const;
    [[noreturn]] void name_device(u32 i, const Error& error) const;

    std::string name_;
    const PipelineOptions& options_;
    PipelineRun result_;
    u64 all_ = 0, taken_ = 0, done_ = 0;  // elements
    u64 handed_out_ = 0;                  // segments
    u64 completed_ = 0;                   // flights that are complete, from the first on
    std::deque<Flight> flights_;          // in order
    std::vector<std::unique_ptr<PipelineLine>> lines_;
};

}  // namespace concord::detail
