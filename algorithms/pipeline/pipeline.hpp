#pragma once
/// Pipelines: algorithms on data of the host, cut into segments, so that it may be larger than the device's memory, or than
/// the host's: while one segment is computed, the next is read and uploaded, and the last is downloaded and written.
///
///     concord::pipeline_reduce(device, HostSource(x), out, ReduceOp::sum);
///     concord::pipeline_histogram(device, FileSource("x.bin", 0, n, Type::f32), counters, HistogramBins::even(0, 1));
///
/// Results have the bits of one call on all of the data, whatever the segments: they are cut where the canonical trees of
/// reduce and scan have their nodes, and combined by the same trees. Variants whose order is their own are for that reason
/// unsupported in reduce and scan; the others take any variant, which the device must support for a segment.
///
/// Several devices may share the work, a GPU and the CPU, say, with the same bits:
///
///     concord::pipeline_scan({*gpu, *cpu}, in, out);
///
/// A segment goes to the device that will be done with it first, by the device times of those before; and unless their length
/// is asked for, segments are as long on each device as takes it as much time as the others. It pays where devices are of
/// like speed, transfers counted, and bound by what they do not share: two devices on one CPU gain nothing, nor do any where
/// the source is what is waited for. Where a sink has no memory of its own, and in compact, results are written in order,
/// and a device may wait for another's; in scan it waits for the totals of all segments before.
///
/// Calls return when the result is complete. They may be made from several threads. Uploads, kernels and downloads each have
/// a stream, so that none of them waits for another but for the data that it needs; sources are read and sinks written by
/// the calling thread meanwhile (the built-in ones use several). Where the device works in the host's memory nothing is
/// uploaded or downloaded: sources are read into its buffers, and oneTBB works on the memory of a HostSource and a
/// HostSink itself. Where nothing is left to be copied there is one segment, unless a length is asked for. Page-locked memory
/// of a GPU's own is not copied by the host: it uploads from there, and downloads to there.
///
/// Memory: depth x segment x (input + output bytes an element), on the device, and as much pinned on the host where it has
/// memory of its own; with it two copies of a histogram's counters, 8 bytes each at most and as much on the host, 32768
/// sums of reduce, and what the algorithm takes as scratch for a segment. Of a memory limit an eighth is left for the latter.
/// Several devices hold as much each; a limit is for what all of them hold together, in equal parts.
///
/// Errors: what the algorithm throws; invalid_argument (types, counts, room, a limit that is too small for one segment, no
/// device, one named twice); out_of_memory; io, and whatever else sources, sinks and progress throw. A call that throws has
/// waited for its work and holds no memory but what the device's pool keeps; a sink has then been given a part of the result.
/// Of several devices the one that failed is named; the others do not take over.

#include <concord/add.hpp>
#include <concord/compact.hpp>
#include <concord/histogram.hpp>
#include <concord/map.hpp>
#include <concord/pipeline_io.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>

namespace concord {

struct PipelineOptions {
    Options call = {};  ///< variant and order, as for any call
    u64 memory = 0;     ///< bytes at most, see above; 0: a quarter of the device's, divided by their number
    /// Bytes of the first input in a segment, rounded to where the algorithm can be cut; where memory is short, the largest
    /// power of two for which there is room; 0: by measured rates.
    u64 segment = 0;
    u32 depth = 0;  ///< segments under way at once, fewer where memory is short; 0: by measured rates
    /// Called by the calling thread after each segment, with the number of input elements that are done. To end the pipeline
    /// it throws.
    std::function<void(u64 done, u64 all)> progress = {};
};

/// Milliseconds, each the sum over all segments; they overlap. Where nothing is uploaded or downloaded these are 0. compile:
/// by how much launching the first segment took longer than launching another, if there is one.
struct PipelineTimes {
    double compile = 0, read = 0, upload = 0, kernel = 0, download = 0, write = 0;
};

/// What one of several devices did of a pipeline.
struct PipelineShare {
    Device* device = nullptr;
    std::string_view variant;  ///< empty if it had no segment
    u64 segments = 0, elements = 0;
};

/// What a pipeline did.
struct PipelineRun : Enqueued {
    u64 count = 0;     ///< elements that it wrote
    u64 segments = 0;  ///< how many there were
    u64 segment = 0;   ///< elements in each but the last; with several devices in the longest
    u32 depth = 0;     ///< with several devices: of all of them
    PipelineTimes times;
    /// In the order of the devices; `device` is the first, `variant` that of the first that had a segment.
    std::vector<PipelineShare> shares;
};

/// The device of a pipeline, or several that share its segments.
class PipelineDevices {
  public:
    /// One is a list of one.
    PipelineDevices(Device& device) : list_{&device} {}
    /// As in {*gpu, *cpu}; the devices outlive the call.
    PipelineDevices(std::initializer_list<std::reference_wrapper<Device>> devices) {
        for (Device& device : devices)
            list_.push_back(&device);
    }
    /// As open_device() gives them.
    PipelineDevices(const std::vector<std::shared_ptr<Device>>& devices) {
        for (const auto& device : devices)
            list_.push_back(device.get());
    }
    std::span<Device* const> list() const { return list_; }

  private:
    std::vector<Device*> list_;
};

namespace detail {

using Sources = std::initializer_list<const PipelineSource*>;
using PipelineCall = std::function<Enqueued(Stream&, std::span<const View> in, const View& out)>;
PipelineRun pipeline_map(const char* algorithm, const PipelineDevices& devices, Sources in, PipelineSink& out,
                         const PipelineCall& call, const PipelineOptions& options);

using ReduceCall = std::function<ReduceProblem(const View& in, const View& out)>;
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            const ReduceCall& call, const PipelineOptions& options);

using ScanCall = std::function<ScanProblem(const View& in, const View& out)>;
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          const ScanCall& call, const ScanBefore& before, const PipelineOptions& options);

using HistogramCall = std::function<Enqueued(Stream&, const View& in, const View& counters)>;
PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const HistogramCall& call,
                               const PipelineOptions& options);

using CompactCall = std::function<Enqueued(Stream&, const View& in, const View& out, const View& count)>;
PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const CompactCall& call, const PipelineOptions& options);

}  // namespace detail

// Each is as the algorithm of that name; out of map, add, scan and compact has room for as many elements as in has.

PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         MapFunction function, const PipelineOptions& options = {});
PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         const Operator& op, const PipelineOptions& options = {});
PipelineRun pipeline_add(const PipelineDevices& devices, const PipelineSource& a, const PipelineSource& b,
                         PipelineSink& out, const PipelineOptions& options = {});
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            ReduceOp op = ReduceOp::sum, const PipelineOptions& options = {});
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                          const PipelineOptions& options = {});
PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const HistogramBins& bins,
                               const PipelineOptions& options = {});
/// `count` of what it returns is the number of kept elements.
PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const Keep& keep, const PipelineOptions& options = {});

// Functions made with CONCORD_FUNCTION.

template <class F, class... B>
PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         const Function<F, B...>& f, const PipelineOptions& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Fn::template Argument<0>;
    using U = typename Fn::Result;
    return detail::pipeline_map(
        "map", devices, {&in}, out,
        [&](Stream& stream, std::span<const View> views, const View& to) {
            return map(stream, Span<const T>(views[0]), Span<U>(to), f, options.call);
        },
        options);
}

template <class F, class... V>
PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& a, const PipelineSource& b,
                         PipelineSink& out, const Function<F, V...>& f, const PipelineOptions& options = {}) {
    using Fn = Function<F, V...>;
    using T = typename Fn::template Argument<0>;
    using U = typename Fn::template Argument<1>;
    return detail::pipeline_map(
        "map", devices, {&a, &b}, out,
        [&](Stream& stream, std::span<const View> views, const View& to) {
            return map(stream, Span<const T>(views[0]), Span<const U>(views[1]),
                       Span<typename Fn::Result>(to), f, options.call);
        },
        options);
}

template <class T, class F, class... B>
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            const Function<F, B...>& op, T identity, const PipelineOptions& options = {}) {
    using Fn = Function<F, B...>;
    detail::check_combines<Span<T>, Span<T>, Fn>();
    const auto values = op.packed();
    return detail::pipeline_reduce(
        devices, in, out,
        [&](const View& from, const View& to) {
            return detail::ReduceProblem{Span<const T>(from).view(),
                                         Span<T>(to).view(),
                                         Fn::erased(),
                                         {values},
                                         {std::as_bytes(std::span(&identity, 1))},
                                         &detail::reduce_host<T, typename Fn::Host>()};
        },
        options);
}

template <class T, class F, class... B>
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          const Function<F, B...>& op, T identity, ScanKind kind = ScanKind::inclusive,
                          const PipelineOptions& options = {}) {
    using Fn = Function<F, B...>;
    detail::check_combines<Span<T>, Span<T>, Fn>();
    const auto values = op.packed();
    return detail::pipeline_scan(
        devices, in, out,
        [&](const View& from, const View& to) {
            return detail::ScanProblem{Span<const T>(from).view(),
                                       Span<T>(to).view(),
                                       Fn::erased(),
                                       {values},
                                       {std::as_bytes(std::span(&identity, 1))},
                                       kind,
                                       &detail::scan_parts_host<T, typename Fn::Host>()};
        },
        detail::scan_before(identity, op), options);
}

template <class F, class... B>
PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const Function<F, B...>& bin,
                               const PipelineOptions& options = {}) {
    using T = typename Function<F, B...>::template Argument<0>;
    return detail::pipeline_histogram(
        devices, in, counters,
        [&](Stream& stream, const View& from, const View& to) {
            // Counters are u32 or u64 within.
            return to.type == Type::u32
                       ? histogram(stream, Span<const T>(from), Span<u32>(to), bin, options.call)
                       : histogram(stream, Span<const T>(from), Span<u64>(to), bin, options.call);
        },
        options);
}

template <class F, class... B>
PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const Function<F, B...>& keep, const PipelineOptions& options = {}) {
    using T = typename Function<F, B...>::template Argument<0>;
    return detail::pipeline_compact(
        devices, in, out,
        [&](Stream& stream, const View& from, const View& to, const View& count) {
            return compact(stream, Span<const T>(from), Span<T>(to), Span<u64>(count), keep, options.call);
        },
        options);
}

}  // namespace concord
