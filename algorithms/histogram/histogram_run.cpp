// The host side of the variants: kernels, numbers of groups, local memory and launches.

#include "histogram_sources.hpp"
#include "histogram_variants.hpp"

#include "histogram_count.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/sort.hpp>

#include <cmath>

namespace concord {

namespace detail {
namespace {

// Work-items of a group that counts in local memory. The second number applies where the compiler does not bound
// registers: NVIDIA's OpenCL does not support larger groups for these kernels.
constexpr u32 private_group_size = 1024, portable_group_size = 256;
constexpr u32 global_group_size = 256;  // work-items of a group that counts in global memory
// Copies of the counters in local memory: at most this many bytes, so that a unit holds at least two groups, and at
// most one copy per lane of a warp, so that no two lanes conflict on a bank.
constexpr u64 max_copy_bytes = u64{32} << 10;
constexpr u32 max_copies = 32;
constexpr u64 share_bits = 31;  // log2 of the samples per group, which are counted in 32 bits
// Samples that are worth a group in C++. Waking a thread of oneTBB costs as much as counting that many.
constexpr u64 host_share = u64{1} << 16;

u32 default_group_size(const Device& device) {
    const DeviceTraits& traits = device.traits();
    const u32 most = traits.bounds_registers ? private_group_size : portable_group_size;
    return std::min(most, std::bit_floor(traits.max_group_size));
}

struct KernelShape {
    const KernelSource* source = nullptr;  // null for host kernels
    u32 group_size = 1;
    u32 copies = 1;
    bool passes = false;
    u32 words = 1;   // words of 32 bits per counter in global memory
    u32 unroll = 4;  // accesses of 16 bytes in flight per work-item
};

bool is_wide(const HistogramProblem& p) {
    return p.bins() > max_narrow_bins;
}

std::shared_ptr<Kernel> kernel(Device& device, const HistogramProblem& p, const char* entry,
                               const KernelShape& shape, HostKernel HistogramKernels::*host) {
    const Type type = p.in.type;
    const bool narrow = !is_wide(p) && size_of(p.op.result) < 8;
    KernelSpec spec{.source = shape.source != nullptr ? &with_input(*shape.source, p.input()) : nullptr,
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"SIZE", size_of(type)},
                                  {"BIN", narrow ? Type::u32 : Type::u64},
                                  {"WORDS", shape.words},
                                  {"GROUP", shape.group_size},
                                  {"COPIES", shape.copies},
                                  {"UNROLL", shape.unroll},
                                  {"PASSES", shape.passes}},
                    .op = &p.op,
                    .host = histogram_kernels(is_wide(p)).*host,
                    .max_group_size = shape.group_size};
    return device.kernel(spec);
}

// A kernel that depends on the type of the counters, not on samples or bins.
std::shared_ptr<Kernel> counter_kernel(Device& device, const HistogramProblem& p, const char* entry,
                                       const KernelShape& shape, HostKernel HistogramKernels::*host) {
    const Type type = p.out.type;
    KernelSpec spec{.source = shape.source,
                    .entry = entry,
                    .constants = {{"COUNTER", type}, {"WORDS", shape.words}, {"GROUP", shape.group_size}},
                    .host = histogram_kernels(false).*host,
                    .max_group_size = shape.group_size};
    return device.kernel(spec);
}

// The bin function as an argument of host kernels.
host::BlockFunction bin_function(const Device& device, const HistogramProblem& p) {
    const HostIsa isa = device.traits().host_isa;
    const HostKernel& function = is_wide(p) ? p.host->wide : p.host->narrow;
    return {.entry = function.entry(isa), .isa = isa};
}

bool is_host(const Device& device) {
    return device.traits().launch == LaunchModel::host;
}

// Launches a kernel that reads the input and calls the bin function. In C++ it is an argument, with the samples' size.
template <class... A>
void launch_bins(Stream& stream, const Kernel& kernel, const HistogramProblem& p, const LaunchShape& shape,
                 const A&... arguments) {
    const InputArguments in(p.input());
    if (!is_host(stream.device())) return in.launch(stream, kernel, shape, arguments..., p.values);
    in.launch(stream, kernel, shape, arguments..., size_of(p.in.type),
              bin_function(stream.device(), p).argument(), p.values);
}

// Where groups add their counts: the counters themselves as words of 32 bits, or scratch memory for counters of 16
// bits. All words are zero at first.
struct Counts {
    std::shared_ptr<Buffer> scratch;
    View view;
    u32 words;
};

Counts make_counts(Stream& stream, const HistogramProblem& p) {
    Counts counts;
    if (p.out.type == Type::u16) {
        counts.words = p.in.count >> 32 == 0 ? 1 : 2;
        counts.scratch = stream.scratch(p.bins() * counts.words * 4);
        counts.view = {counts.scratch.get(), 0, p.bins() * counts.words, Type::u32};
    } else {
        counts.words = size_of(p.out.type) / 4;
        counts.view = {p.out.buffer, p.out.offset, p.bins() * counts.words, Type::u32};
    }
    const u32 zero = 0;
    stream.fill(*counts.view.buffer, counts.view.offset, counts.view.bytes(), &zero, sizeof zero);
    return counts;
}

void finish(Stream& stream, const HistogramProblem& p, const Counts& counts) {
    if (p.out.type != Type::u16) return;
    const auto saturate = counter_kernel(stream.device(), p, "histogram_saturate",
                                         {.source = &kernel_sources::histogram_saturate(),
                                          .group_size = global_group_size,
                                          .words = counts.words},
                                         &HistogramKernels::saturate);
    launch_elements(stream, *saturate, p.bins(), global_group_size, NoOperator{}, counts.view, p.out,
                    p.bins(), counts.words);
}

// The number of groups that count in `bytes` of local memory each. Each adds a row of `held` counters to the
// result. One wave of resident groups, or fewer if a group's share of the samples would not repay its row.
u64 group_count(const Device& device, const Kernel& kernel, const HistogramProblem& p, u64 held, u64 bytes,
                u32 group_size) {
    const u64 n = p.in.count;
    const DeviceTraits& traits = device.traits();
    const u64 least = (n >> share_bits) + 1;
    if (is_host(device))
        return std::max(least,
                        std::min<u64>(u64{traits.units} * 4, divide_up(n, std::max(host_share, held))));
    u64 resident = std::max<u64>(1, traits.max_resident_items / group_size);
    if (const i64 known = kernel.attributes().groups_per_unit; known > 0) {
        // The device reserves 1 KiB per group.
        constexpr u64 reserved = 1024;
        resident = std::min({resident, static_cast<u64>(known),
                             std::max<u64>(1, (traits.local_memory + reserved) / (bytes + reserved))});
    }
    // On the whole device, a row costs about as much as counting 1 / histogram_row_gain of its length in samples.
    const auto gain = static_cast<f64>(tuned(device, histogram_row_gain, point_of(p), 32));
    const auto worth = static_cast<u64>(std::sqrt(gain * static_cast<f64>(n) / static_cast<f64>(held)));
    const u64 work = divide_up(n, u64{group_size} * (16 / size_of(p.in.type)));
    return std::max(least, std::min({resident * traits.units, worth + 1, work}));
}

// Accesses in flight per work-item. Short inputs take fewer of them, so that every group has samples: at least two
// steps per work-item if the device is full.
u32 unroll_for(const Device& device, const HistogramProblem& p, u64 passes) {
    constexpr u64 most = 4, steps = 2;
    const u64 items = u64{device.traits().units} * device.traits().max_resident_items;
    const u64 pack = 16 / size_of(p.in.type);
    const u64 each = p.in.count * passes / std::max<u64>(1, items * pack);
    return static_cast<u32>(std::clamp<u64>(std::bit_floor(each / steps), 1, most));
}

void run_private(Stream& stream, const HistogramProblem& p, u32 copies, u64 passes) {
    Device& device = stream.device();
    const Counts counts = make_counts(stream, p);
    const u32 group_size = default_group_size(device);
    const auto count = kernel(device, p, "histogram_private",
                              {.source = &kernel_sources::histogram(),
                               .group_size = group_size,
                               .copies = copies,
                               .passes = passes > 1,
                               .words = counts.words,
                               .unroll = unroll_for(device, p, passes)},
                              &HistogramKernels::local);
    const u64 range = divide_up(p.bins(), passes), bytes = range * copies * 4, n = p.in.count;
    u64 groups = group_count(device, *count, p, range, bytes, group_size);
    // Groups of all passes over a part of the samples run together, so one of them brings it into the cache for
    // all.
    if (passes > 1) groups = std::max((n >> share_bits) + 1, groups / passes) * passes;
    launch_bins(stream, *count, p, LaunchShape::linear(groups, group_size_of(device, group_size), bytes),
                counts.view, n, p.bins(), range, passes, copies, counts.words);
    finish(stream, p, counts);
}

}  // namespace

u64 local_budget(const Device& device) {
    return device.traits().local_memory;
}

TuningPoint point_of(const HistogramProblem& p) {
    return {p.in.type, p.in.count, static_cast<u64>(std::bit_width(std::max<u64>(1, p.bins()) - 1))};
}

u64 multi_copies(const Device& device, const HistogramProblem& p) {
    const u64 budget = std::min(max_copy_bytes, local_budget(device)), bins = p.bins();
    for (u64 copies = tuned(device, histogram_copies_of_group, point_of(p), max_copies); copies > 1;
         copies /= 2) {
        if (bins <= budget / (copies * 4)) return copies;
    }
    return bins <= local_budget(device) / 8 ? 2 : 0;
}

u64 pass_count(const Device& device, u64 bins) {
    // At least two: one pass would be shared_atomic.
    return std::max<u64>(2, divide_up(bins, local_budget(device) / 4));
}

PrivateRows private_rows(const Device& device, const HistogramProblem& p) {
    const u64 n = p.in.count, bins = p.bins();
    constexpr u64 line = 16;
    // Other drivers than oneTBB wake their threads at every launch.
    const u64 min_share = is_host(device) ? host_share : u64{1} << 13;
    // Several tables, while they fit the core's private cache, so that equal samples do not wait for each other's
    // counter.
    const u32 tables = static_cast<u32>(tuned(device, histogram_tables_of_task, point_of(p),
                                              bins <= 512     ? 8
                                              : bins <= 2048  ? 4
                                              : bins <= 32768 ? 2
                                                              : 1));
    const u64 tasks_a_unit = tuned(device, histogram_tasks_of_unit, point_of(p), bins <= 16384 ? 4 : 1);
    const u64 share = std::max(min_share, bins);
    const u64 tasks = std::max((n >> share_bits) + 1,
                               std::min(u64{device.traits().units} * tasks_a_unit, divide_up(n, share)));
    return {tasks, (bins + 1 + line - 1) / line * line + line, tables};
}

void run_histogram_private_bins(Stream& stream, const HistogramProblem& p) {
    Device& device = stream.device();
    const PrivateRows rows = private_rows(device, p);
    const auto scratch = stream.scratch(rows.bytes());
    const View view{scratch.get(), 0, rows.bytes() / 4, Type::u32};
    const auto host = size_of(p.in.type) == 1 ? &HistogramKernels::bytes : &HistogramKernels::bins;
    const auto count = kernel(device, p, "histogram_bins",
                              {.source = &kernel_sources::histogram_bins(), .copies = rows.tables}, host);
    launch_bins(stream, *count, p, LaunchShape::linear(rows.tasks, 1), view, p.in.count, p.bins(),
                rows.stride, rows.tables);
    const auto merge =
        counter_kernel(device, p, "histogram_merge", {.source = &kernel_sources::histogram_merge()},
                       &HistogramKernels::merge);
    launch(stream, *merge, LaunchShape::linear(divide_up(p.bins(), host::histogram_merge_tile), 1), view,
           p.out, p.bins(), u64{rows.stride * rows.tables}, rows.tasks, size_of(p.out.type));
}

void run_histogram_multi_copy(Stream& stream, const HistogramProblem& p) {
    run_private(stream, p, static_cast<u32>(multi_copies(stream.device(), p)), 1);
}

void run_histogram_shared_atomic(Stream& stream, const HistogramProblem& p) {
    run_private(stream, p, 1, 1);
}

void run_histogram_passes(Stream& stream, const HistogramProblem& p) {
    run_private(stream, p, 1, pass_count(stream.device(), p.bins()));
}

void run_histogram_packed16(Stream& stream, const HistogramProblem& p) {
    Device& device = stream.device();
    const Counts counts = make_counts(stream, p);
    const u32 group_size = default_group_size(device);
    const auto count =
        kernel(device, p, "histogram_packed16",
               {.source = &kernel_sources::histogram(), .group_size = group_size, .words = counts.words},
               &HistogramKernels::packed16);
    const u64 bytes = divide_up(p.bins(), 2) * 4, n = p.in.count;
    const u64 groups = group_count(device, *count, p, p.bins(), bytes, group_size);
    launch_bins(stream, *count, p, LaunchShape::linear(groups, group_size_of(device, group_size), bytes),
                counts.view, n, p.bins(), counts.words);
    finish(stream, p, counts);
}

void run_histogram_global_atomic(Stream& stream, const HistogramProblem& p) {
    Device& device = stream.device();
    const Counts counts = make_counts(stream, p);
    const auto count = kernel(device, p, "histogram_global",
                              {.source = &kernel_sources::histogram_global(),
                               .group_size = global_group_size,
                               .words = counts.words},
                              &HistogramKernels::global);
    constexpr u64 max_groups = u64{1} << 22;
    const u64 groups =
        std::min(max_groups, divide_up(p.in.count, is_host(device) ? host_share : u64{global_group_size}));
    launch_bins(stream, *count, p, LaunchShape::linear(groups, group_size_of(device, global_group_size)),
                counts.view, p.in.count, p.bins(), counts.words);
    finish(stream, p, counts);
}

void run_histogram_sorted(Stream& stream, const HistogramProblem& p) {
    Device& device = stream.device();
    const Counts counts = make_counts(stream, p);
    // The counters of a coarse bin fit local memory and a private cache.
    constexpr u64 max_fine = 8192;
    const u32 shift = static_cast<u32>(std::bit_width(std::min(max_fine, local_budget(device) / 4))) - 1;
    const u64 n = p.in.count, bins = p.bins(), fine = u64{1} << shift;
    const u32 coarse = static_cast<u32>(divide_up(bins, fine));
    const auto id_buffer = stream.scratch(n * sizeof(u32)),
               position_buffer = stream.scratch((u64{coarse} + 1) * sizeof(u64));
    const View ids{id_buffer.get(), 0, n, Type::u32},
        positions{position_buffer.get(), 0, u64{coarse} + 1, Type::u64};

    const auto find = kernel(device, p, "histogram_ids",
                             {.source = &kernel_sources::histogram_ids(), .group_size = global_group_size},
                             &HistogramKernels::ids);
    const u32 none = coarse << shift;
    if (is_host(device)) {
        launch_elements(stream, *find, n, global_group_size, p.values, p.in, ids, n, bins, none,
                        size_of(p.in.type), bin_function(device, p).argument());
    } else {
        launch_elements(stream, *find, n, global_group_size, p.values, p.in, ids, n, bins, none);
    }
    sort(stream, ids, ids, {.begin_bit = shift, .end_bit = shift + static_cast<u32>(std::bit_width(coarse))});
    const KernelShape shape{.source = &kernel_sources::histogram_sorted(),
                            .group_size = global_group_size,
                            .words = counts.words};
    const auto locate = counter_kernel(device, p, "histogram_positions", shape, &HistogramKernels::positions);
    launch_elements(stream, *locate, positions.count, global_group_size, NoOperator{}, ids, positions, n,
                    coarse, shift);
    // Segments are long enough to repay clearing and adding their counters, and short enough to occupy all units.
    const u64 segment = std::max(8 * fine, divide_up(n, u64{device.traits().units} * 16));
    const auto count = counter_kernel(device, p, "histogram_segments", shape, &HistogramKernels::segments);
    launch(stream, *count,
           LaunchShape::linear(divide_up(n, segment), group_size_of(device, global_group_size),
                               fine * sizeof(u32)),
           ids, positions, counts.view, n, bins, segment, coarse, shift, counts.words);
    finish(stream, p, counts);
}

void run_histogram_serial(Stream& stream, const HistogramProblem& p) {
    const u64 zero = 0;
    stream.fill(*p.out.buffer, p.out.offset, p.out.bytes(), &zero, size_of(p.out.type));
    const auto serial =
        host_kernel_of(stream.device(), "histogram_serial", histogram_kernels(is_wide(p)).serial);
    launch_bins(stream, *serial, p, LaunchShape::linear(1, 1), p.out, p.in.count, p.bins(),
                size_of(p.out.type));
}

}  // namespace detail
}  // namespace concord
