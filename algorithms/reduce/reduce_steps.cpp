// Host side of the textbook variants.

#include "reduce_table.hpp"

#include <concord/internal/launch.hpp>

#include <bit>

namespace concord::detail {
namespace {

// Reduces each `factor` elements to one, level by level, until one element is left. Two scratch buffers alternate.
void run_levels(Stream& stream, const ReduceProblem& p, const char* entry, HostKernel ReduceHost::*host,
                u64 factor) {
    Device& device = stream.device();
    const auto step = reduce_kernel(device, p, ReduceSource::steps, entry, host);
    const u32 group_size = group_size_of(device, reduce_group);
    std::shared_ptr<Buffer> from, to;
    View in = p.in;
    while (true) {
        const u64 groups = divide_up(in.count, factor);
        View out = p.out;
        if (groups > 1) {
            to = stream.scratch(groups * size_of(in.type));
            out = {to.get(), 0, groups, in.type};
        }
        launch(stream, *step, LaunchShape::linear(groups, group_size), in, out, in.count, p.identity,
               p.values);
        if (groups == 1) return;
        in = out;
        from = std::move(to);
    }
}

}  // namespace

void run_reduce_interleaved(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_interleaved", &ReduceHost::interleaved, reduce_group);
}

void run_reduce_sequential(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_sequential", &ReduceHost::sequential, reduce_group);
}

void run_reduce_first_add(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_first_add", &ReduceHost::first_add, 2 * reduce_group);
}

void run_reduce_shuffle(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_shuffle", &ReduceHost::first_add, 2 * reduce_group);
}

void run_reduce_global_tree(Stream& stream, const ReduceProblem& p) {
    Device& device = stream.device();
    const auto step =
        reduce_kernel(device, p, ReduceSource::steps, "reduce_global_step", &ReduceHost::global_step);
    const auto copy = stream.scratch(p.in.bytes());
    stream.copy(*copy, 0, *p.in.buffer, p.in.offset, p.in.bytes());
    const View x{copy.get(), 0, p.in.count, p.in.type};
    for (u64 n = p.in.count; n > 1;) {
        const u64 half = std::bit_ceil(n) / 2;
        launch_elements(stream, *step, n - half, reduce_group, p.values, x, n, half);
        n = half;
    }
    stream.copy(*p.out.buffer, p.out.offset, *copy, 0, size_of(p.in.type));
}

void run_reduce_serial(Stream& stream, const ReduceProblem& p) {
    const auto serial =
        reduce_kernel(stream.device(), p, ReduceSource::steps, "reduce_serial", &ReduceHost::serial);
    launch(stream, *serial, LaunchShape::linear(1, 1), p.in, p.out, p.in.count, p.identity, p.values);
}

}  // namespace concord::detail
