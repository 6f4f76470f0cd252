// Host side of the textbook variants.

#include "scan_table.hpp"

#include <concord/internal/launch.hpp>

#include <bit>

namespace concord::detail {
namespace {

// The first `count` elements of a scratch buffer, in the problem's type.
View elements(const std::shared_ptr<Buffer>& buffer, u64 count, const ScanProblem& p) {
    return {buffer.get(), 0, count, p.type()};
}

// Scans blocks of `block` elements, then the blocks' sums by the same kernels, and combines each block with its
// carry.
void run_blocks(Stream& stream, const ScanProblem& p, const char* entry, HostKernel ScanHost::*host,
                u64 block) {
    Device& device = stream.device();
    const auto scan = scan_kernel(device, p, ScanSource::steps, entry, host);
    const u64 n = p.in.count, groups = divide_up(n, block);
    const auto buffer = stream.scratch(groups * size_of(p.type()));
    const View sums = elements(buffer, groups, p);
    launch(stream, *scan, LaunchShape::linear(groups, group_size_of(device, scan_group)), p.in, p.out, sums,
           n, p.exclusive(), p.identity, p.values);
    if (groups == 1) return;
    run_blocks(stream,
               {.in = sums,
                .out = sums,
                .op = p.op,
                .values = p.values,
                .identity = p.identity,
                .kind = ScanKind::exclusive,
                .host = p.host},
               entry, host, block);
    const auto offsets = scan_kernel(device, p, ScanSource::steps, "scan_offsets", &ScanHost::offsets);
    launch_elements(stream, *offsets, n, scan_group, p.values, p.out, sums, n, block);
}

}  // namespace

void run_scan_hillis_steele(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const auto step = scan_kernel(device, p, ScanSource::steps, "scan_step", &ScanHost::step);
    const u64 n = p.in.count;
    View x = p.in;
    std::shared_ptr<Buffer> from, to;  // alternate
    for (u64 distance = 1; distance < n; distance *= 2) {
        if (!to) to = stream.scratch(p.in.bytes());
        const View y = elements(to, n, p);
        launch_elements(stream, *step, n, scan_group, p.values, x, y, n, distance);
        x = y;
        std::swap(from, to);
    }
    if (p.kind == ScanKind::exclusive) {
        if (n == 1) {  // x may be out
            stream.fill(*p.out.buffer, p.out.offset, p.out.bytes(), p.identity.bytes.data(),
                        size_of(p.type()));
            return;
        }
        const auto shift = scan_kernel(device, p, ScanSource::steps, "scan_shift", &ScanHost::shift);
        launch_elements(stream, *shift, n, scan_group, p.values, x, p.out, n, p.identity);
    } else if (!overlap(x, p.out)) {
        stream.copy(*p.out.buffer, p.out.offset, *x.buffer, x.offset, x.bytes());
    }
}

void run_scan_blelloch(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count, whole = std::bit_ceil(n);
    const u32 size = size_of(p.type());
    const auto up = scan_kernel(device, p, ScanSource::steps, "scan_up_sweep", &ScanHost::up_sweep);
    const auto down = scan_kernel(device, p, ScanSource::steps, "scan_down_sweep", &ScanHost::down_sweep);
    const auto buffer = stream.scratch(whole * size);
    const View x = elements(buffer, whole, p);
    stream.copy(*buffer, 0, *p.in.buffer, p.in.offset, p.in.bytes());
    if (whole > n) stream.fill(*buffer, n * size, (whole - n) * size, p.identity.bytes.data(), size);
    for (u64 distance = 1; distance < whole; distance *= 2) {
        const u64 nodes = whole / (2 * distance);
        launch_elements(stream, *up, nodes, scan_group, p.values, x, nodes, distance);
    }
    stream.fill(*buffer, (whole - 1) * size, size, p.identity.bytes.data(), size);
    for (u64 distance = whole / 2; distance > 0; distance /= 2) {
        const u64 nodes = whole / (2 * distance);
        launch_elements(stream, *down, nodes, scan_group, p.values, x, nodes, distance);
    }
    if (p.kind == ScanKind::exclusive) {
        stream.copy(*p.out.buffer, p.out.offset, *buffer, 0, p.out.bytes());
    } else {
        const auto join = scan_kernel(device, p, ScanSource::steps, "scan_join", &ScanHost::join);
        launch_elements(stream, *join, n, scan_group, p.values, x, p.in, p.out, n);
    }
}

void run_scan_kogge_stone(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_kogge_stone", &ScanHost::kogge_stone, scan_group);
}

void run_scan_brent_kung(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_brent_kung", &ScanHost::brent_kung, 2 * scan_group);
}

void run_scan_recursive(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_recursive", &ScanHost::recursive, 2 * scan_group);
}

void run_scan_conflict_free(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_conflict_free", nullptr, 2 * scan_group);
}

void run_scan_recursive_vector(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_recursive_vector", &ScanHost::recursive_vector, 8 * scan_group);
}

}  // namespace concord::detail
