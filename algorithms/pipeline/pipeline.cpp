// The algorithms as tasks of the pipeline: where segments may be cut, and how their results are put together.

#include "pipeline_engine.hpp"

#include <bit>
#include <cstring>

namespace concord {
namespace detail {
namespace {

[[noreturn]] void refuse(std::string_view algorithm, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "pipeline_" + std::string(algorithm), why);
}

void check_same_type(std::string_view algorithm, const Source& in, const Sink& out) {
    if (in.type() != out.type())
        refuse(algorithm,
               "in is " + std::string(name_of(in.type())) + ", out " + std::string(name_of(out.type())));
}

View view_of(const std::shared_ptr<Buffer>& buffer, u64 first, u64 count, Type type) {
    return {buffer.get(), first * size_of(type), count, type};
}

// Elements of a buffer to a sink, when the stream has got there.
void deliver(Stream& stream, const View& from, Sink& to) {
    std::vector<std::byte> values(from.bytes());
    stream.read(values.data(), *from.buffer, from.offset, values.size());
    stream.synchronize();
    to.write(values.data(), values.size());
}

}  // namespace

PipelineRun pipeline_map(const char* algorithm, Device& device, Sources in, Sink& out,
                         const PipelineCall& call, const PipelineOptions& options) {
    Pipeline pipeline(device, options);
    return pipeline.run({.name = algorithm,
                         .in = in,
                         .out = &out,
                         .begin = [&](Stream& stream, const PipelineSegment& segment) {
                             return call(stream, segment.in, segment.out);
                         }});
}

// A segment is whole chunks of the canonical order for as many elements as there are in all; their sums are reduced in the end.
PipelineRun pipeline_reduce(Device& device, const Source& in, Sink& out, const ReduceCall& call,
                            const PipelineOptions& options) {
    check_same_type("reduce", in, out);
    if (out.room() != 1)
        refuse("reduce", "out has room for " + std::to_string(out.room()) + " elements, not 1");
    const Type type = in.type();
    const u64 n = in.count(), chunk = canonical_chunk(n), chunks = std::max<u64>(1, divide_up(n, chunk));
    Pipeline pipeline(device, options);
    Stream& stream = pipeline.kernels();
    const auto buffer = device.allocate((chunks + 1) * size_of(type));
    const View sums = view_of(buffer, 0, chunks, type), result = view_of(buffer, chunks, 1, type);
    PipelineRun run = pipeline.run(
        {.name = "reduce",
         .in = {&in},
         .grain = chunk,
         .memory = buffer->capacity(),
         .begin = [&](Stream& kernels, const PipelineSegment& segment) -> Run {
             if (n == 0) return reduce(kernels, call(segment.in[0], sums), options.call);
             const View part = sums.part(segment.first / chunk, divide_up(segment.count, chunk));
             return {reduce_chunks(kernels, call(segment.in[0], part), chunk, options.call), &device};
         }});
    if (chunks > 1) reduce(stream, call(sums, result), {.variant = run.variant});
    deliver(stream, chunks > 1 ? result : sums, out);
    run.count = 1;
    return run;
}

// Totals of tiles come to the host, which combines them by the canonical tree; each node, or beginning of one, is then
// scanned on from what lies before it.
PipelineRun pipeline_scan(Device& device, const Source& in, Sink& out, const ScanCall& call,
                          const ScanBefore& before, const PipelineOptions& options) {
    check_same_type("scan", in, out);
    const Type type = in.type();
    const u64 tile = scan_tile(device);
    constexpr u64 fan = 16;
    struct Totals {
        std::shared_ptr<Buffer> device, host;
    };
    std::vector<Totals> totals;  // a slot's
    Pipeline pipeline(device, options);
    auto variant = [&](Stream& stream, const PipelineSegment& segment) -> Run {
        return {scan_in_parts(stream, call(segment.in[0], segment.out), options.call), &device};
    };
    auto scan_part = [&](Stream& stream, const PipelineSegment& segment, u64 first, u64 count) {
        ScanProblem problem = call(segment.in[0].part(first, count), segment.out.part(first, count));
        std::array<std::byte, 8> carry{};
        before.carry(carry.data());
        problem.identity = {std::span(carry).first(size_of(type))};
        return scan(stream, problem, options.call);
    };
    return pipeline.run(
        {.name = "scan",
         .in = {&in},
         .out = &out,
         .grain = tile,
         .begin = [&](Stream& stream, const PipelineSegment& segment) -> Run {
             const Run run = variant(stream, segment);
             if (segment.only) return run;
             if (totals.size() <= segment.slot) totals.resize(segment.slot + 1);
             Totals& mine = totals[segment.slot];
             const u64 tiles = divide_up(segment.count, tile), bytes = tiles * size_of(type);
             if (!mine.device) mine = {device.allocate(bytes), device.allocate_host(bytes)};
             scan_totals(stream, call(segment.in[0], view_of(mine.device, 0, tiles, type)));
             stream.copy(*mine.host, 0, *mine.device, 0, bytes);
             return run;
         },
         .complete =
             [&](Stream& stream, const PipelineSegment& segment) {
                 if (segment.only) {
                     scan_part(stream, segment, 0, segment.count);
                     return segment.count;
                 }
                 const auto* total = static_cast<const std::byte*>(totals[segment.slot].host->host_pointer());
                 for (u64 done = 0; done < segment.count;) {
                     // The largest node that begins here.
                     u64 node = tile;
                     while ((segment.first + done) % (node * fan) == 0 && node * fan <= segment.count - done)
                         node *= fan;
                     const u64 count = std::min(node, segment.count - done);
                     scan_part(stream, segment, done, count);
                     before.push(total + done / tile * size_of(type), divide_up(count, tile));
                     done += count;
                 }
                 return segment.count;
             }});
}

PipelineRun pipeline_histogram(Device& device, const Source& in, Sink& counters, const HistogramCall& call,
                               const PipelineOptions& options) {
    if (counters.type() != Type::u16 && counters.type() != Type::u32 && counters.type() != Type::u64)
        refuse("histogram",
               "counters are " + std::string(name_of(counters.type())) + ", not u16, u32 or u64");
    // Counters that saturate do not add up.
    const Type type = counters.type() == Type::u32 ? Type::u32 : Type::u64;
    const u64 bins = counters.room();
    Pipeline pipeline(device, options);
    Stream& stream = pipeline.kernels();
    const auto whole = device.allocate(bins * size_of(type));
    std::shared_ptr<Buffer> part;
    const View sum = view_of(whole, 0, bins, type);
    PipelineRun run = pipeline.run({.name = "histogram",
                                    .in = {&in},
                                    .memory = 3 * sum.bytes(),
                                    .begin = [&](Stream& kernels, const PipelineSegment& segment) {
                                        if (segment.index == 0) return call(kernels, segment.in[0], sum);
                                        if (!part) part = device.allocate(sum.bytes());
                                        const View more = view_of(part, 0, bins, type);
                                        const Run made = call(kernels, segment.in[0], more);
                                        add(kernels, sum, more, sum);
                                        return made;
                                    }});
    run.count = bins;
    if (counters.type() == type) {
        deliver(stream, sum, counters);
        return run;
    }
    std::vector<u64> wide(bins);
    std::vector<u16> narrow(bins);
    HostSink to(wide);
    deliver(stream, sum, to);
    for (u64 b = 0; b < bins; ++b)
        narrow[b] = static_cast<u16>(std::min<u64>(wide[b], 65535));
    counters.write(narrow.data(), bins * sizeof(u16));
    return run;
}

PipelineRun pipeline_compact(Device& device, const Source& in, Sink& out, const CompactCall& call,
                             const PipelineOptions& options) {
    check_same_type("compact", in, out);
    struct Count {
        std::shared_ptr<Buffer> device, host;
    };
    std::vector<Count> counts;  // a slot's
    Pipeline pipeline(device, options);
    return pipeline.run({.name = "compact",
                         .in = {&in},
                         .out = &out,
                         .one_to_one = false,
                         .begin =
                             [&](Stream& stream, const PipelineSegment& segment) {
                                 if (counts.size() <= segment.slot) counts.resize(segment.slot + 1);
                                 Count& mine = counts[segment.slot];
                                 if (!mine.device)
                                     mine = {device.allocate(sizeof(u64)), device.allocate_host(sizeof(u64))};
                                 const Run run = call(stream, segment.in[0], segment.out,
                                                      view_of(mine.device, 0, 1, Type::u64));
                                 stream.copy(*mine.host, 0, *mine.device, 0, sizeof(u64));
                                 return run;
                             },
                         .complete =
                             [&](Stream& /*stream*/, const PipelineSegment& segment) {
                                 u64 kept = 0;
                                 std::memcpy(&kept, counts[segment.slot].host->host_pointer(), sizeof kept);
                                 return kept;
                             }});
}

}  // namespace detail

PipelineRun pipeline_map(Device& device, const Source& in, Sink& out, MapFunction function,
                         const PipelineOptions& options) {
    return detail::pipeline_map(
        "map", device, {&in}, out,
        [&](Stream& stream, std::span<const View> from, const View& to) {
            return map(stream, from[0], to, function, options.call);
        },
        options);
}

PipelineRun pipeline_map(Device& device, const Source& in, Sink& out, const Operator& op,
                         const PipelineOptions& options) {
    return detail::pipeline_map(
        "map", device, {&in}, out,
        [&](Stream& stream, std::span<const View> from, const View& to) {
            return map(stream, from[0], to, op, options.call);
        },
        options);
}

PipelineRun pipeline_add(Device& device, const Source& a, const Source& b, Sink& out,
                         const PipelineOptions& options) {
    return detail::pipeline_map(
        "add", device, {&a, &b}, out,
        [&](Stream& stream, std::span<const View> from, const View& to) {
            return add(stream, from[0], from[1], to, options.call);
        },
        options);
}

PipelineRun pipeline_reduce(Device& device, const Source& in, Sink& out, ReduceOp op,
                            const PipelineOptions& options) {
    return detail::pipeline_reduce(
        device, in, out,
        [&](const View& from, const View& to) { return detail::reduce_problem(from, to, op); }, options);
}

PipelineRun pipeline_scan(Device& device, const Source& in, Sink& out, ReduceOp op, ScanKind kind,
                          const PipelineOptions& options) {
    return detail::pipeline_scan(
        device, in, out,
        [&](const View& from, const View& to) { return detail::scan_problem(from, to, op, kind); },
        detail::scan_before(in.type(), op), options);
}

PipelineRun pipeline_histogram(Device& device, const Source& in, Sink& counters, const HistogramBins& bins,
                               const PipelineOptions& options) {
    return detail::pipeline_histogram(
        device, in, counters,
        [&](Stream& stream, const View& from, const View& to) {
            return histogram(stream, from, to, bins, options.call);
        },
        options);
}

PipelineRun pipeline_compact(Device& device, const Source& in, Sink& out, const Keep& keep,
                             const PipelineOptions& options) {
    return detail::pipeline_compact(
        device, in, out,
        [&](Stream& stream, const View& from, const View& to, const View& count) {
            return compact(stream, from, to, count, keep, options.call);
        },
        options);
}

}  // namespace concord
