// The algorithms as tasks of the pipeline: where segments may be cut, and how results are combined.

#include "pipeline_engine.hpp"

#include <concord/internal/scan_carry.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace concord {
namespace detail {
namespace {

[[noreturn]] void refuse(std::string_view algorithm, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "pipeline_" + std::string(algorithm), why);
}

void check_same_type(std::string_view algorithm, const PipelineSource& in, const PipelineSink& out) {
    detail::check_same_type("pipeline_" + std::string(algorithm), {{"in", in.type()}, {"out", out.type()}});
}

View view_of(const std::shared_ptr<Buffer>& buffer, u64 first, u64 count, Type type) {
    return {buffer.get(), first * size_of(type), count, type};
}

// Waits for the stream, then writes elements of a buffer to a sink.
void deliver(Stream& stream, const View& from, PipelineSink& to) {
    std::vector<std::byte> values(from.bytes());
    stream.read(values.data(), *from.buffer, from.offset, values.size());
    stream.synchronize();
    to.write(values.data(), values.size());
}

// The sum of the counters of several devices: u32, which wrap, or u64.
class CounterSum final : public PipelineSink {
  public:
    CounterSum(Type type, u64 bins) : PipelineSink(type, bins), sums_(bins) {}
    void write(const void* from, u64 /*bytes*/) override {
        for (u64 b = 0; b < sums_.size(); ++b)
            sums_[b] +=
                type() == Type::u32 ? static_cast<const u32*>(from)[b] : static_cast<const u64*>(from)[b];
    }
    void give_to(PipelineSink& counters) const {
        if (counters.type() == Type::u16) {
            give_as<u16>(counters, 65535);
        } else if (counters.type() == Type::u32) {
            give_as<u32>(counters, ~u64{0});
        } else {
            counters.write(sums_.data(), sums_.size() * sizeof(u64));
        }
    }

  private:
    template <class T>
    void give_as(PipelineSink& counters, u64 largest) const {
        std::vector<T> narrow(sums_.size());
        for (u64 b = 0; b < sums_.size(); ++b)
            narrow[b] = static_cast<T>(std::min(sums_[b], largest));
        counters.write(narrow.data(), narrow.size() * sizeof(T));
    }

    std::vector<u64> sums_;
};

}  // namespace

PipelineRun pipeline_map(const char* algorithm, const PipelineDevices& devices, Sources in, PipelineSink& out,
                         const PipelineCall& call, const PipelineOptions& options) {
    Pipeline pipeline(algorithm, devices, options);
    return pipeline.run({.name = algorithm,
                         .in = in,
                         .out = &out,
                         .begin = [&](Stream& stream, const PipelineSegment& segment) {
                             return call(stream, segment.in, segment.out);
                         }});
}

// A segment is a number of whole chunks of the canonical order for all elements. The first device collects the
// chunks' sums and reduces them at the end.
PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            const ReduceProblem& call, const PipelineOptions& options) {
    check_same_type("reduce", in, out);
    if (out.room() != 1)
        refuse("reduce", "out must have room for exactly 1 element, got " + std::to_string(out.room()));
    const Type type = in.type();
    const u64 n = in.count(), chunk = canonical_chunk(n), chunks = std::max<u64>(1, divide_up(n, chunk));
    Pipeline pipeline("reduce", devices, options);
    std::vector<std::shared_ptr<Buffer>> buffers;  // one per device
    for (u32 i = 0; i < pipeline.devices(); ++i)
        buffers.push_back(
            pipeline.on(i, [&] { return pipeline.device(i).allocate((chunks + 1) * size_of(type)); }));
    auto sums = [&](u32 device) { return view_of(buffers[device], 0, chunks, type); };
    struct Part {
        u32 device;
        u64 first, count;  // chunks
    };
    std::vector<Part> elsewhere;
    PipelineRun run = pipeline.run(
        {.name = "reduce",
         .in = {&in},
         .grain = chunk,
         .memory = buffers[0]->capacity(),
         .begin = [&](Stream& kernels, const PipelineSegment& segment) -> Enqueued {
             if (n == 0) return reduce(kernels, call.on(segment.in[0], sums(segment.device)), options.call);
             const Part part{segment.device, segment.first / chunk, divide_up(segment.count, chunk)};
             if (part.device > 0) elsewhere.push_back(part);
             const View to = sums(part.device).part(part.first, part.count);
             return reduce_chunks(kernels, call.on(segment.in[0], to), chunk, options.call);
         }});
    Stream& stream = pipeline.kernels();
    for (const Part& part : elsewhere) {
        std::vector<std::byte> values(part.count * size_of(type));
        const u64 at = part.first * size_of(type);
        pipeline.on(part.device, [&] {
            pipeline.kernels(part.device).read(values.data(), *buffers[part.device], at, values.size());
            pipeline.kernels(part.device).synchronize();
        });
        pipeline.on(0, [&] {
            stream.write(*buffers[0], at, values.data(), values.size());
            stream.synchronize();
        });
    }
    const View result = chunks > 1 ? view_of(buffers[0], chunks, 1, type) : sums(0);
    pipeline.on(0, [&] {
        if (chunks > 1) reduce(stream, call.on(sums(0), result), {.variant = std::string(run.variant)});
    });
    deliver(stream, result, out);
    run.count = 1;
    return run;
}

// The host receives the totals of tiles and combines them by the canonical tree. Each node, or beginning of a node,
// is then scanned from its carry. Devices may have tiles of two sizes. The host's levels start from the smaller size;
// sixteen of these tiles form a node.
PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          const ScanProblem& call, const PipelineOptions& options) {
    check_same_type("scan", in, out);
    const Type type = in.type();
    constexpr u64 fan = 16;
    struct Totals {
        std::shared_ptr<Buffer> device, host;
    };
    std::vector<Totals> totals;  // one per slot
    std::optional<ScanCarry> before;
    Pipeline pipeline("scan", devices, options);
    u64 smallest = ~u64{0}, largest = 0;
    for (u32 i = 0; i < pipeline.devices(); ++i) {
        smallest = std::min(smallest, scan_tile(pipeline.device(i)));
        largest = std::max(largest, scan_tile(pipeline.device(i)));
    }
    auto scan_part = [&](Stream& stream, const PipelineSegment& segment, u64 first, u64 count) {
        ScanProblem problem = call.on(segment.in[0].part(first, count), segment.out.part(first, count));
        std::array<std::byte, 8> carry{};
        before->carry(carry.data());
        problem.identity = {std::span(carry).first(size_of(type))};
        problem.in_parts = true;
        return scan(stream, problem, options.call);
    };
    return pipeline.run(
        {.name = "scan",
         .in = {&in},
         .out = &out,
         .grain = largest,
         .begin = [&](Stream& stream, const PipelineSegment& segment) -> Enqueued {
             const ScanProblem problem = call.on(segment.in[0], segment.out);
             if (!before) before.emplace(problem);
             const Enqueued run = scan_in_parts(stream, problem, options.call);
             if (segment.only) return run;
             if (totals.size() <= segment.slot) totals.resize(segment.slot + 1);
             Totals& mine = totals[segment.slot];
             Device& device = stream.device();
             const u64 tiles = divide_up(segment.count, scan_tile(device)), bytes = tiles * size_of(type);
             if (!mine.device || mine.device->size() < bytes)
                 mine = {device.allocate(bytes), device.allocate_host(bytes)};
             scan_totals(stream, call.on(segment.in[0], view_of(mine.device, 0, tiles, type)));
             stream.copy(*mine.host, 0, *mine.device, 0, bytes);
             return run;
         },
         .complete =
             [&](Stream& stream, const PipelineSegment& segment) {
                 if (segment.only) {
                     scan_part(stream, segment, 0, segment.count);
                     return segment.count;
                 }
                 const u64 tile = scan_tile(stream.device());
                 u32 level = 0;
                 for (u64 node = smallest; node < tile; node *= fan)
                     ++level;
                 const auto* total = static_cast<const std::byte*>(totals[segment.slot].host->host_pointer());
                 for (u64 done = 0; done < segment.count;) {
                     // The largest node that begins here.
                     u64 node = tile;
                     while ((segment.first + done) % (node * fan) == 0 && node * fan <= segment.count - done)
                         node *= fan;
                     const u64 count = std::min(node, segment.count - done);
                     scan_part(stream, segment, done, count);
                     before->push(total + done / tile * size_of(type), divide_up(count, tile), level);
                     done += count;
                 }
                 return segment.count;
             }});
}

PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const HistogramCall& call,
                               const PipelineOptions& options) {
    check_counter_type("pipeline_histogram", counters.type());
    // Saturating counters cannot be added, so u16 counters are u64 on the devices.
    const Type type = counters.type() == Type::u32 ? Type::u32 : Type::u64;
    const u64 bins = counters.room();
    Pipeline pipeline("histogram", devices, options);
    struct Counters {
        std::shared_ptr<Buffer> sum, part;  // null: before the first, the second segment
    };
    std::vector<Counters> counted(pipeline.devices());
    PipelineRun run = pipeline.run({.name = "histogram",
                                    .in = {&in},
                                    .memory = 3 * bins * size_of(type),
                                    .begin = [&](Stream& kernels, const PipelineSegment& segment) {
                                        auto& [sum, part] = counted[segment.device];
                                        auto& mine = sum ? part : sum;
                                        if (!mine) mine = kernels.device().allocate(bins * size_of(type));
                                        const View to = view_of(mine, 0, bins, type);
                                        const Enqueued made = call(kernels, segment.in[0], to);
                                        if (mine == part) {
                                            const View all = view_of(sum, 0, bins, type);
                                            add(kernels, all, to, all);
                                        }
                                        return made;
                                    }});
    run.count = bins;
    CounterSum sums(type, bins);
    for (u32 i = 0; i < pipeline.devices(); ++i) {
        if (!counted[i].sum) continue;
        pipeline.on(i, [&] { deliver(pipeline.kernels(i), view_of(counted[i].sum, 0, bins, type), sums); });
    }
    sums.give_to(counters);
    return run;
}

PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const CompactCall& call, const PipelineOptions& options) {
    check_same_type("compact", in, out);
    struct Count {
        std::shared_ptr<Buffer> device, host;
    };
    std::vector<Count> counts;  // one per slot
    Pipeline pipeline("compact", devices, options);
    return pipeline.run({.name = "compact",
                         .in = {&in},
                         .out = &out,
                         .one_to_one = false,
                         .begin =
                             [&](Stream& stream, const PipelineSegment& segment) {
                                 if (counts.size() <= segment.slot) counts.resize(segment.slot + 1);
                                 Count& mine = counts[segment.slot];
                                 Device& device = stream.device();
                                 if (!mine.device)
                                     mine = {device.allocate(sizeof(u64)), device.allocate_host(sizeof(u64))};
                                 const Enqueued run = call(stream, segment.in[0], segment.out,
                                                           view_of(mine.device, 0, 1, Type::u64));
                                 stream.copy(*mine.host, 0, *mine.device, 0, sizeof(u64));
                                 return run;
                             },
                         .complete =
                             [&](Stream& stream, const PipelineSegment& segment) {
                                 u64 kept = 0;
                                 std::memcpy(&kept, counts[segment.slot].host->host_pointer(), sizeof kept);
                                 // Kernels that failed leave no count. Throws their failure.
                                 if (kept > segment.count) stream.synchronize();
                                 return std::min(kept, segment.count);
                             }});
}

}  // namespace detail

PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         MapFunction function, const PipelineOptions& options) {
    return detail::pipeline_map(
        "map", devices, {&in}, out,
        [&](Stream& stream, std::span<const View> from, const View& to) {
            return map(stream, from[0], to, function, options.call);
        },
        options);
}

PipelineRun pipeline_map(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                         const Operator& op, const PipelineOptions& options) {
    return detail::pipeline_map(
        "map", devices, {&in}, out,
        [&](Stream& stream, std::span<const View> from, const View& to) {
            return map(stream, from[0], to, op, options.call);
        },
        options);
}

PipelineRun pipeline_add(const PipelineDevices& devices, const PipelineSource& a, const PipelineSource& b,
                         PipelineSink& out, const PipelineOptions& options) {
    return detail::pipeline_map(
        "add", devices, {&a, &b}, out,
        [&](Stream& stream, std::span<const View> from, const View& to) {
            return add(stream, from[0], from[1], to, options.call);
        },
        options);
}

PipelineRun pipeline_reduce(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                            ReduceOp op, const PipelineOptions& options) {
    const View none{.type = in.type()};
    return detail::pipeline_reduce(devices, in, out, detail::reduce_problem(none, none, op), options);
}

PipelineRun pipeline_scan(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                          ReduceOp op, ScanKind kind, const PipelineOptions& options) {
    const View none{.type = in.type()};
    return detail::pipeline_scan(devices, in, out, detail::scan_problem(none, none, op, kind), options);
}

PipelineRun pipeline_histogram(const PipelineDevices& devices, const PipelineSource& in,
                               PipelineSink& counters, const HistogramBins& bins,
                               const PipelineOptions& options) {
    return detail::pipeline_histogram(
        devices, in, counters,
        [&](Stream& stream, const View& from, const View& to) {
            return histogram(stream, from, to, bins, options.call);
        },
        options);
}

PipelineRun pipeline_compact(const PipelineDevices& devices, const PipelineSource& in, PipelineSink& out,
                             const Keep& keep, const PipelineOptions& options) {
    return detail::pipeline_compact(
        devices, in, out,
        [&](Stream& stream, const View& from, const View& to, const View& count) {
            return compact(stream, from, to, count, keep, options.call);
        },
        options);
}

}  // namespace concord
