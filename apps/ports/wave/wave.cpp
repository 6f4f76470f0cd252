// Wave equation in two dimensions
//
// A leapfrog step of second order in time and space on a grid of width x height points:
//
//     next = 2 now - next + c (left + right + above + below - 4 now)
//
// Before a step, `next` holds the field before `now`. After it the two buffers change places. Points on the boundary
// stay.
//
// The original has a thread per point, and threads on the boundary return. The port covers the inner points only, with
// (width - 2) x (height - 2) work-items: its rows have no condition, so that the CPU vectorises them. `x` and `y` are
// the index, which the original computes from blockIdx and threadIdx. The other parameters and the arithmetic stay.
//
// The check runs 10 steps on random fields and compares all bits with plain loops. Sizes are odd, narrow, and larger
// than a tile of the CPU. Bits show wrong terms, and also terms in another order.

#include "../port.hpp"

#include "original.hpp"

using namespace ports;

// clang-format off
CONCORD_KERNEL(wave, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width),
    const u64 i = (y + 1) * width + x + 1;
    const f32 sum = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
    next[i] = 2 * now[i] - next[i] + c * (sum - 4 * now[i]);)
// clang-format on

namespace {

// Planted faults. 1: off by one, so that a column of the boundary moves and a column inside does not.
CONCORD_KERNEL(wave_shifted, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width),
               const u64 i = (y + 1) * width + x;
               const f32 sum = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
               next[i] = 2 * now[i] - next[i] + c * (sum - 4 * now[i]);)
// 2: the sign of the previous field.
CONCORD_KERNEL(wave_sign, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width),
               const u64 i = (y + 1) * width + x + 1;
               const f32 sum = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
               next[i] = 2 * now[i] + next[i] + c * (sum - 4 * now[i]);)
// 3: the point above twice, in place of the one below. A symmetric field would not show it.
CONCORD_KERNEL(wave_above, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width),
               const u64 i = (y + 1) * width + x + 1;
               const f32 sum = now[i - 1] + now[i + 1] + now[i - width] + now[i - width];
               next[i] = 2 * now[i] - next[i] + c * (sum - 4 * now[i]);)
// 4: the terms in another order. Only the last bits differ.
CONCORD_KERNEL(wave_order, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width),
               const u64 i = (y + 1) * width + x + 1;
               const f32 sum = now[i - width] + now[i + width] + now[i - 1] + now[i + 1];
               next[i] = 2 * now[i] - next[i] + c * (sum - 4 * now[i]);)
// 5: the buffers do not change places, see steps().

constexpr f32 c = 0.2f;

void step(Stream& stream, const Array<f32>& next, const Array<f32>& now, u64 width, u64 height, u32 fault) {
    const Extents<2> inner{width - 2, height - 2};
    switch (fault) {
        case 1:
            wave_shifted(stream, inner, next, now, c, width);
            break;
        case 2:
            wave_sign(stream, inner, next, now, c, width);
            break;
        case 3:
            wave_above(stream, inner, next, now, c, width);
            break;
        case 4:
            wave_order(stream, inner, next, now, c, width);
            break;
        default:
            wave(stream, inner, next, now, c, width);
    }
}

// Several steps. The result is in a[count % 2].
void steps(Stream& stream, const Array<f32> (&a)[2], u64 width, u64 height, u64 count, u32 fault) {
    for (u64 i = 0; i < count; ++i) {
        const u64 to = fault == 5 ? 1 : (i + 1) % 2;
        step(stream, a[to], a[1 - to], width, height, fault);
    }
}

std::vector<f32> reference(std::vector<f32> now, std::vector<f32> next, u64 width, u64 height, u64 count) {
    for (u64 step = 0; step < count; ++step) {
        for (u64 y = 1; y + 1 < height; ++y) {
            for (u64 x = 1; x + 1 < width; ++x) {
                const u64 i = y * width + x;
                const f32 sum = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
                next[i] = 2 * now[i] - next[i] + c * (sum - 4 * now[i]);
            }
        }
        std::swap(now, next);
    }
    return now;
}

// The original, compiled for CUDA at run time.
const KernelSource original{"wave", {{"original.cu", original_cu}}, {}};
const KernelSpec original_spec{.source = &original, .entry = "wave", .max_group_size = 256};

void original_step(Stream& stream, const Kernel& kernel, const Array<f32>& next, const Array<f32>& now,
                   u64 width, u64 height) {
    LaunchShape shape;
    shape.group_size_x = 32;
    shape.group_size_y = 8;
    shape.groups_x = (width + 31) / 32;
    shape.groups_y = (height + 7) / 8;
    launch(stream, kernel, shape, next, now, c, width, height);
}

void check_port(Stream& stream, Check& result, u32 fault) {
    constexpr std::pair<u64, u64> sizes[] = {{3, 3}, {4, 7}, {33, 17}, {257, 130}, {20001, 4}, {3, 999}};
    for (const auto& [width, height] : sizes) {
        const std::vector<f32> now = random_values(width * height, -1, 1, 1);
        const std::vector<f32> before = random_values(width * height, -1, 1, 2);
        const std::vector<f32> expected = reference(now, before, width, height, 10);
        const std::string what = std::to_string(width) + " x " + std::to_string(height);
        const Array<f32> a[2] = {{stream, now}, {stream, before}};
        steps(stream, a, width, height, 10, fault);
        result.bits(what, expected, a[0].to_host(stream));
        if (stream.device().traits().dialect != Dialect::cuda || fault != 0) continue;
        const auto kernel = stream.device().kernel(original_spec);
        const Array<f32> b[2] = {{stream, now}, {stream, before}};
        for (u64 i = 0; i < 10; ++i)
            original_step(stream, *kernel, b[(i + 1) % 2], b[i % 2], width, height);
        result.bits(what + ", original", expected, b[0].to_host(stream));
    }
}

// The loop that one would write for the CPU.
[[gnu::always_inline]] inline void wave_loop(const Group& part, f32* __restrict next,
                                             const f32* __restrict now, f32 k, u64 width, u64 height) {
    const u64 first = 1 + (height - 2) * part.x / part.count_x;
    const u64 last = 1 + (height - 2) * (part.x + 1) / part.count_x;
    for (u64 y = first; y < last; ++y) {
        for (u64 x = 1; x + 1 < width; ++x) {
            const u64 i = y * width + x;
            const f32 sum = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
            next[i] = 2 * now[i] - next[i] + k * (sum - 4 * now[i]);
        }
    }
}

void measure_port(Stream& stream, Bench& result) {
    for (const u64 side : {u64{512}, u64{8192}}) {
        const u64 points = side * side;
        result.work("wave, " + std::to_string(side) + " x " + std::to_string(side) + " points", points,
                    12 * points);
        std::vector<f32> now = random_values(points, -1, 1, 1), next = now;
        const Array<f32> a[2] = {{stream, now}, {stream, next}};
        result.row("CONCORD_KERNEL", [&] { step(stream, a[1], a[0], side, side, 0); });
        if (result.has_cuda()) {
            const auto kernel = stream.device().kernel(original_spec);
            result.row("original CUDA kernel",
                       [&] { original_step(stream, *kernel, a[1], a[0], side, side); });
        }
        f32* const to = next.data();
        const f32* const from = now.data();
        result.loop("C++ loop", host_kernel<&wave_loop>(), to, from, c, side, side);
    }
}

}  // namespace

int main(int argc, char** argv) {
    return run(
        argc, argv,
        Port{"wave", 5, check_port, measure_port, [] { return concord::check(wave); }, {original_spec}});
}
