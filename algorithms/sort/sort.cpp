#include "sort_table.hpp"

#include <algorithm>

namespace concord {
namespace detail {
namespace {

struct SortRow : Variant {
    Required<Support(const Device&, const SortProblem&)> supports_apart;
    Required<void(Stream&, const SortProblem&)> run;
    bool stable;         // elements of equal keys keep their order
    bool bits;           // takes a bit range
    bool comparator;     // takes a comparator
    u64 most = ~u64{0};  // elements
    /// Whether `auto` would rather have it than those further down.
    bool (*suits)(const Device&, const SortProblem&) = nullptr;

    Support supports(const Device& device, const SortProblem& p) const {
        if (p.less != nullptr && !comparator) return Support::no("it takes no comparator");
        if (p.some_bits() && !bits) return Support::no("it takes no bit range");
        // Keys alone that are equal are the same, unless a comparator finds them so.
        const bool tells = p.pairs() || p.less != nullptr;
        if (p.by.stable && tells && !stable) return Support::no("it is not stable");
        if (p.count() > most) return Support::no("it takes " + std::to_string(most) + " elements at most");
        return supports_apart(device, p);
    }
};

// Where counting a key's values costs less than sorting it: each thread has counters of its own.
bool suits_counting(const Device& device, const SortProblem& p) {
    constexpr u64 many = u64{1} << 20, of_thread = u64{1} << 17;
    return p.key_size() == 1 || p.count() >= std::min(many, device.traits().units * of_thread);
}

constexpr std::string_view knuth = "D. Knuth, The Art of Computer Programming, vol. 3, 1973";

// After each row's launch: whether it is stable, takes a bit range, takes a comparator.
constexpr SortRow table[] = {
    {{"onesweep", "digits of eight bits: counted at once, then one pass each, whose tiles look back", true,
      false, false, OperationOrder::canonical, "A. Adinets, D. Merrill, Onesweep, 2022"},
     supports_sort_onesweep,
     run_sort_onesweep,
     true,
     true,
     false},
    {{"counting", "keys of one or two bytes, alone: counted, and written anew", false, false, true,
      OperationOrder::canonical, knuth},
     supports_sort_counting,
     run_sort_counting,
     false,
     false,
     false,
     ~u64{0},
     suits_counting},
    {{"sample_vqsort", "keys alone: split at splitters from a sample, then Highway's vectorised quicksort",
      false, false, true, OperationOrder::canonical,
      "P. Sanders, S. Winkel, Super Scalar Sample Sort, 2004; M. Blacher et al., 2022"},
     supports_sort_vqsort,
     run_sort_sample_vqsort,
     false,
     false,
     false,
     ~u64{0},
     suits_sort_vqsort},
    {{"sample_radix", "keys alone: split at splitters from a sample, then a radix sort in cache", false,
      false, true, OperationOrder::canonical, "P. Sanders, S. Winkel, Super Scalar Sample Sort, 2004"},
     supports_sort_sample,
     run_sort_sample_radix,
     false,
     false,
     false},
    {{"radix8", "least significant digit first, 8 bits: counts, offsets, scatter", true, true, true,
      OperationOrder::canonical, "N. Satish et al., Fast Sort on CPUs and GPUs, 2010"},
     supports_sort_radix8,
     run_sort_radix8,
     true,
     true,
     false},
    {{"merge", "tiles, then runs merged two by two along merge paths; any comparator", true, true, true,
      OperationOrder::canonical, "S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012"},
     supports_sort_merge,
     run_sort_merge,
     true,
     false,
     true},
    {{"radix4_vector", "radix4_local, and keys are loaded 16 at a time", true, true, false,
      OperationOrder::canonical, "M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991"},
     supports_sort_radix,
     run_sort_radix4_vector,
     true,
     true,
     false},
    {{"radix4_local", "radix4 with the counts in local memory", true, true, false, OperationOrder::canonical,
      "N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009"},
     supports_sort_radix,
     run_sort_radix4_local,
     true,
     true,
     false},
    {{"radix4", "digits of four bits: each work-item counts its elements' digits, scan, permute", true, true,
      false, OperationOrder::canonical, "M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991"},
     supports_sort_radix,
     run_sort_radix4,
     true,
     true,
     false},
    {{"radix1", "a split by each bit: flags, scan, scatter", true, true, false, OperationOrder::canonical,
      "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     supports_sort_radix,
     run_sort_radix1,
     true,
     true,
     false},
    {{"bitonic_local", "bitonic_fused, and the columns within a tile in local memory", true, true, false,
      OperationOrder::canonical, "K. Batcher, Sorting networks and their applications, 1968"},
     supports_sort_network,
     run_sort_bitonic_local,
     false,
     false,
     false},
    {{"bitonic_fused", "bitonic, up to four columns a launch: 2 to 16 elements a lane", true, true, false,
      OperationOrder::canonical, "K. Batcher, Sorting networks and their applications, 1968"},
     supports_sort_network,
     run_sort_bitonic_fused,
     false,
     false,
     false},
    {{"bitonic", "a launch for each column of the network", true, true, false, OperationOrder::canonical,
      "K. Batcher, Sorting networks and their applications, 1968"},
     supports_sort_network,
     run_sort_bitonic,
     false,
     false,
     false},
    {{"odd_even", "odd-even transposition: n columns of neighbours, a launch each", true, true, false,
      OperationOrder::canonical, "N. Habermann, Parallel Neighbor Sort, 1972"},
     supports_sort_network,
     run_sort_odd_even,
     true,
     false,
     false,
     u64{1} << 12},
    {{"radix16", "least significant digit first, 16 bits, on one thread", false, false, true,
      OperationOrder::canonical, knuth},
     [](const Device&, const SortProblem&) { return Support{}; },
     run_sort_radix16,
     true,
     true,
     false},
    {{"std_sort", "std::sort on one thread", false, false, true, OperationOrder::canonical,
      "D. Musser, Introspective Sorting and Selection Algorithms, 1997"},
     supports_sort_std,
     run_sort_std,
     false,
     false,
     true},
    {{"qsort", "C's qsort on one thread", false, false, true, OperationOrder::canonical, "textbook"},
     [](const Device&, const SortProblem&) { return Support{}; },
     run_sort_qsort,
     false,
     false,
     false},
};

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

Tunables sort_tunables() {
    Tunables all{&sort_chunks};
    for (const auto& list : {sort_onesweep_tunables(), sort_sample_tunables(), sort_radix_tunables()})
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

Enqueued sort(Stream& stream, SortProblem p, const Options& options) {
    if (p.by.end_bit == SortBy::last_bit) p.by.end_bit = 8 * p.key_size();
    check(stream, p);
    const SortRow& row = choose_tuned("sort", table, stream.device(), p, point_of(p), options);
    if (p.count() > 0) row.run(stream, p);
    return {row.name, &stream.device()};
}

}  // namespace detail

std::string_view name_of(SortOrder order) {
    return order == SortOrder::ascending ? "ascending" : "descending";
}

std::vector<const Variant*> sort_variants() {
    std::vector<const Variant*> list;
    for (const detail::SortRow& row : detail::table)
        list.push_back(&row);
    return list;
}

bool sort_is_stable(std::string_view variant) {
    for (const detail::SortRow& row : detail::table) {
        if (row.name == variant) return row.stable;
    }
    throw Error(ErrorCode::invalid_argument, "sort_is_stable",
                "there is no variant '" + std::string(variant) + "'");
}

}  // namespace concord
