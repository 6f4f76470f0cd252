// Time steps of the stencil over 1, 2, 4 ... ranks of one process: a rank on each device of a kind or, where there is one
// device alone, all of them on that.

#include "ranks.hpp"

#include <concord/conformance/bench.hpp>
#include <concord/device.hpp>
#include <concord/distributed_stencil.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace concord::study {
namespace {

using conformance::BenchRow;
using conformance::Timing;

// They sum up to 1 with all six neighbours, so that values neither grow nor vanish however many steps there are.
const StarCoefficients& star() {
    static const StarCoefficients coefficients = {0.4, 0.05, 0.03, 0.015, 0.005};
    return coefficients;
}

// From 0 to 1, of the place alone.
f32 value_at(u64 place) {
    place = (place ^ place >> 31) * 0x9e3779b97f4a7c15;
    return static_cast<f32>(place >> 40) * 0x1p-24F;
}

std::vector<f32> values_of(const StencilShape& s, const StencilBox& box) {
    std::vector<f32> values(points_of(box, s.columns));
    std::size_t i = 0;
    for (u64 z = box.z_begin; z < box.z_end; ++z) {
        for (u64 at = (z * s.rows + box.y_begin) * s.columns; at < (z * s.rows + box.y_end) * s.columns; ++at)
            values[i++] = value_at(at);
    }
    return values;
}

constexpr u64 checked_steps = 2;

// What the rank's part is after that many steps, told by one device that has all that its points depend on.
std::vector<f32> expected(Stream& stream, const StencilShape& s, const StencilBox& part) {
    const u64 more = checked_steps * star().radius();
    const StencilBox wide{part.z_begin - std::min(part.z_begin, more), std::min(s.depth, part.z_end + more),
                          part.y_begin - std::min(part.y_begin, more), std::min(s.rows, part.y_end + more)};
    const StencilShape shape{wide.z_end - wide.z_begin, wide.y_end - wide.y_begin, s.columns};
    const Array<f32> in(stream, values_of(s, wide)), out(stream, in.size());
    stencil(stream, in, out, shape, star(), checked_steps);
    const std::vector<f32> all = out.to_host(stream);
    std::vector<f32> own(points_of(part, s.columns));
    const u64 rows = part.y_end - part.y_begin;
    for (u64 z = part.z_begin; z < part.z_end; ++z)
        std::memcpy(own.data() + (z - part.z_begin) * rows * s.columns,
                    all.data() + ((z - wide.z_begin) * shape.rows + part.y_begin - wide.y_begin) * s.columns,
                    rows * s.columns * sizeof(f32));
    return own;
}

double of_rank_0(Communicator& ranks, double value) {
    const auto all = ranks.all_gather(std::as_bytes(std::span(&value, 1)));
    std::memcpy(&value, all[0].data(), sizeof value);
    return value;
}

// Milliseconds of a step. What is wrong is thrown, with the words that the bench has for it.
Timing measure(Communicator& ranks, Stream& stream, const StencilShape& shape, const std::string& variant,
               bool quick) {
    DistributedStencil volume(ranks, stream, Type::f32, shape, star(), {.variant = variant});
    const StencilBox part = volume.holding();
    {
        const Array<f32> in(stream, values_of(shape, part));
        volume.load(in.view());
        volume.run(checked_steps);
        volume.store(in.view());
        if (in.to_host(stream) != expected(stream, shape, part))
            throw Error(ErrorCode::device_failed, "study",
                        "WRONG: rank " + std::to_string(ranks.rank()) + "'s part differs");
    }
    auto run = [&](u64 steps) {
        ranks.barrier();
        const auto start = std::chrono::steady_clock::now();
        volume.run(steps);
        stream.synchronize();
        ranks.barrier();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    };
    constexpr u64 first_steps = 3, repetitions = 9;
    const double least_ms = quick ? 5 : 60, first = of_rank_0(ranks, run(first_steps));
    const u64 steps = std::max<u64>(
        first_steps, static_cast<u64>(std::ceil(least_ms / std::max(first / first_steps, 1e-3))));
    std::vector<double> times;
    for (u64 i = 0; i < repetitions; ++i)
        times.push_back(run(steps) / static_cast<double>(steps));
    std::sort(times.begin(), times.end());
    return {times[repetitions / 2], times[repetitions / 4], times[repetitions - 1 - repetitions / 4],
            repetitions, steps};
}

std::vector<u32> rank_counts(std::size_t devices) {
    const u32 most = devices > 1 ? static_cast<u32>(devices) : 4;
    std::vector<u32> counts;
    for (u32 p = 1; p < most; p *= 2)
        counts.push_back(p);
    counts.push_back(most);
    return counts;
}

}  // namespace

StencilShape ranks_shape(u64 n, bool is_weak, u32 ranks) {
    const u64 side = static_cast<u64>(std::llround(std::cbrt(static_cast<double>(n))));
    StencilShape s{side, side, side};
    if (side * side * side != n) {  // 5 : 6 : 6
        const u64 unit = static_cast<u64>(std::llround(std::cbrt(static_cast<double>(n) / 180)));
        s = {5 * unit, 6 * unit, 6 * unit};
    }
    if (is_weak) s.depth *= ranks;
    return s;
}

u32 ranks_radius() {
    return star().radius();
}

void run_ranks(const std::vector<std::shared_ptr<Device>>& devices, const Case& what, bool quick,
               const std::function<bool(const Result&)>& wanted,
               const std::function<void(const Result&, const ordered_json& row)>& done) {
    const Device& first = *devices.front();
    const bool is_weak = what.suite == weak_ranks, is_shared = devices.size() == 1;
    for (const u64 n : what.sizes.of(quick)) {
        for (const std::string variant : {"overlapped", "sequential"}) {
            for (const u32 p : rank_counts(devices.size())) {
                const StencilShape shape = ranks_shape(n, is_weak, p);
                Result asked;
                asked.algorithm = what.suite;
                asked.workload = is_shared ? shared_ranks : ranks_apart;
                asked.asked = asked.variant = variant + std::to_string(p);
                asked.device = first.info().selector;
                asked.threads = first.traits().dialect == Dialect::host ? first.traits().units : 0;
                asked.type = "f32";
                asked.n = n;
                if (!wanted(asked)) continue;
                const u64 bytes = shape.depth * shape.rows * shape.columns * sizeof(f32);
                BenchRow row;
                row.algorithm = asked.algorithm;
                row.function = asked.workload;
                row.variant = asked.variant;
                row.device = asked.device;
                row.type = Type::f32;
                row.n = n;
                row.bytes = 2 * bytes;
                row.host_clock = true;
                row.copies = 1;
                // A rank has its part four times, and a little more while the result is looked at; where the device's
                // memory is the host's, what the host compares as well.
                const u64 times = first.traits().shares_host_memory ? 9 : 6,
                          room = first.traits().global_memory / 8 * 7,
                          needed = times * bytes / (is_shared ? 1 : p);
                std::vector<std::shared_ptr<Device>> list;
                for (u32 rank = 0; rank < p; ++rank)
                    list.push_back(devices[is_shared ? 0 : rank]);
                try {
                    if (needed > room)
                        throw Error(ErrorCode::out_of_memory, "study",
                                    "takes " + std::to_string(needed) + " bytes of " + std::to_string(room));
                    run_on_devices(list, [&](Communicator& ranks, Stream& stream) {
                        const Timing timing = measure(ranks, stream, shape, variant, quick);
                        if (ranks.rank() == 0) row.timing = timing;
                    });
                } catch (const Error& error) {
                    row.timing.reset();
                    row.problem = error.what();
                    if (const auto at = row.problem.find("WRONG"); at != std::string::npos)
                        row.problem.erase(0, at);
                    if (error.code() == ErrorCode::out_of_memory) row.problem = "no room: " + row.problem;
                }
                done(asked, ordered_json::parse(json_of(row)));
            }
        }
    }
}

}  // namespace concord::study
