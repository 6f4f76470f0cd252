#include "histogram_variants.hpp"

#include <algorithm>

namespace concord {
namespace detail {
namespace {

Support supports_any(const Device& device, const HistogramProblem& p) {
    for (const Type type : p.op.bound) {  // exact bins compute in f64
        if (Support bound = supports_type(device, type); !bound) return bound;
    }
    if (p.expression) {
        if (Support input = supports_input(device, p.input()); !input) return input;
    }
    return supports_type(device, p.in.type);
}

Support supports_at_most_2_30(u64 bins) {
    if (bins <= max_narrow_bins) return {};
    return Support::no("supports at most 2^30 bins, got {}", bins);
}

Support supports_local(const Device& device, const HistogramProblem& p, u64 bytes) {
    constexpr u32 min_items = 256;
    if (Support group = supports_group(device, min_items); !group) return group;
    if (bytes > local_budget(device))
        return Support::no("{} bins need {} bytes of local memory per group; {} has {}", p.bins(), bytes,
                           device.info().selector, local_budget(device));
    return supports_any(device, p);
}

Support supports_private(const Device& device, const HistogramProblem& p) {
    if (Support bins = supports_at_most_2_30(p.bins()); !bins) return bins;
    const u64 bytes = private_rows(device, p).bytes(),
              most = std::min(device.traits().max_allocation, device.traits().global_memory / 4);
    if (bytes > most)
        return Support::no("tables need {} bytes; the limit on {} is {}", bytes, device.info().selector,
                           most);
    return supports_any(device, p);
}

Support supports_global(const Device& device, const HistogramProblem& p) {
    constexpr u32 group_size = 256;
    if (Support group = supports_group(device, group_size); !group) return group;
    return supports_any(device, p);
}

Support supports_sorted(const Device& device, const HistogramProblem& p) {
    if (Support bins = supports_at_most_2_30(p.bins()); !bins) return bins;
    // The samples' bins and their sort.
    if (Support scratch = supports_scratch(device, 2 * sizeof(u32) * p.in.count); !scratch) return scratch;
    return supports_global(device, p);
}

Support supports_multi_copy(const Device& device, const HistogramProblem& p) {
    return supports_local(device, p, p.bins() * 4 * std::max<u64>(2, multi_copies(device, p)));
}

Support supports_shared(const Device& device, const HistogramProblem& p) {
    return supports_local(device, p, p.bins() * 4);
}

Support supports_packed(const Device& device, const HistogramProblem& p) {
    return supports_local(device, p, divide_up(p.bins(), 2) * 4);
}

Support supports_passes(const Device& device, const HistogramProblem& p) {
    return supports_local(device, p, 4);
}

// With fewer samples, clearing and adding private tables takes longer than counting.
constexpr u64 few_samples = 1024;

bool suits_private(const Device& device, const HistogramProblem& p) {
    constexpr u64 always = u64{64} << 20;
    return p.in.count > few_samples && private_rows(device, p).bytes() <= std::max(always, p.in.bytes());
}

// Each group adds its row of counts to the counters. Few samples do not repay this cost.
bool suits_rows(const Device& /*device*/, const HistogramProblem& p) {
    return p.in.count > p.bins();
}

// Variants that read the samples in one kernel compute an expression there.
constexpr Implementation<HistogramProblem> private_bins{
    .run = run_histogram_private_bins, .supports = supports_private, .suits = suits_private};
constexpr Implementation<HistogramProblem> global_atomic{.run = run_histogram_global_atomic,
                                                         .supports = supports_global};

// A variant for groups of many work-items. `auto` never prefers it on CPUs.
constexpr Row<HistogramProblem> row_of(const Variant& variant,
                                       const Implementation<HistogramProblem>& groups) {
    Implementation<HistogramProblem> others = groups;
    others.suits = [](const Device&, const HistogramProblem&) { return false; };
    return {.variant = variant,
            .groups = groups,
            .single_items = others,
            .host = others,
            .computes_input = groups.run != run_histogram_sorted};
}

constexpr std::string_view podlozhnyuk = "V. Podlozhnyuk, Histogram calculation in CUDA, 2007";

constexpr auto table = table_of<HistogramProblem>({
    {.variant = {.name = "private_bins",
                 .summary =
                     "private tables per task, several against equal neighbours; one work-item per group",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .single_items = private_bins,
     .host = private_bins,
     .computes_input = true},
    row_of(
        {.name = "multi_copy",
         .summary = "several copies of the counters per group in local memory, up to one per lane of a warp",
         .order = OperationOrder::canonical,
         .source = "J. Gomez-Luna et al., An optimized approach to histogram computation on GPU, 2013"},
        {.run = run_histogram_multi_copy,
         .supports = supports_multi_copy,
         .suits =
             [](const Device& device, const HistogramProblem& p) {
                 constexpr u64 few = 4096;
                 return p.bins() <= few && suits_rows(device, p);
             }}),
    row_of({.name = "shared_atomic",
            .summary = "one private copy of the counters per group in local memory, added to the result once",
            .order = OperationOrder::canonical,
            .source = podlozhnyuk},
           {.run = run_histogram_shared_atomic, .supports = supports_shared, .suits = suits_rows}),
    row_of({.name = "packed16",
            .summary = "two 16-bit counters per word in local memory, spilled before they overflow",
            .order = OperationOrder::canonical,
            .source = "Concord"},
           {.run = run_histogram_packed16, .supports = supports_packed, .suits = suits_rows}),
    row_of({.name = "passes",
            .summary = "a range of bins per group in local memory; groups of all ranges read a part of "
                       "the samples together",
            .order = OperationOrder::canonical,
            .source = "textbook"},
           {.run = run_histogram_passes,
            .supports = supports_passes,
            .suits =
                [](const Device& device, const HistogramProblem& p) {
                    constexpr u64 few = 16;
                    return suits_rows(device, p) && pass_count(device, p.bins()) <= few;
                }}),
    row_of({.name = "sorted",
            .summary = "sorts bin numbers by coarse bin, then counts each coarse bin in local memory",
            .order = OperationOrder::canonical,
            .source = "textbook"},
           {.run = run_histogram_sorted,
            .supports = supports_sorted,
            .suits =
                [](const Device& device, const HistogramProblem& p) {
                    return suits_rows(device, p) && p.out.bytes() > device.traits().cache;
                }}),
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {.run = run_histogram_serial,
              .supports = supports_any,
              .suits = [](const Device&, const HistogramProblem& p) { return p.in.count <= few_samples; }},
     .computes_input = true},
    {.variant = {.name = "global_atomic",
                 .summary = "every sample adds to its counter in global memory by an atomic operation",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = global_atomic,
     .single_items = global_atomic,
     .host = global_atomic,
     .computes_input = true},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&histogram_copies_of_group, &histogram_row_gain,
                                       &histogram_tables_of_task, &histogram_tasks_of_unit};

// Checks that do not depend on the bins.
void check_operands(const Stream& stream, const Input& in, const View& counters) {
    check_input("histogram", "in", stream, in);
    check_output("histogram", "counters", stream, counters);
    check_counter_type("histogram", counters.type);
    if (counters.count == 0)
        throw Error(ErrorCode::invalid_argument, "histogram",
                    "no counters, got a range of 0; pass at least one");
    check_input_overlap("histogram", {"counters", counters}, "in", in);
}

}  // namespace

void check_counter_type(std::string_view call, Type type) {
    if (type == Type::u16 || type == Type::u32 || type == Type::u64) return;
    throw Error(ErrorCode::invalid_argument, call,
                error_message("counters must be u16, u32 or u64", name_of(type)));
}

Enqueued histogram(Stream& stream, const HistogramProblem& p, const Options& options) {
    const Input in = p.input();
    check_operands(stream, in, p.out);
    // Tables name variants for ranges.
    const Row<HistogramProblem>& row =
        in.node ? choose("histogram", table, stream.device(), p, options)
                : choose_tuned("histogram", table, stream.device(), p, point_of(p), options);
    if (p.in.count == 0 || p.nothing) {
        const u64 zero = 0;
        stream.fill(*p.out.buffer, p.out.offset, p.out.bytes(), &zero, size_of(p.out.type));
    } else if (in.node && !row.computes_input) {
        std::shared_ptr<Buffer> room;
        row.run(stream, p.on(materialized(stream, in, room)));
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

Enqueued histogram(Stream& stream, const Input& in, const View& counters, const HistogramBins& bins,
                   const Options& options) {
    check_operands(stream, in, counters);
    if (const HistogramEdges* edges = bins.edges()) {
        const InputInMemory samples(stream, "histogram", in, counters, options);
        const FoundBins found = find_bins(stream, samples.view(), *edges, counters.count);
        return samples.with_order(
            histogram(stream, Input(found.view), counters, HistogramBins::identity(), options));
    }
    const Type type = in.view.type;
    const ResolvedBins resolved = resolve(bins, type, counters.count);
    if (resolved.op == nullptr)
        return histogram(stream, in, counters, edges_of_exact(bins, type, counters.count), options);
    return histogram(stream,
                     {.in = in.view,
                      .out = counters,
                      .op = *resolved.op,
                      .values = {std::span(resolved.values).first(resolved.size)},
                      .host = resolved.host,
                      .nothing = resolved.nothing,
                      .expression = in.node},
                     options);
}

}  // namespace detail

constinit const Algorithm histogram_algorithm{
    .name = "histogram",
    .summary = "counters[b] = number of i with bin(in[i]) == b",
    .variants = detail::variants,
    .tunables = detail::tunables,
    .tuning_label = "log2bins"};  // log2 of the number of bins, rounded up

Enqueued histogram(Stream& stream, const View& in, const View& counters, const HistogramBins& bins,
                   const Options& options) {
    return detail::histogram(stream, detail::Input(in), counters, bins, options);
}

}  // namespace concord
