#pragma once
// What the pipelines of all algorithms share: segments, slots, streams.

#include <concord/pipeline.hpp>

#include <chrono>

namespace concord::detail {

/// A segment as its algorithm sees it.
struct PipelineSegment {
    u64 index, first, count;  ///< elements [first, first + count)
    u32 slot;  ///< below the depth: what a slot has of its own is free again when its next segment begins
    std::span<const View> in;
    View out;   ///< as many elements; none if the task has no `out`
    bool only;  ///< there is no other
};

/// What an algorithm makes of segments.
struct PipelineTask {
    std::string_view name;
    std::vector<const Source*> in;  ///< of one count
    Sink* out =
        nullptr;     ///< for an element or less of each of the input; null: results are collected otherwise
    u64 grain = 1;   ///< segments but the last are multiples of it
    u64 memory = 0;  ///< bytes that it takes besides the slots
    /// Whether every element of the input has one of `out`, in the same place.
    bool one_to_one = true;
    /// Enqueues the kernels of a segment.
    std::function<Run(Stream&, const PipelineSegment&)> begin = {};
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
/// element has of input and output; longest: elements that a slot may hold.
PipelinePlan plan_pipeline(Device& device, const PipelineTask& task, const PipelineOptions& options,
                           u64 slot_bytes, u64 all_bytes);

/// Runs one task. Its stream of kernels serves for what comes before and after the segments, too.
class Pipeline {
  public:
    Pipeline(Device& device, const PipelineOptions& options);
    ~Pipeline();

    Device& device() { return device_; }
    Stream& kernels() { return *kernels_; }
    PipelineRun run(const PipelineTask& task);

  private:
    using Clock = std::chrono::steady_clock;
    struct Slot;
    // What launching takes the host.
    struct Launches {
        double first = 0, least = 0;  // of the first segment, of the others
        u64 others = 0;
        void add(u64 segment, double milliseconds) {
            if (segment == 0) {
                first = milliseconds;
            } else {
                least = others++ == 0 ? milliseconds : std::min(least, milliseconds);
            }
        }
        double compile() const { return others == 0 ? 0 : std::max(0.0, first - least); }
    };

    void check(const PipelineTask& task) const;
    void make_slots(const PipelineTask& task);
    void fill(const PipelineTask& task, Slot& slot);
    void begin(const PipelineTask& task, Slot& slot);
    void complete(const PipelineTask& task, Slot& slot);
    void download(const PipelineTask& task, Slot& slot);
    void finish(const PipelineTask& task, Slot& slot);
    PipelineSegment segment_of(const Slot& slot) const;

    Device& device_;
    const PipelineOptions& options_;
    PipelineRun result_;
    u64 all_ = 0;  // elements
    Launches begun_, completed_;
    std::vector<std::shared_ptr<Buffer>> in_memory_;  // inputs where they lie; null: read
    std::shared_ptr<Buffer> out_memory_;
    std::vector<std::unique_ptr<Slot>> slots_;
    // Last, so that they are gone, and their work is done, before what it uses. Uploads and downloads: null where the device
    // works in the host's memory.
    std::shared_ptr<Stream> uploads_, kernels_, downloads_;
};

}  // namespace concord::detail
