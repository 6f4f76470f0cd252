#pragma once
/// @file
/// Pipelines: algorithms on host data in segments, for data that exceeds the memory of the device or of the host
/// (out-of-core). While a device computes one segment, the next one is read and uploaded, and the previous one is
/// downloaded and written.
///
///     pipeline_reduce(device, HostSource(x), out, ReduceOp::sum);
///     const FileSource samples("x.bin", 0, n, Type::f32);
///     pipeline_histogram(device, samples, counters, HistogramBins::even(0, 1));
///
/// - Shapes and types: as for the algorithm. out of map, add, scan and compact has room for as many elements as in
///   has.
/// - Results: bitwise identical to one call on all of the data, for any segments and devices. Reduce and scan cut at
///   nodes of their canonical trees and combine parts by the same trees.
/// - Variants: reduce and scan support canonical variants only. The others support every variant that the device
///   supports.
/// - In place: a HostSink may use exactly the memory of a HostSource whose elements have the same size.
/// - Memory traffic: the host copies every input and output element once, to or from pinned buffers. Inputs are
///   uploaded and outputs downloaded once. See below for what is not copied.
/// - Asynchrony: a call returns when the result is complete. Several threads may call at the same time.
/// - Errors: those of the algorithm; invalid_argument (types, counts, room, a memory limit too small for one segment,
///   no device, a device listed twice); out_of_memory; io; and whatever sources, sinks and `progress` throw. A call
///   that throws has waited for its work and freed its memory, except what the device's pool keeps. The sink may have
///   received a part of the result.
///
/// Overlap. Uploads, kernels and downloads have a stream each, so each waits only for its own data. The calling
/// thread reads sources and writes sinks meanwhile. The built-in sources and sinks use several threads.
///
/// Copies. A device that works in host memory uploads and downloads nothing: sources are read into its buffers.
/// oneTBB accesses the memory of a HostSource and a HostSink directly. A GPU transfers its own page-locked memory
/// without a copy by the host. If nothing is copied, there is one segment, unless PipelineOptions::segment is set.
///
/// Memory. The device holds depth x segment x (input + output bytes per element). A device with memory of its own
/// holds the same amount pinned on the host. In addition: a histogram's counters twice, at most 8 bytes each, and
/// once more on the host; 32768 sums of reduce; the algorithm's scratch for a segment. An eighth of a memory limit is
/// reserved for scratch.
///
/// Several devices, for example a GPU and the CPU, can share the work:
///
///     concord::pipeline_scan({*gpu, *cpu}, in, out);
///
/// A segment goes to the device that is expected to finish it first, based on measured rates. Unless the length is
/// set, each device gets segments that take all devices the same time. Sharing work helps when the devices have
/// similar throughput, transfers included, and independent bottlenecks. It does not help two devices on one CPU, or
/// if the source is the bottleneck. If the sink has no memory of its own, and in compact, results are written in
/// order, so a device may wait for another one. In scan a device waits for the totals of all earlier segments. Each
/// device holds the memory above. A limit applies to all of them together, in equal parts. An error names the device
/// that failed. The other devices do not take over.

#include <concord/add.hpp>
#include <concord/compact.hpp>
#include <concord/histogram.hpp>
#include <concord/map.hpp>
#include <concord/pipeline_io.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>

#include <functional>

namespace concord {

/// Options of a pipeline.
struct PipelineOptions {
    Options call = {};  ///< variant and order of the calls
    /// Memory limit in bytes. 0: a quarter of each device's memory, divided by the number of devices.
    u64 memory = 0;
    /// Bytes of the first input per segment, rounded to where the algorithm can be cut. If memory is short, the
    /// largest power of two that fits. 0: from measured rates.
    u64 segment = 0;
    u32 depth = 0;  ///< segments in flight, fewer if memory is short; 0: from measured rates
    /// Called by the calling thread after each segment, with the number of input elements that are done. An exception
    /// ends the pipeline.
    std::function<void(u64 done, u64 all)> progress = {};
};

/// Times of a pipeline in milliseconds, each the sum over all segments. The stages overlap.
struct PipelineTimes {
    double compile = 0;   ///< extra time to launch the first segment, compared with the other segments
    double read = 0;      ///< reading sources
    double upload = 0;    ///< uploads; 0 without any
    double kernel = 0;    ///< kernels
    double download = 0;  ///< downloads; 0 without any
    double write = 0;     ///< writing the sink
};

/// Share of one device in a pipeline.
struct PipelineShare {
    Device* device = nullptr;                          ///< the device
    std::string_view variant;                          ///< its variant; empty without a segment
    OperationOrder order = OperationOrder::canonical;  ///< order that holds for its results
    u64 segments = 0;                                  ///< number of its segments
    u64 elements = 0;                                  ///< input elements of its segments
};

/// Result of a pipeline. `device` is the first device, `variant` that of the first device with a segment, `order` the
/// weakest order of all devices.
struct PipelineRun : Enqueued {
    u64 count = 0;                      ///< elements written
    u64 segments = 0;                   ///< number of segments
    u64 segment = 0;                    ///< elements of the longest segment
    u32 depth = 0;                      ///< maximum number of segments in flight, on all devices together
    PipelineTimes times;                ///< times of the stages
    std::vector<PipelineShare> shares;  ///< shares in the order of the devices
};

/// The device of a pipeline, or several devices that share its segments. Does not own them: they must outlive the
/// call.
class PipelineDevices {
  public:
    /// Creates a list of one device.
    PipelineDevices(Device& device) : list_{&device} {}
    /// Creates a list of several devices: {*gpu, *cpu}.
    PipelineDevices(std::initializer_list<std::reference_wrapper<Device>> devices) {
        for (Device& device : devices)
            list_.push_back(&device);
    }
    /// Creates a list of several devices, as open_device() returns them.
    PipelineDevices(const std::vector<std::shared_ptr<Device>>& devices) {
        for (const auto& device : devices)
            list_.push_back(device.get());
    }
    /// Returns the devices.
    std::span<Device* const> list() const { return list_; }

  private:
    std::vector<Device*> list_;
};

namespace detail {

using Sources = std::initializer_list<const PipelineSource*>;
using PipelineCall = std::function<Enqueued(Stream&, std::span<const View> in, const View& out)>;
PipelineRun pipeline_map(const char* algorithm, const PipelineDevices& devices, Sources in, PipelineSink& out,
                         const PipelineCall& call, const PipelineOptions& options);

// `call` names no operands: its views have the elements of `in`.
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            const ReduceProblem& call, const PipelineOptions& options);
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          const ScanProblem& call, const PipelineOptions& options);

using HistogramCall = std::function<Enqueued(Stream&, const View& in, const View& counters)>;
PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const HistogramCall& call,
                               const PipelineOptions& options);

using CompactCall = std::function<Enqueued(Stream&, const View& in, const View& out, const View& count)>;
PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const CompactCall& call, const PipelineOptions& options);

}  // namespace detail

/// Applies a built-in function to every element, as map().
PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         MapFunction function, const PipelineOptions& options = {});
/// Applies an operator that has kernel source only to every element, as map().
PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         const Operator& op, const PipelineOptions& options = {});
/// Adds corresponding elements, as add().
PipelineRun pipeline_add(const PipelineDevices& devices, const PipelineSource& a, const PipelineSource& b,
                         PipelineSink& out, const PipelineOptions& options = {});
/// Reduces all elements to one in canonical order, as reduce().
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            ReduceOp op = ReduceOp::sum, const PipelineOptions& options = {});
/// Scans all elements in canonical order, as scan().
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                          const PipelineOptions& options = {});
/// Counts the samples of each bin, as histogram(). Counters are u16, u32 or u64.
PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const HistogramBins& bins,
                               const PipelineOptions& options = {});
/// Copies the elements that satisfy a condition, in order, as compact(). PipelineRun::count is the number of kept
/// elements.
PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const Keep& keep, const PipelineOptions& options = {});

/// Applies a user function (CONCORD_FUNCTION) of one element to every element, as map().
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

/// Applies a user function (CONCORD_FUNCTION) of two elements to corresponding elements, as map().
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

/// Reduces all elements with a user operator (CONCORD_FUNCTION) in canonical order, as reduce().
template <class T, class F, class... B>
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            const Function<F, B...>& op, T identity, const PipelineOptions& options = {}) {
    using Fn = Function<F, B...>;
    detail::check_combines<Span<T>, Span<T>, Fn>();
    detail::check_identity("pipeline_reduce", op, identity, options.call.order);
    const auto values = op.packed();
    const View none = Span<const T>(View{.type = in.type()}).view();
    return detail::pipeline_reduce(devices, in, out, detail::reduce_problem<Fn>(none, none, values, identity),
                                   options);
}

/// Scans all elements with a user operator (CONCORD_FUNCTION) in canonical order, as scan().
template <class T, class F, class... B>
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          const Function<F, B...>& op, T identity, ScanKind kind = ScanKind::inclusive,
                          const PipelineOptions& options = {}) {
    using Fn = Function<F, B...>;
    detail::check_combines<Span<T>, Span<T>, Fn>();
    detail::check_identity("pipeline_scan", op, identity, options.call.order);
    const auto values = op.packed();
    const View none = Span<const T>(View{.type = in.type()}).view();
    return detail::pipeline_scan(devices, in, out,
                                 detail::scan_problem<Fn>(none, none, values, identity, kind), options);
}

/// Counts samples by a user function (CONCORD_FUNCTION) that returns the bin, as histogram().
template <class F, class... B>
PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const Function<F, B...>& bin,
                               const PipelineOptions& options = {}) {
    using T = typename Function<F, B...>::template Argument<0>;
    return detail::pipeline_histogram(
        devices, in, counters,
        [&](Stream& stream, const View& from, const View& to) {
            // Internal counters are u32 or u64.
            return to.type == Type::u32
                       ? histogram(stream, Span<const T>(from), Span<u32>(to), bin, options.call)
                       : histogram(stream, Span<const T>(from), Span<u64>(to), bin, options.call);
        },
        options);
}

/// Copies the elements for which a user predicate (CONCORD_FUNCTION) is true, in order, as compact().
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
