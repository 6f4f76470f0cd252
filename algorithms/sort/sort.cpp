#include "sort_table.hpp"

#include <algorithm>

namespace concord {
namespace detail {
namespace {

struct SortRow {
    Variant variant;
    Required<Support(const Device&, const SortProblem&)> supports_apart;
    Required<void(Stream&, const SortProblem&)> run;
    bool bits = false;        // supports a bit range
    bool comparator = false;  // supports a comparator
    u64 most = ~u64{0};       // elements
    /// Whether `auto` prefers it to those further down.
    bool (*suits)(const Device&, const SortProblem&) = nullptr;

    Support supports(const Device& device, const SortProblem& p) const {
        if (p.less != nullptr && !comparator) return Support::no("does not support custom comparators");
        if (p.some_bits() && !bits) return Support::no("does not support bit ranges");
        // Keys alone that are equal are the same, unless a comparator finds them so.
        const bool tells = p.pairs() || p.less != nullptr;
        if (p.by.stable && tells && !variant.stable) return Support::no("not stable");
        if (p.count() > most) return Support::no("supports at most " + std::to_string(most) + " elements");
        return supports_apart(device, p);
    }
};

// Where counting a key's values costs less than sorting it: each thread has counters of its own.
bool suits_counting(const Device& device, const SortProblem& p) {
    constexpr u64 many = u64{1} << 20, of_thread = u64{1} << 17;
    return p.key_size() == 1 || p.count() >= std::min(many, device.traits().units * of_thread);
}

constexpr std::string_view knuth = "D. Knuth, The Art of Computer Programming, vol. 3, 1973";

constexpr SortRow table[] = {
    {.variant = {.name = "onesweep",
                 .summary =
                     "digits of eight bits: counted at once, then one pass each, whose tiles look back",
                 .dialects = {Dialect::cuda},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "A. Adinets, D. Merrill, Onesweep, 2022"},
     .supports_apart = supports_sort_onesweep,
     .run = run_sort_onesweep,
     .bits = true},
    {.variant = {.name = "counting",
                 .summary = "keys of one or two bytes, alone: counted, and written anew",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = knuth},
     .supports_apart = supports_sort_counting,
     .run = run_sort_counting,
     .suits = suits_counting},
    {.variant = {.name = "sample_vqsort",
                 .summary =
                     "keys alone: split at splitters from a sample, then Highway's vectorised quicksort",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "P. Sanders, S. Winkel, Super Scalar Sample Sort, 2004; M. Blacher et al., 2022"},
     .supports_apart = supports_sort_vqsort,
     .run = run_sort_sample_vqsort,
     .suits = suits_sort_vqsort},
    {.variant = {.name = "sample_radix",
                 .summary = "keys alone: split at splitters from a sample, then a radix sort in cache",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "P. Sanders, S. Winkel, Super Scalar Sample Sort, 2004"},
     .supports_apart = supports_sort_sample,
     .run = run_sort_sample_radix},
    {.variant = {.name = "radix8",
                 .summary = "least significant digit first, 8 bits: counts, offsets, scatter",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Satish et al., Fast Sort on CPUs and GPUs, 2010"},
     .supports_apart = supports_sort_radix8,
     .run = run_sort_radix8,
     .bits = true},
    {.variant = {.name = "merge",
                 .summary = "tiles, then runs merged two by two along merge paths; any comparator",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012"},
     .supports_apart = supports_sort_merge,
     .run = run_sort_merge,
     .comparator = true},
    {.variant = {.name = "radix4_vector",
                 .summary = "radix4_local, and keys are loaded 16 at a time",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991"},
     .supports_apart = supports_sort_radix,
     .run = run_sort_radix4_vector,
     .bits = true},
    {.variant = {.name = "radix4_local",
                 .summary = "radix4 with the counts in local memory",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for "
                           "Manycore GPUs, 2009"},
     .supports_apart = supports_sort_radix,
     .run = run_sort_radix4_local,
     .bits = true},
    {.variant = {.name = "radix4",
                 .summary = "digits of four bits: each work-item counts its elements' digits, scan, permute",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991"},
     .supports_apart = supports_sort_radix,
     .run = run_sort_radix4,
     .bits = true},
    {.variant = {.name = "radix1",
                 .summary = "a split by each bit: flags, scan, scatter",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     .supports_apart = supports_sort_radix,
     .run = run_sort_radix1,
     .bits = true},
    {.variant = {.name = "bitonic_local",
                 .summary = "bitonic_fused, and the columns within a tile in local memory",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .source = "K. Batcher, Sorting networks and their applications, 1968"},
     .supports_apart = supports_sort_network,
     .run = run_sort_bitonic_local},
    {.variant = {.name = "bitonic_fused",
                 .summary = "bitonic, up to four columns a launch: 2 to 16 elements per work-item",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .source = "K. Batcher, Sorting networks and their applications, 1968"},
     .supports_apart = supports_sort_network,
     .run = run_sort_bitonic_fused},
    {.variant = {.name = "bitonic",
                 .summary = "a launch for each column of the network",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .source = "K. Batcher, Sorting networks and their applications, 1968"},
     .supports_apart = supports_sort_network,
     .run = run_sort_bitonic},
    {.variant = {.name = "odd_even",
                 .summary = "odd-even transposition: n columns of neighbours, a launch each",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Habermann, Parallel Neighbor Sort, 1972"},
     .supports_apart = supports_sort_network,
     .run = run_sort_odd_even,
     .most = u64{1} << 12},
    {.variant = {.name = "radix16",
                 .summary = "least significant digit first, 16 bits, on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = knuth},
     .supports_apart = [](const Device&, const SortProblem&) { return Support{}; },
     .run = run_sort_radix16,
     .bits = true},
    {.variant = {.name = "std_sort",
                 .summary = "std::sort on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "D. Musser, Introspective Sorting and Selection Algorithms, 1997"},
     .supports_apart = supports_sort_std,
     .run = run_sort_std,
     .comparator = true},
    {.variant = {.name = "qsort",
                 .summary = "C's qsort on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports_apart = [](const Device&, const SortProblem&) { return Support{}; },
     .run = run_sort_qsort},
};

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&sort_chunks,   &sort_onesweep_tile, &sort_onesweep_ahead,
                                       &sort_leaf_kib, &sort_one_leaf_kib,  &sort_small_input};

struct Operand {
    const char* name;
    const View& view;

    std::string count() const { return std::to_string(view.count) + " elements of " + name; }
    std::string place() const { return std::string(name) + ", at byte " + std::to_string(view.offset); }
};

void check(Stream& stream, const SortProblem& p) {
    auto refuse = [](const std::string& what) { throw Error(ErrorCode::invalid_argument, "sort", what); };
    const Operand in{p.pairs() ? "keys_in" : "in", p.in}, out{p.pairs() ? "keys_out" : "out", p.out},
        values_in{"values_in", p.values_in}, values_out{"values_out", p.values_out};
    std::vector<Operand> inputs{in}, outputs{out};
    if (p.pairs()) {
        inputs.push_back(values_in);
        outputs.push_back(values_out);
    }
    for (const auto* operands : {&inputs, &outputs}) {
        for (const Operand& operand : *operands) {
            check_operand("sort", operand.name, stream, operand.view);
            if (operand.view.count != p.in.count)
                refuse("counts differ: " + in.count() + ", " + operand.count());
        }
    }
    if (p.in.type != p.out.type)
        refuse(std::string(in.name) + " is " + std::string(name_of(p.in.type)) + ", " + out.name + " " +
               std::string(name_of(p.out.type)));
    if (p.pairs() && p.values_in.type != p.values_out.type)
        refuse("values_in is " + std::string(name_of(p.values_in.type)) + ", values_out " +
               std::string(name_of(p.values_out.type)));
    for (const Operand& output : outputs) {
        for (const Operand& input : inputs) {
            const bool own = (&output == &outputs.front()) == (&input == &inputs.front());
            if (overlap(input.view, output.view) && !(own && input.view.offset == output.view.offset))
                refuse(output.place() + ", overlaps " + input.place() + " of the same buffer" +
                       (own ? ", without being it" : ""));
        }
    }
    if (p.pairs() && overlap(p.out, p.values_out))
        refuse(out.place() + ", overlaps " + values_out.place() + " of the same buffer");
    if (p.pairs() && p.count() > 0 && p.in_place() != overlap(p.values_in, p.values_out))
        refuse(p.in_place() ? "keys are sorted in place, values are not: give keys_out another place"
                            : "values are sorted in place, keys are not: give values_out another place");
    const u32 width = 8 * p.key_size();
    if (p.by.begin_bit >= p.by.end_bit || p.by.end_bit > width)
        refuse("bits " + std::to_string(p.by.begin_bit) + " to " + std::to_string(p.by.end_bit) +
               " are no range of the " + std::to_string(width) + " of " + std::string(name_of(p.in.type)));
    if (p.less != nullptr && (p.by.order != SortOrder::ascending || p.some_bits()))
        refuse("comparator " + p.less->name + " says itself which way: it takes no order and no bit range");
}

}  // namespace

SortCode sort_code(Type type, const SortBy& by) {
    const u64 all = ~u64{0} >> (64 - 8 * size_of(type)), highest = all ^ (all >> 1);
    return {is_float(type) ? all ^ highest : 0, (type < Type::u8 || is_float(type) ? highest : 0) ^
                                                    (by.order == SortOrder::descending ? all : 0)};
}

Enqueued sort(Stream& stream, SortProblem p, const Options& options) {
    if (p.by.end_bit == SortBy::last_bit) p.by.end_bit = 8 * p.key_size();
    check(stream, p);
    const SortRow& row = choose_tuned("sort", table, stream.device(), p, point_of(p), options);
    if (p.count() > 0) row.run(stream, p);
    return {row.variant.name, &stream.device()};
}

}  // namespace detail

std::string_view name_of(SortOrder order) {
    return order == SortOrder::ascending ? "ascending" : "descending";
}

constinit const Algorithm sort_algorithm{.name = "sort",
                                         .summary = "out = the elements of in, in order",
                                         .variants = detail::variants,
                                         .tunables = detail::tunables,
                                         .tuning_label = "value_bytes"};  // 0: keys alone

}  // namespace concord
