#pragma once
// Shared by the host sides of the kernels compiled from source: kernels by the sizes of key and value, element
// ranges, and the passes of a sort.

#include "sort_sources.hpp"
#include "sort_variants.hpp"

#include <concord/internal/sort_tile.hpp>

#include <algorithm>

namespace concord {

namespace detail {

// Whether kernels keep a tile in registers, which requires that the compiler bounds them. The local memory of the
// elements that they stage comes from the launch. Otherwise kernels keep tiles in local memory that they declare. The
// files sort_stage.cu and sort_stage.cl are the two forms, so the language of the device decides as well.
inline bool sort_in_registers(const Device& device) {
    return device.traits().bounds_registers;
}

// Whether a kernel moves values or only reads keys.
enum class Values : u8 { ignored, moved };

// The kernel `entry`, specialised by the sizes of key and value and by `tunables`.
std::shared_ptr<Kernel> sort_kernel(Device& device, const SortProblem& problem, const KernelSource& source,
                                    const char* entry, u32 group_size, const Constants& tunables,
                                    Values values = Values::moved);

// Keys and values. Without values, `values` is any valid range; kernels do not access it.
struct SortElements {
    View keys, values;
};

inline SortElements sort_input(const SortProblem& p) {
    return {p.in, p.pairs() ? p.values_in : View{p.in.buffer, 0, 1, Type::u8}};
}
inline SortElements sort_output(const SortProblem& p) {
    return {p.out, p.pairs() ? p.values_out : View{p.out.buffer, 0, 1, Type::u8}};
}

// Scratch memory for n elements. Enqueued work keeps it alive.
struct SortScratch {
    SortScratch(Stream& stream, const SortProblem& p) : SortScratch(stream, p, p.count()) {}
    SortScratch(Stream& stream, const SortProblem& p, u64 n)
        : keys(stream.scratch(n * p.key_size())),
          values(p.pairs() ? stream.scratch(n * p.value_size()) : keys) {
        elements = {{keys.get(), 0, n, bits_of_size(p.key_size())},
                    {values.get(), 0, n, bits_of_size(p.value_size())}};
    }
    std::shared_ptr<Buffer> keys, values;
    SortElements elements;
};

// The two ranges between which the passes of a sort alternate. `left`: passes that follow; the last one writes to
// out.
struct SortSides {
    SortElements out, scratch;

    const SortElements& result(u32 left) const { return left % 2 == 0 ? out : scratch; }
    const SortElements& other(u32 left) const { return left % 2 == 0 ? scratch : out; }
};

// Enqueues a copy of all elements.
void copy_elements(Stream& stream, const SortProblem& problem, const SortElements& from,
                   const SortElements& to);

// The passes of a radix sort over the bits of the problem, `digit_bits` each, lowest digit first. pass(from, to,
// shift, mask) enqueues one. The result is in the output of the problem.
template <class F>
void radix_passes(Stream& stream, const SortProblem& p, u32 digit_bits, const F& pass) {
    const u32 first = p.by.begin_bit, last = p.by.end_bit;
    const u64 passes = divide_up(last - first, digit_bits);
    const SortScratch scratch(stream, p, passes > 1 || p.in_place() ? p.count() : 1);
    const SortElements out = sort_output(p);
    SortElements from = sort_input(p);
    bool in_scratch = false;
    for (u64 left = passes; left-- > 0;) {
        in_scratch = p.in_place() ? !in_scratch : left % 2 != 0;
        const SortElements& to = in_scratch ? scratch.elements : out;
        const u32 shift = first + static_cast<u32>(passes - 1 - left) * digit_bits;
        const u32 bits = std::min(digit_bits, last - shift);
        pass(from, to, shift, (u32{1} << bits) - 1);
        from = to;
    }
    if (in_scratch) copy_elements(stream, p, scratch.elements, out);
}

// How a tile is distributed over the work-items of a group.
struct SortTile {
    u32 group_size, items;

    u64 length() const { return u64{group_size} * items; }
};

// sort_onesweep.cpp: enqueues a radix sort of each tile of the elements, one group per tile.
void sort_each_tile(Stream& stream, const SortProblem& problem, const SortTile& tile,
                    const SortElements& from, const SortElements& to);

// sort_merge.cpp: the comparator for the order of the codes, on the bits of keys. Its bound values are the flip and the
// fold of a SortCode.
const Operator& sort_own_order(u32 key_size);

// The type that counts elements of the problem.
inline Type sort_count_type(const SortProblem& p) {
    return p.count() >> 32 != 0 ? Type::u64 : Type::u32;
}

// Scratch memory for n counters.
struct SortCounts {
    SortCounts(Stream& stream, u64 n, Type type)
        : buffer(stream.scratch(n * size_of(type))), view{buffer.get(), 0, n, type} {}
    std::shared_ptr<Buffer> buffer;
    View view;
};

}  // namespace detail
}  // namespace concord
