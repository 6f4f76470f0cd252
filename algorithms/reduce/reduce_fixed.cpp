// Host side of `fixed`.

#include "reduce_sources.hpp"
#include "reduce_variants.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/stream_memory.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

// The first level: reduces chunks of `length` elements to their sums. The buffer of sums has room for the second
// level, which follows if all levels are reduced. A single chunk has no sums: its result is that of the call.
struct ReduceLevel {
    u64 length, chunks, upper;
    bool all;  // whether to reduce all levels
    std::shared_ptr<Buffer> buffer;
    View sums, ticket;
    View out;  // of a single chunk

    ReduceLevel(Stream& stream, const ReduceProblem& p)
        : length(p.chunk != 0 ? p.chunk : canonical_chunk(p.in.count)),
          chunks(std::max<u64>(1, divide_up(p.in.count, length))),
          upper(canonical_chunk(chunks)),
          all(p.chunk == 0),
          ticket{&zero_counters(stream), 0, 1, Type::u32},
          out{p.out} {
        out.count = 1;
        sums = out;
        if (chunks == 1) return;
        const u64 room = chunks + divide_up(chunks, upper);
        buffer = stream.scratch(room * size_of(p.in.type));
        sums = {buffer.get(), 0, room, p.in.type};
    }
    // Whether the last group of the launch reduces the upper levels. A single group always does.
    bool finish(const Device& device, u64 groups) const {
        return groups == 1 || (device.traits().device_fence && all);
    }
};

// What follows the launch of the first level. Devices without a fence between groups reduce the upper levels in a
// launch of their own.
void run_upper(Stream& stream, const ReduceProblem& p, const ReduceLevel& level, bool is_finished,
               const KernelSource& source, u32 group_size) {
    if (!level.all) {
        if (level.chunks > 1)
            stream.copy(*p.out.buffer, p.out.offset, *level.buffer, 0, level.chunks * size_of(p.in.type));
    } else if (!is_finished) {
        const auto upper = reduce_kernel(stream.device(), p, source, "reduce_upper", group_size);
        launch(stream, *upper, LaunchShape::linear(1, group_size), level.sums, p.out, level.chunks,
               level.upper, p.identity, p.values);
    }
}

// One work-item per group, which reduces a run of consecutive chunks.
void run_wide(Stream& stream, const ReduceProblem& p, const Kernel& wide) {
    Device& device = stream.device();
    const DeviceTraits& traits = device.traits();
    const ReduceLevel level(stream, p);
    const u64 n = p.in.count, chunks = level.chunks;
    // One group while the input is small, because waking a thread costs more. Then a few groups per thread.
    const u64 min_bytes = tuned(device, reduce_group_kib, point_of(p), min_group_kib(traits)) << 10,
              each = tuned(device, reduce_groups, point_of(p), 16);
    const u64 most = std::max<u64>(1, p.in.bytes() / min_bytes);
    const u64 run = divide_up(chunks, std::min<u64>({chunks, most, traits.units * each}));
    const u64 groups = divide_up(chunks, run);
    const bool finish = level.finish(device, groups);
    const InputArguments in(p.input());
    in.launch(stream, wide, LaunchShape::linear(groups, 1), level.out, level.sums, level.ticket, n,
              level.length, level.upper, run, u32{finish}, p.identity, p.values);
    run_upper(stream, p, level, finish, kernel_sources::reduce_wide(), 1);
}

}  // namespace

void run_reduce_fixed(Stream& stream, const ReduceProblem& p) {
    constexpr u64 warp = 32;
    Device& device = stream.device();
    const ReduceLevel level(stream, p);
    const auto fixed = reduce_kernel(device, p, with_input(kernel_sources::reduce(), p.input()),
                                     "reduce_fixed", reduce_group);
    const u64 n = p.in.count, chunks = level.chunks;
    // One wave of resident groups that share the chunks evenly. With work for more than 8 waves, each warp reduces one
    // chunk, and the hardware balances the load.
    const u64 all = divide_up(chunks, reduce_group / warp);
    const i64 resident = fixed->attributes().groups_per_unit;
    const u64 wave = resident > 0 ? static_cast<u64>(resident) * device.traits().units : all;
    const u64 some = tuned(device, reduce_waves, point_of(p), all > 8 * wave ? 1 << 20 : 1);
    const u64 groups = std::min(all, wave * some);
    const bool finish = level.finish(device, groups);
    const InputArguments in(p.input());
    in.launch(stream, *fixed, LaunchShape::linear(groups, reduce_group), level.out, level.sums, level.ticket,
              n, level.length, level.upper, u32{finish}, p.identity, p.values);
    run_upper(stream, p, level, finish, kernel_sources::reduce(), reduce_group);
}

void run_reduce_fixed_wide(Stream& stream, const ReduceProblem& p) {
    run_wide(stream, p,
             *reduce_kernel(stream.device(), p, with_input(kernel_sources::reduce_wide(), p.input()),
                            "reduce_wide", 1));
}

void run_reduce_fixed_host(Stream& stream, const ReduceProblem& p) {
    run_wide(stream, p, *host_kernel_of(stream.device(), "reduce_wide", p.host->fixed));
}

}  // namespace concord::detail
