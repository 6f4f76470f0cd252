// The host side of `radix1`, the `radix4` family and `radix8` for kernels compiled from source.

#include "sort_kernels.hpp"

#include <concord/scan.hpp>

#include <algorithm>

namespace concord {

namespace detail {
namespace {

void scan_counts(Stream& stream, const View& counts) {
    scan(stream, counts, counts, ReduceOp::sum, ScanKind::exclusive);
}

// --- radix1, radix4 --------------------------------------------------------------------------------------------------

constexpr u32 group = sort_group;
constexpr u32 chunk_group = 128;  // work-items per group, radix4: their counters fit 32 KiB
constexpr u64 chunk = 64;         // elements per work-item, radix4
constexpr u64 radix4_digits = 16;

struct Radix4Steps {
    bool local = false;   // counters in local memory
    bool vector = false;  // 16 elements per load
};

void run_radix4(Stream& stream, const SortProblem& p, const Radix4Steps& steps) {
    Device& device = stream.device();
    const u64 n = p.count(), items = divide_up(n, chunk);
    const Type type = sort_count_type(p);
    const SortCode code = p.code();
    auto kernel = [&](const char* entry, Values values) {
        return sort_kernel(
            device, p, kernel_sources::sort_radix4(), entry, chunk_group,
            {{"COUNT", type}, {"CHUNK", chunk}, {"COUNTS_LOCALLY", steps.local}, {"VECTOR", steps.vector}},
            values);
    };
    const auto count = kernel("sort_count", Values::ignored), permute = kernel("sort_permute", Values::moved);
    const SortCounts counts(stream, radix4_digits * items, type);
    const LaunchShape shape = LaunchShape::linear(divide_up(items, chunk_group), chunk_group);
    radix_passes(stream, p, 4, [&](const SortElements& from, const SortElements& to, u32 shift, u32 mask) {
        launch(stream, *count, shape, from.keys, counts.view, n, items, shift, mask, code.flip, code.fold);
        scan_counts(stream, counts.view);
        launch(stream, *permute, shape, from.keys, from.values, counts.view, to.keys, to.values, n, items,
               shift, mask, code.flip, code.fold);
    });
}

// --- radix8 ----------------------------------------------------------------------------------------------------------

constexpr u64 radix8_digits = 256;

// Keys per work-item: a tile and its counters fit 32 KiB of local memory, or the tile fits the registers.
u32 radix8_items(const Device& device, const SortProblem& p) {
    if (sort_in_registers(device)) return p.key_size() + p.value_size() <= 8 ? 16 : 10;
    return p.key_size() <= 4 ? 11 : 7;
}

}  // namespace

void run_sort_radix1(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const u64 n = p.count();
    const Type type = sort_count_type(p);
    const SortCode code = p.code();
    auto kernel = [&](const char* entry, Values values) {
        return sort_kernel(device, p, kernel_sources::sort_radix1(), entry, group, {{"COUNT", type}}, values);
    };
    const auto flag = kernel("sort_flags", Values::ignored), split = kernel("sort_split", Values::moved);
    const SortCounts positions(stream, n, type);
    const LaunchShape shape = LaunchShape::linear(divide_up(n, group), group);
    radix_passes(stream, p, 1,
                 [&](const SortElements& from, const SortElements& to, u32 shift, u32 /*mask*/) {
                     launch(stream, *flag, shape, from.keys, positions.view, n, shift, code.flip, code.fold);
                     scan_counts(stream, positions.view);
                     launch(stream, *split, shape, from.keys, from.values, positions.view, to.keys, to.values,
                            n, shift, code.flip, code.fold);
                 });
}

void run_sort_radix4(Stream& stream, const SortProblem& p) {
    run_radix4(stream, p, {});
}
void run_sort_radix4_local(Stream& stream, const SortProblem& p) {
    run_radix4(stream, p, {.local = true});
}
void run_sort_radix4_vector(Stream& stream, const SortProblem& p) {
    run_radix4(stream, p, {.local = true, .vector = true});
}

void run_sort_radix8(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const bool in_registers = sort_in_registers(device);
    const SortCode code = p.code();
    const u32 items = radix8_items(device, p);
    const u64 n = p.count(), tile = u64{group} * items, tiles = divide_up(n, tile);
    const Type type = sort_count_type(p);
    const Constants tunables{{"COUNT", type}, {"ITEMS", items}, {"UNORDERED", 0}};
    auto kernel = [&](const KernelSource& source, const char* entry, Values values) {
        return sort_kernel(device, p, source, entry, group, tunables, values);
    };
    if (!in_registers && tiles == 1) {
        const SortElements in = sort_input(p), out = sort_output(p);
        launch(stream, *kernel(kernel_sources::sort_split_tile(), "sort_one_tile", Values::moved),
               LaunchShape::linear(1, group), in.keys, in.values, out.keys, out.values, static_cast<u32>(n),
               p.by.begin_bit, p.by.end_bit, code.flip, code.fold);
        return;
    }
    const KernelSource& source = kernel_sources::sort_radix8();
    const auto count = kernel(source, "sort_count", Values::ignored),
               scatter = kernel(source, "sort_scatter", Values::moved);
    const SortCounts counts(stream, radix8_digits * tiles, type);
    const u64 staged = !in_registers ? 0 : tile * std::max(p.key_size(), p.value_size());
    radix_passes(stream, p, 8, [&](const SortElements& from, const SortElements& to, u32 shift, u32 mask) {
        launch(stream, *count, LaunchShape::linear(tiles, group), from.keys, counts.view, n, tiles, shift,
               mask, code.flip, code.fold);
        scan_counts(stream, counts.view);
        launch(stream, *scatter, LaunchShape::linear(tiles, group, staged), from.keys, from.values,
               counts.view, to.keys, to.values, n, tiles, shift, mask, code.flip, code.fold);
    });
}

// One work-item per group, for CPUs.
void run_sort_radix8_wide(Stream& stream, const SortProblem& p) {
    constexpr u64 min_chunk = u64{1} << 15;  // elements
    constexpr u64 max_chunk = u64{1} << 31;  // counters have 32 bits
    constexpr u32 line_bytes = 256;          // bytes per digit gathered before they are stored
    Device& device = stream.device();
    const DeviceTraits& traits = device.traits();
    // A launch that wakes all threads costs as much as sorting many elements.
    const u64 n = p.count(), small = tuned(device, sort_small_input, point_of(p), 1 << 15),
              each = tuned(device, sort_chunks, point_of(p), 4);
    const u32 first = p.by.begin_bit, last = p.by.end_bit, in_place = p.in_place() ? 1 : 0;
    const u32 passes = static_cast<u32>(divide_up(last - first, 8));
    const SortCode code = p.code();
    auto kernel = [&](const char* entry, Values values = Values::moved) {
        const u32 line = std::max<u32>(
            32, line_bytes / std::max(p.key_size(), values == Values::moved ? p.value_size() : 0));
        return sort_kernel(device, p, kernel_sources::sort_wide(), entry, 1, {{"LINE", line}}, values);
    };
    const SortElements in = sort_input(p), out = sort_output(p);
    const SortScratch scratch(stream, p, passes > 1 || p.in_place() ? n : 1);
    const SortElements& other = scratch.elements;
    if (n <= small) {
        launch(stream, *kernel("sort_small"), LaunchShape::linear(1, 1), in.keys, in.values, out.keys,
               out.values, other.keys, other.values, n, passes, first, last, in_place, code.flip, code.fold);
        return;
    }
    const u64 most = std::max<u64>(1, std::min<u64>(traits.units * each, n / min_chunk));
    const u64 chunk = std::min(divide_up(divide_up(n, most), 64) * 64, max_chunk),
              chunks = divide_up(n, chunk);
    const SortCounts rows(stream, chunks * passes * radix8_digits, Type::u32),
        counts(stream, chunks * radix8_digits, Type::u32), plan(stream, passes + 1, Type::u32);
    const LaunchShape shape = LaunchShape::linear(chunks, 1);
    // Lines of many digits stay in the cache longer than one stream does, so non-temporal stores begin at larger
    // inputs.
    const u32 non_temporal = p.bytes() > 8 * traits.cache ? 1 : 0;
    launch(stream, *kernel("sort_histograms", Values::ignored), shape, in.keys, rows.view, n, chunk, passes,
           first, last, code.flip, code.fold);
    launch(stream, *kernel("sort_plan", Values::ignored), LaunchShape::linear(1, 1), rows.view, plan.view, n,
           chunks, passes, in_place);
    const auto count = kernel("sort_count", Values::ignored), scatter = kernel("sort_scatter");
    for (u32 pass = 0; pass < passes; ++pass) {
        launch(stream, *count, shape, plan.view, out.keys, other.keys, rows.view, counts.view, n, chunk,
               passes, pass, first, last, code.flip, code.fold);
        launch(stream, *scatter, shape, plan.view, in.keys, in.values, out.keys, out.values, other.keys,
               other.values, counts.view, n, chunk, chunks, pass, first, last, non_temporal, code.flip,
               code.fold);
    }
    if (in_place != 0)
        launch(stream, *kernel("sort_copy_back"), shape, plan.view.part(passes, 1), other.keys, other.values,
               out.keys, out.values, n, chunk);
}

}  // namespace detail
}  // namespace concord
