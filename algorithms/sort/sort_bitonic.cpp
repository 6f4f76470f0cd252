// The host side of the sorting networks: bitonic sort and odd-even transposition.

#include "sort_kernels.hpp"

#include <bit>

namespace concord {

namespace detail::kernel_sources {
extern const SourceFile sort_bitonic_cu, sort_bitonic_cl;
}

namespace detail {
namespace {

constexpr u32 group = 256;
constexpr u32 most_inputs_log2 = 4;  // elements per work-item takes through several columns

const KernelSource& source() {
    static const KernelSource source{
        "sort_bitonic",
        {kernel_sources::sort_keys_cu, kernel_sources::sort_bitonic_cu},
        {kernel_sources::common_cl, kernel_sources::sort_keys_cl, kernel_sources::sort_bitonic_cl}};
    return source;
}

// Elements of a tile in local memory: 16 KiB at most.
u64 tile_of(const SortProblem& p) {
    return p.key_size() + p.value_size() <= 8 ? 2048 : 1024;
}

template <class... A>
void launch_network(Stream& stream, const Kernel& kernel, u64 groups, const SortProblem& p,
                    const A&... arguments) {
    const SortElements out = sort_output(p);
    const SortCode code = p.code();
    launch(stream, kernel, LaunchShape::linear(groups, group), out.keys, out.values, p.count(), arguments...,
           code.flip, code.fold);
}

// One column: comparators of elements `distance` apart, or mirrored in blocks of twice that.
void launch_column(Stream& stream, const SortProblem& p, u64 distance, bool mirrored) {
    const auto kernel = sort_kernel(stream.device(), p, source(), "sort_column", group, {});
    const u64 comparators = divide_up(p.count(), 2 * distance) * distance;
    launch_network(stream, *kernel, divide_up(comparators, group), p, distance, u32{mirrored});
}

// `columns` of them, from that one on.
void launch_columns(Stream& stream, const SortProblem& p, u64 distance, bool mirrored, u32 columns) {
    const u64 inputs = u64{1} << columns, stride = 2 * distance / inputs;
    const auto kernel =
        sort_kernel(stream.device(), p, source(), "sort_columns", group, {{"INPUTS", inputs}});
    const u64 items = divide_up(p.count(), 2 * distance) * stride;
    launch_network(stream, *kernel, divide_up(items, group), p, stride, u32{mirrored});
}

// The columns of a merge of blocks of `length`, those from distance `least` on, several a launch.
void launch_merge(Stream& stream, const SortProblem& p, u64 length, u64 least) {
    bool mirrored = true;
    for (u64 distance = length / 2; distance >= least && distance > 0;) {
        const u32 left = static_cast<u32>(std::bit_width(distance / least));
        const u32 columns = std::min(left, most_inputs_log2);
        launch_columns(stream, p, distance, mirrored, columns);
        distance >>= columns;
        mirrored = false;
    }
}

// The elements to where the network works on them.
void place_elements(Stream& stream, const SortProblem& p) {
    if (!p.in_place()) copy_elements(stream, p, sort_input(p), sort_output(p));
}

// The length of the last merge.
u64 whole_length(const SortProblem& p) {
    return std::bit_ceil(p.count());
}

}  // namespace

Support supports_sort_network(const Device& device, const SortProblem& /*problem*/) {
    return supports_group(device, group);
}

void run_sort_bitonic(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    for (u64 length = 2; length <= whole_length(p); length *= 2) {
        for (u64 distance = length / 2; distance > 0; distance /= 2)
            launch_column(stream, p, distance, distance == length / 2);
    }
}

void run_sort_bitonic_fused(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    for (u64 length = 2; length <= whole_length(p); length *= 2)
        launch_merge(stream, p, length, 1);
}

void run_sort_bitonic_local(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    const u64 tile = tile_of(p);
    const auto kernel =
        sort_kernel(stream.device(), p, source(), "sort_tile_columns", group, {{"TILE", tile}});
    auto within_tiles = [&](u32 whole) {
        launch_network(stream, *kernel, divide_up(p.count(), tile), p, whole);
    };
    within_tiles(1);
    for (u64 length = 2 * tile; length <= whole_length(p); length *= 2) {
        launch_merge(stream, p, length, tile);
        within_tiles(0);
    }
}

void run_sort_odd_even(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    const auto kernel = sort_kernel(stream.device(), p, source(), "sort_column", group, {});
    const SortElements out = sort_output(p);
    const SortCode code = p.code();
    const u64 n = p.count();
    for (u64 column = 0; column < n; ++column) {
        const u64 first = column % 2;
        if (n - first < 2) continue;
        launch(stream, *kernel, LaunchShape::linear(divide_up((n - first) / 2, group), group),
               out.keys.part(first, n - first), p.pairs() ? out.values.part(first, n - first) : out.values,
               n - first, u64{1}, u32{0}, code.flip, code.fold);
    }
}

}  // namespace detail
}  // namespace concord
