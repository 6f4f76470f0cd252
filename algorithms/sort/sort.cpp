#include <concord/internal/sort_codes.hpp>
#include "sort_variants.hpp"

#include <concord/internal/calibration.hpp>
#include <concord/internal/operands.hpp>

#include <algorithm>
#include <bit>
#include <random>

namespace concord {
namespace detail {
namespace {

// What a variant supports besides the order of whole keys.
enum class Beyond { nothing, bits, comparators };

template <Beyond beyond, u64 max_count = ~u64{0}>
Support accepts(const Variant& variant, const SortProblem& p) {
    if (p.less != nullptr && beyond != Beyond::comparators)
        return Support::no("does not support custom comparators");
    if (p.some_bits() && beyond != Beyond::bits) return Support::no("does not support bit ranges");
    // Equal keys without values are indistinguishable, except to a comparator.
    const bool tells = p.pairs() || p.less != nullptr;
    if (p.by.stable && tells && !variant.stable) return Support::no("not stable");
    if (p.count() > max_count)
        return Support::no("supports at most {} elements, got {}", max_count, p.count());
    return {};
}

// The least number of keys of 2 bytes for which counting pays, because the table of counters per thread costs less than
// a sort.
u64 min_counted(const DeviceTraits& traits) {
    constexpr u64 many = u64{1} << 20, of_thread = u64{1} << 17;
    return std::min(many, traits.units * of_thread);
}

// `radix8` launches several kernels for each digit. `merge` sorts a tile in one launch, so it is faster on few keys of
// several digits. It cannot sort by some of the bits.
bool suits_radix8(const Device& /*device*/, const SortProblem& p) {
    return p.key_size() == 1 || p.some_bits() || p.count() > u64{1} << 18;
}

// In `onesweep` a warp synchronises without the rest of the group if lanes exchange registers. Elsewhere each step of a
// warp waits for the whole group.
bool suits_onesweep(const Device& device, const SortProblem& /*p*/) {
    return device.traits().shuffles;
}

// One group sorts fewer keys as fast in one launch. Without onesweep's kernels a warp does not synchronise alone.
bool suits_rank_merge(const Device& device, const SortProblem& p) {
    constexpr u64 one_tile = u64{8} << 10;  // bytes of keys
    return device.traits().shuffles && supports_waiting(device) && p.count() * p.key_size() > one_tile;
}

bool suits_counting(const Device& device, const SortProblem& p) {
    constexpr u64 few = 1024;
    return (p.key_size() == 1 && p.count() > few) || p.count() >= min_counted(device.traits());
}

constexpr std::string_view knuth = "D. Knuth, The Art of Computer Programming, vol. 3, 1973";

constexpr auto table = table_of<SortProblem>({
    {.variant = {.name = "rank_merge",
                 .summary = "sorts tiles, then adds up each element's ranks in all tiles; few elements",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for "
                           "Manycore GPUs, 2009"},
     .groups = {run_sort_rank_merge, supports_sort_rank_merge, suits_rank_merge},
     .accepts = accepts<Beyond::bits, (u64{1} << 15)>},
    {.variant = {.name = "onesweep",
                 .summary =
                     "digits of 8 bits: one histogram of all digits, then one pass per digit with decoupled "
                     "look-back",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "A. Adinets, D. Merrill, Onesweep, 2022"},
     .groups = {run_sort_onesweep, supports_sort_onesweep, suits_onesweep},
     .accepts = accepts<Beyond::bits>,
     .computes_input = true},
    {.variant = {.name = "counting",
                 .summary =
                     "counts each key value, then writes the result; keys of 1 or 2 bytes without values",
                 .order = OperationOrder::canonical,
                 .source = knuth},
     .host = {run_sort_counting, supports_sort_counting, suits_counting},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "sample_vqsort",
                 .summary =
                     "splits the keys at sampled splitters, then sorts each bucket with Highway's vectorised "
                     "quicksort; keys without values",
                 .order = OperationOrder::canonical,
                 .source = "P. Sanders, S. Winkel, Super Scalar Sample Sort, 2004; M. Blacher et al., 2022"},
     .host = {run_sort_sample_vqsort, supports_sort_vqsort, suits_sort_vqsort},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "sample_radix",
                 .summary =
                     "splits the keys at sampled splitters, then sorts each bucket by radix in cache; keys "
                     "without values",
                 .order = OperationOrder::canonical,
                 .source = "P. Sanders, S. Winkel, Super Scalar Sample Sort, 2004"},
     .host = {run_sort_sample_radix, supports_sort_sample},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "radix8",
                 .summary = "least significant digit first, digits of 8 bits: count, scan, scatter",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Satish et al., Fast Sort on CPUs and GPUs, 2010"},
     .groups = {run_sort_radix8, supports_sort_group, suits_radix8},
     .single_items = {run_sort_radix8_wide},
     .host = {run_sort_radix8_host},
     .accepts = accepts<Beyond::bits>},
    {.variant = {.name = "merge",
                 .summary = "sorts tiles, then merges pairs of runs along merge paths; supports comparators",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012"},
     .groups = {run_sort_merge, supports_sort_merge},
     .single_items = {run_sort_merge_wide, supports_sort_less},
     .host = {run_sort_merge_host, supports_sort_less},
     .accepts = accepts<Beyond::comparators>},
    {.variant = {.name = "radix4_vector",
                 .summary = "radix4_local with loads of 16 keys",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991"},
     .groups = {run_sort_radix4_vector, supports_sort_group},
     .single_items = {run_sort_radix4_vector, supports_sort_group},
     .accepts = accepts<Beyond::bits>},
    {.variant = {.name = "radix4_local",
                 .summary = "radix4 with counters in local memory",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for "
                           "Manycore GPUs, 2009"},
     .groups = {run_sort_radix4_local, supports_sort_group},
     .single_items = {run_sort_radix4_local, supports_sort_group},
     .accepts = accepts<Beyond::bits>},
    {.variant = {.name = "radix4",
                 .summary =
                     "digits of 4 bits: each work-item counts the digits of its elements, scan, permute",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991"},
     .groups = {run_sort_radix4, supports_sort_group},
     .single_items = {run_sort_radix4, supports_sort_group},
     .accepts = accepts<Beyond::bits>},
    {.variant = {.name = "radix1",
                 .summary = "one split per bit: flags, scan, scatter",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     .groups = {run_sort_radix1, supports_sort_group},
     .single_items = {run_sort_radix1, supports_sort_group},
     .accepts = accepts<Beyond::bits>},
    {.variant = {.name = "bitonic_local",
                 .summary = "bitonic_fused with the columns within a tile in local memory",
                 .order = OperationOrder::canonical,
                 .source = "K. Batcher, Sorting networks and their applications, 1968"},
     .groups = {run_sort_bitonic_local, supports_sort_group},
     .single_items = {run_sort_bitonic_local, supports_sort_group},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "bitonic_fused",
                 .summary = "bitonic with up to four columns per launch; 2 to 16 elements per work-item",
                 .order = OperationOrder::canonical,
                 .source = "K. Batcher, Sorting networks and their applications, 1968"},
     .groups = {run_sort_bitonic_fused, supports_sort_group},
     .single_items = {run_sort_bitonic_fused, supports_sort_group},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "bitonic",
                 .summary = "bitonic sort with one launch per column of the network",
                 .order = OperationOrder::canonical,
                 .source = "K. Batcher, Sorting networks and their applications, 1968"},
     .groups = {run_sort_bitonic, supports_sort_group},
     .single_items = {run_sort_bitonic, supports_sort_group},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "odd_even",
                 .summary = "odd-even transposition sort: n columns, one launch each",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = "N. Habermann, Parallel Neighbor Sort, 1972"},
     .groups = {run_sort_odd_even, supports_sort_group},
     .single_items = {run_sort_odd_even, supports_sort_group},
     .accepts = accepts<Beyond::nothing, (u64{1} << 12)>},
    {.variant = {.name = "radix16",
                 .summary = "least significant digit first, digits of 16 bits, on one thread",
                 .order = OperationOrder::canonical,
                 .stable = true,
                 .source = knuth},
     .host = {run_sort_radix16},
     .accepts = accepts<Beyond::bits>},
    {.variant = {.name = "std_sort",
                 .summary = "std::sort on one thread",
                 .order = OperationOrder::canonical,
                 .source = "D. Musser, Introspective Sorting and Selection Algorithms, 1997"},
     .host = {run_sort_std},
     .accepts = accepts<Beyond::nothing>},
    {.variant = {.name = "qsort",
                 .summary = "C's qsort on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {run_sort_qsort},
     .accepts = accepts<Beyond::nothing>},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&sort_chunks,   &sort_onesweep_tile, &sort_onesweep_ahead,
                                       &sort_leaf_kib, &sort_one_leaf_kib,  &sort_small_input};

// Compares sample_vqsort and sample_radix by one large and one small array of random keys of each size.
void calibrate(Calibration& calibration) {
    struct Point {
        u64 n;
        u32 class_first, class_last;
    };
    constexpr u64 most = u64{1} << 14;
    constexpr Point points[] = {{most, 13, 63}, {u64{1} << 10, 0, 12}};
    std::vector<u64> random(most);
    std::generate(random.begin(), random.end(), std::mt19937_64(1));
    Stream& stream = calibration.stream();
    const Array<u64> keys(stream, random), sorted(stream, most);
    for (const Type type : {Type::u32, Type::u64, Type::u16}) {
        for (const Point& point : points) {
            View in = keys.view(), out = sorted.view();
            in.type = out.type = type;
            in.count = out.count = point.n;
            auto sort_by = [&](const char* variant) {
                return
                    [&stream, in, out, variant] { concord::sort(stream, in, out, {}, {.variant = variant}); };
            };
            const auto ratio = calibration.time_ratio({.rows = {}, .call = sort_by("sample_vqsort")},
                                                      {.rows = {}, .call = sort_by("sample_radix")});
            if (!ratio) return;
            TuningRow row = row_of("sort", *ratio > 1 ? "sample_radix" : "sample_vqsort");
            row.label_last = 0;  // keys alone
            row.class_first = point.class_first;
            row.class_last = point.class_last;
            if (type == Type::u16) {  // below the sizes for which counting is faster
                const u64 counted = min_counted(calibration.traits());
                row.class_last = std::min(row.class_last, static_cast<u32>(std::bit_width(counted)) - 2);
            }
            row.gain = std::max(*ratio, 1 / *ratio);
            for (const Type same : all_types) {
                if (size_of(same) != size_of(type)) continue;
                row.type = same;
                calibration.add(row);
            }
        }
    }
}

void check(Stream& stream, const SortProblem& p) {
    auto refuse = [](const std::string& what) { throw Error(ErrorCode::invalid_argument, "sort", what); };
    const NamedView in{p.pairs() ? "keys_in" : "in", p.in}, out{p.pairs() ? "keys_out" : "out", p.out},
        values_in{"values_in", p.values_in}, values_out{"values_out", p.values_out};
    // A range of values without a buffer would count as a sort of keys alone.
    check_operand("sort", "values_in", stream, p.values_in);
    check_output("sort", "values_out", stream, p.values_out);
    std::vector<NamedView> inputs{in}, outputs{out};
    if (p.pairs()) {
        inputs.push_back(values_in);
        outputs.push_back(values_out);
    }
    for (const auto* operands : {&inputs, &outputs}) {
        for (const NamedView& operand : *operands) {
            (operands == &inputs ? check_operand : check_output)("sort", operand.name, stream, operand.view);
            if (operand.view.count != p.in.count)
                refuse(std::string(in.name) + " and " + operand.name +
                       " must have the same element count, got " + std::to_string(p.in.count) + " and " +
                       std::to_string(operand.view.count));
        }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
        check_same_type("sort",
                        {{inputs[i].name, inputs[i].view.type}, {outputs[i].name, outputs[i].view.type}});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (std::size_t k = 0; k < outputs.size(); ++k)
            check_overlap("sort", outputs[k], inputs[i], i == k ? InPlace::yes : InPlace::no);
    }
    if (p.pairs()) check_overlap("sort", out, values_out);
    if (p.pairs() && p.count() > 0 && p.in_place() != overlap(p.values_in, p.values_out))
        refuse(p.in_place() ? "keys are sorted in place, values are not; pass a distinct keys_out"
                            : "values are sorted in place, keys are not; pass a distinct values_out");
    const u32 width = 8 * p.key_size();
    if (p.by.begin_bit >= p.by.end_bit || p.by.end_bit > width)
        refuse("invalid bit range, got [" + std::to_string(p.by.begin_bit) + ", " +
               std::to_string(p.by.end_bit) + ") for " + std::string(name_of(p.in.type)) +
               "; pass 0 <= begin_bit < end_bit <= " + std::to_string(width));
    if (p.less != nullptr && (p.by.order != SortOrder::ascending || p.some_bits()))
        refuse("comparator '" + p.less->name +
               "' does not support a direction or a bit range; pass ascending order and all bits");
    if (p.by.nan == NanOrder::last && (p.less != nullptr || (p.some_bits() && is_float(p.in.type))))
        refuse(std::string(p.less != nullptr ? "a comparator" : "a bit range") +
               " does not support NaN last; pass NanOrder::total");
}

}  // namespace

SortCode sort_code(Type type, const SortBy& by) {
    const u64 all = ~u64{0} >> (64 - 8 * size_of(type)), highest = all ^ (all >> 1);
    // The bits of a storage type are ordered like those of the type that it converts to.
    const TypeKind kind = kind_of(accumulator_of(type));
    return {
        kind == TypeKind::floating_point ? all ^ highest : 0,
        (kind == TypeKind::unsigned_integer ? 0 : highest) ^ (by.order == SortOrder::descending ? all : 0)};
}

Enqueued sort(Stream& stream, SortProblem p, const Options& options) {
    if (p.by.end_bit == SortBy::last_bit) p.by.end_bit = 8 * p.key_size();
    p.values_in = as_bytes(p.values_in);
    p.values_out = as_bytes(p.values_out);
    check(stream, p);
    const Row<SortProblem>& row = choose_tuned("sort", table, stream.device(), p, point_of(p), options);
    if (p.count() > 0) {
        if (p.unstored && !row.computes_input) store_keys(stream, p);
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

void store_keys(Stream& stream, const SortProblem& p) {
    evaluate(stream, Input(p.unstored), p.in, {});
}

namespace {

// Sorts in the keys' own order. unstored: see SortProblem.
Enqueued sort_codes(Stream& stream, const View& in, const View& values_in, const View& out,
                    const View& values_out, const SortBy& by, const Options& options,
                    const ExpressionPointer& unstored = nullptr) {
    check_no_struct("sort", values_in.buffer != nullptr ? "keys_in" : "in", in);
    if (sorts_by_codes(in.type, by)) {
        check_same_type("sort", {{"in", in.type}, {"out", out.type}});
        const View values_from = as_bytes(values_in), values_to = as_bytes(values_out);
        SortProblem p{.in = as_bytes(in),
                      .out = as_bytes(out),
                      .values_in = values_from,
                      .values_out = values_to,
                      .by = by,
                      .less = nullptr,
                      .less_values = {},
                      .host = nullptr,
                      .unstored = nullptr};
        if (by.end_bit == SortBy::last_bit) p.by.end_bit = 8 * p.key_size();
        check(stream, p);
        if (unstored) evaluate(stream, Input(unstored), in, {});
        return sort_by_codes(stream, in, values_from, out, values_to, p.by, options);
    }
    const SortCode code = sort_code(in.type, by);
    const detail::host::Ascending less{code.fold, code.flip};
    const u32 value_size = values_in.buffer != nullptr ? size_of(values_in.type) : 0;
    return sort(stream,
                {.in = in,
                 .out = out,
                 .values_in = values_in,
                 .values_out = values_out,
                 .by = by,
                 .less = nullptr,
                 .less_values = {std::as_bytes(std::span(&less, 1))},
                 .host = sort_builtin_host(size_of(in.type), value_size),
                 .unstored = unstored},
                options);
}

}  // namespace

Enqueued sort_of_input(Stream& stream, const Input& in, const View& values_in, const View& out,
                       const View& values_out, const SortBy& by, const Options& options) {
    const char* const call = values_in.buffer != nullptr ? "sort_pairs" : "sort";
    const InputInMemory keys(stream, call, in, out, options, InPlace::yes, Store::later);
    return keys.with_order(
        sort_codes(stream, keys.view(), values_in, out, values_out, by, options, keys.unstored()));
}

}  // namespace detail

std::string_view name_of(SortOrder order) {
    return order == SortOrder::ascending ? "ascending" : "descending";
}

std::string_view name_of(NanOrder order) {
    return order == NanOrder::total ? "total" : "last";
}

constinit const Algorithm sort_algorithm{.name = "sort",
                                         .summary = "out = the elements of in, in order",
                                         .variants = detail::variants,
                                         .tunables = detail::tunables,
                                         .tuning_label = "value_bytes",  // bytes per value; 0 for keys alone
                                         .calibrate = detail::calibrate};

Enqueued sort(Stream& stream, const View& in, const View& out, const SortBy& by, const Options& options) {
    return detail::sort_codes(stream, in, {}, out, {}, by, options);
}

Enqueued sort_pairs(Stream& stream, const View& keys_in, const View& values_in, const View& keys_out,
                    const View& values_out, const SortBy& by, const Options& options) {
    return detail::sort_codes(stream, keys_in, values_in, keys_out, values_out, by, options);
}

}  // namespace concord
