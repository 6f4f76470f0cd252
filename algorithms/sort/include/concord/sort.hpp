#pragma once
/// @file
/// Sort: arranges keys in order, alone or with one value per key.
///
///     sort        out[0] <= out[1] <= ... are the elements of in
///     sort_pairs  the same for keys; values_out[i] is the value that belongs to keys_out[i]
///     argsort     out[i] is the index in in of the key that comes at place i
///
/// Order of keys
/// - Integers are ordered by value. Floats are ordered by IEEE 754 totalOrder: -NaN first, -0 before +0, +NaN last,
///   NaNs by payload. Sorted keys are therefore bitwise identical on every device and in every variant.
/// - SortBy::nan: with NanOrder::last, -0 equals +0, and all NaNs are equal and come last, also in descending order.
///   Sorts of floats by it are stable. They keep the keys' bits.
/// - Descending order is the exact reverse of ascending order.
/// - bool: false before true. Any byte but 0 is true, and sorted keys are 0 or 1.
/// - Each key has a code: the unsigned integer of its size that compares in key order. Kernels encode keys when
///   they load them and decode keys when they store them. A bit range [begin_bit, end_bit) orders by these bits of
///   the code alone; bit 0 is the lowest.
/// - A comparator made with CONCORD_FUNCTION takes two elements. It returns nonzero if the first must come before
///   the second and must be a strict weak order. With any other comparator, such as `a < b` of floats with NaNs, the
///   result is some permutation of the input.
/// - A key function made with CONCORD_FUNCTION takes one element and returns its key.
///
/// Stability
/// - A stable variant (Variant::stable) keeps elements with equal keys in input order, ascending or descending.
/// - A bit range requires a stable variant. SortBy::stable requires one for pairs and comparators too.
/// - Keys without values that are equal in all bits are indistinguishable, so every variant gives the same result
///   for them.
///
/// Shapes: all ranges have the same length, which is arbitrary, and may begin at any element. Keys have one type.
/// Values have one type of 1, 2, 4 or 8 bytes and move as bits. The indices of argsort() are integers of 4 or 8 bytes.
///
/// In place: out may be exactly in. For pairs, values_out must then be exactly values_in. Any other overlap with an
/// output range is an error. A call with separate outputs leaves its inputs unchanged.
///
/// Memory traffic: at least one read and one write per element. A radix sort with digits of b bits reads and writes
/// every element once per digit, and skips digits that are equal in all keys where its variant says so. Each kernel
/// source states its traffic.
///
/// Scratch memory, from the device's pool
/// - All variants except the sorting networks take at most the memory of keys and values. `std_sort` takes up to
///   twice that for pairs.
/// - On CPUs counters take a few MiB, and sample sorts take one byte per element in addition.
/// - On GPUs counters take at most 2 bytes per element for `onesweep` and `radix8`, 1 byte for the `radix4` family
///   and 4 bytes for `radix1`, or twice as much from 2^32 elements on.
/// - A key function adds the memory of its keys, twice if out is not in. So does NanOrder::last. Keys of bool add one
///   byte per element.
/// - argsort() takes the memory of the keys twice, and two indices per element.
///
/// Asynchronous: a call enqueues its work on the stream and returns.
///
/// Errors: invalid_argument (counts, types, overlap, a bit range outside the key), wrong_device, unsupported,
/// compile_failed, out_of_memory.
///
/// Sources: D. Knuth, The Art of Computer Programming, vol. 3, section 5.2. Each variant names its own source.

#include <concord/algorithm.hpp>
#include <concord/detail/sort_host.hpp>
#include <concord/map.hpp>

#include <utility>

namespace concord {

/// Direction of a sort.
enum class SortOrder : u8 {
    ascending,  ///< smallest key first
    descending  ///< largest key first
};

/// Name of a direction: "ascending" or "descending".
std::string_view name_of(SortOrder order);

/// Place of NaNs and zeros among floats.
enum class NanOrder : u8 {
    total,  ///< IEEE 754 totalOrder: by sign and payload of NaNs, -0 before +0
    last    ///< -0 equals +0, all NaNs are equal and last, ascending and descending
};

/// Name of an order: "total" or "last".
std::string_view name_of(NanOrder order);

/// Order that a sort establishes.
struct SortBy {
    /// Value of end_bit that stands for the number of bits of the key.
    static constexpr u32 last_bit = ~u32{0};

    SortOrder order = SortOrder::ascending;  ///< direction; a comparator requires ascending
    u32 begin_bit = 0;                       ///< lowest bit of the code that is compared
    u32 end_bit = last_bit;                  ///< one past the highest bit that is compared
    bool stable = false;                     ///< whether the variant must be stable
    NanOrder nan = NanOrder::total;          ///< of floats; a comparator and a bit range require total
};

namespace detail {

// The code of keys of a type. Encode: k ^ (s & fold) ^ flip, where every bit of s is the highest bit of k. Decode:
// c = code ^ flip, k = c ^ (t & fold), where every bit of t is the highest bit of c.
struct SortCode {
    u64 fold;  // floats: all bits except the highest, because magnitudes of negative numbers compare in reverse
    u64 flip;  // the highest bit for signed types; for descending order all bits are inverted in addition
};
SortCode sort_code(Type type, const SortBy& by);

// The host kernels for one comparator, or for codes, on one type of key and one of value.
struct SortHost {
    HostKernel merge_tiles, merge_runs;
};
template <class T, class V, class Less>
const SortHost& sort_host() {
    static constexpr SortHost kernels{
        .merge_tiles = plain_host_kernel<&detail::host::merge_tiles<T, V, Less>>(),
        .merge_runs = plain_host_kernel<&detail::host::merge_runs<T, V, Less>>()};
    return kernels;
}

// A call with its types erased.
struct SortProblem {
    View in, out;                // keys
    View values_in, values_out;  // without buffers for keys alone
    SortBy by;                   // end_bit is a number of bits, never last_bit
    const Operator* less;        // comparator; null for the order of the codes
    ValueBytes less_values;      // the comparator's bound values
    const SortHost* host;        // null if the comparator exists as source only
    ExpressionPointer unstored;  // the keys, if they are still to be stored in `in`

    Type type() const { return in.type; }
    u64 count() const { return in.count; }
    u32 key_size() const { return size_of(in.type); }
    bool pairs() const { return values_in.buffer != nullptr; }
    // Bytes of a value; 0 without values.
    u32 value_size() const { return pairs() ? size_of(values_in.type) : 0; }
    // Holds for keys and values alike.
    bool in_place() const { return overlap(in, out); }
    // Whether the bit range leaves out bits of the key.
    bool some_bits() const { return by.begin_bit > 0 || by.end_bit < 8 * key_size(); }
    SortCode code() const { return sort_code(in.type, by); }
    u64 bytes() const { return in.bytes() + (pairs() ? values_in.bytes() : 0); }
};

Enqueued sort(Stream& stream, SortProblem problem, const Options& options);

// The host kernels for the order of the codes.
const SortHost* sort_builtin_host(u32 key_size, u32 value_size);

// The unsigned integer of SIZE bytes; NoValue for 0.
template <u32 SIZE>
using SortBits = std::conditional_t<
    SIZE == 0, detail::host::NoValue,
    std::conditional_t<SIZE == 1, u8,
                       std::conditional_t<SIZE == 2, u16, std::conditional_t<SIZE == 4, u32, u64>>>>;

// Sorts by a user comparator. V: unsigned integer of a value's size, or NoValue.
template <class V, class T, class F, class... B>
Enqueued sort_by_less(Stream& stream, const View& in, const View& values_in, const View& out,
                      const View& values_out, const Function<F, B...>& less, const SortBy& by,
                      const Options& options) {
    using Fn = Function<F, B...>;
    static_assert(Fn::free_count == 2, "a comparator must have two unbound parameters; bind the others");
    static_assert(std::is_integral_v<typename Fn::Result>, "the comparator must return an integer");
    static_assert(std::is_same_v<typename Fn::template Argument<0>, T> &&
                      std::is_same_v<typename Fn::template Argument<1>, T>,
                  "the comparator's parameters and the keys must have the same type");
    const auto bound = less.packed();
    return sort(stream,
                {.in = in,
                 .out = out,
                 .values_in = values_in,
                 .values_out = values_out,
                 .by = by,
                 .less = &Fn::erased(),
                 .less_values = {bound},
                 .host = &sort_host<T, V, typename Fn::Host>(),
                 .unstored = nullptr},
                options);
}

}  // namespace detail

/// Descriptor of sort: variants, tunables, tuning label.
extern const Algorithm sort_algorithm;

namespace detail {
// Keys and values that are ranges or expressions.
class PairsInMemory {
  public:
    PairsInMemory(Stream& stream, const Input& keys, const Input& values, const View& keys_out,
                  const View& values_out, const Options& options)
        : keys_(stream, "sort_pairs", keys, keys_out, options, InPlace::yes),
          values_(stream, "sort_pairs", values, values_out, options, InPlace::yes) {}
    const View& keys() const { return keys_.view(); }
    const View& values() const { return values_.view(); }
    Enqueued with_order(const Enqueued& call) const { return keys_.with_order(values_.with_order(call)); }

  private:
    InputInMemory keys_, values_;
};
}  // namespace detail

namespace detail {
// Keys that are a range or an expression; without values, values_in and values_out have no buffers.
Enqueued sort_of_input(Stream& stream, const Input& in, const View& values_in, const View& out,
                       const View& values_out, const SortBy& by, const Options& options);
}  // namespace detail

/// Sorts keys in their own order. in and out have the same type.
Enqueued sort(Stream& stream, const View& in, const View& out, const SortBy& by = {},
              const Options& options = {});
/// Sorts keys in their own order and moves each value with its key.
Enqueued sort_pairs(Stream& stream, const View& keys_in, const View& values_in, const View& keys_out,
                    const View& values_out, const SortBy& by = {}, const Options& options = {});

/// Finds the stable order of keys: out[i] is the index of the key that comes at place i, of equal keys the lower one
/// first. in is unchanged. out has integers of 4 or 8 bytes, and does not overlap in.
Enqueued argsort(Stream& stream, const View& in, const View& out, const SortBy& by = {},
                 const Options& options = {});

/// Sorts the keys of a span, array or expression in their own order.
template <InputRange In, OutputRange Out>
Enqueued sort(Stream& stream, const In& in, const Out& out, const SortBy& by = {},
              const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "sort: in and out must have the same element type");
    return detail::sort_of_input(stream, detail::input_of(in), {}, View(out.view()), {}, by, options);
}
/// Sorts the pairs of spans or arrays in the keys' own order.
template <InputRange Keys, InputRange Values, OutputRange KeysOut, OutputRange ValuesOut>
Enqueued sort_pairs(Stream& stream, const Keys& keys_in, const Values& values_in, const KeysOut& keys_out,
                    const ValuesOut& values_out, const SortBy& by = {}, const Options& options = {}) {
    static_assert(detail::same_elements<Keys, KeysOut>,
                  "sort_pairs: keys_in and keys_out must have the same element type");
    static_assert(detail::same_elements<Values, ValuesOut>,
                  "sort_pairs: values_in and values_out must have the same element type");
    const detail::InputInMemory values(stream, "sort_pairs", detail::input_of(values_in), values_out.view(),
                                       options, detail::InPlace::yes);
    return values.with_order(detail::sort_of_input(stream, detail::input_of(keys_in), values.view(),
                                                   View(keys_out.view()), View(values_out.view()), by,
                                                   options));
}

/// Sorts by a comparator I(T, T), where I is any integer type, with its further parameters bound. The comparator
/// defines the direction: `by` must be ascending and must not restrict bits.
template <InputRange In, OutputRange Out, class F, class... B>
requires(Function<F, B...>::free_count == 2) Enqueued
    sort(Stream& stream, const In& in, const Out& out, const Function<F, B...>& less, const SortBy& by = {},
         const Options& options = {}) {
    using T = typename Out::Element;
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in and out must have the same type");
    const detail::InputInMemory from(stream, "sort", detail::input_of(in), out.view(), options,
                                     detail::InPlace::yes);
    return from.with_order(detail::sort_by_less<detail::host::NoValue, T>(stream, from.view(), {}, out.view(),
                                                                          {}, less, by, options));
}
/// Sorts pairs by a comparator of keys; see sort() with a comparator.
template <InputRange Keys, InputRange Values, OutputRange KeysOut, OutputRange ValuesOut, class F, class... B>
Enqueued sort_pairs(Stream& stream, const Keys& keys_in, const Values& values_in, const KeysOut& keys_out,
                    const ValuesOut& values_out, const Function<F, B...>& less, const SortBy& by = {},
                    const Options& options = {}) {
    using T = typename KeysOut::Element;
    static_assert(detail::same_elements<Keys, KeysOut>,
                  "sort_pairs: keys_in and keys_out must have the same element type");
    static_assert(detail::same_elements<Values, ValuesOut>,
                  "sort_pairs: values_in and values_out must have the same element type");
    const detail::PairsInMemory from(stream, detail::input_of(keys_in), detail::input_of(values_in),
                                     keys_out.view(), values_out.view(), options);
    return from.with_order(detail::sort_by_less<detail::SortBits<sizeof(typename ValuesOut::Element)>, T>(
        stream, from.keys(), from.values(), keys_out.view(), values_out.view(), less, by, options));
}

/// Sorts elements by a key function K(T), with its further parameters bound. Computes each key once, then sorts the
/// elements as values of these keys.
template <InputRange In, OutputRange Out, class F, class... B>
requires(Function<F, B...>::free_count == 1) Enqueued
    sort(Stream& stream, const In& in, const Out& out, const Function<F, B...>& key, const SortBy& by = {},
         const Options& options = {}) {
    using K = typename Function<F, B...>::Result;
    static_assert(detail::same_elements<In, Out>, "sort: in and out must have the same element type");
    const detail::InputInMemory held(stream, "sort", detail::input_of(in), out.view(), options,
                                     detail::InPlace::yes);
    const View from = held.view(), to = out.view();
    const Array<K> keys(stream, from.count);
    map(stream, Span<const typename Out::Element>(from), keys, key);
    // Pairs are sorted in place, or from one range to another.
    const Array<K> apart = overlap(from, to) ? Array<K>() : Array<K>(stream, from.count);
    return held.with_order(sort_pairs(stream, keys.view(), from,
                                      overlap(from, to) ? keys.view() : apart.view(), to, by, options));
}

/// Finds the stable order of the keys of a span, array or expression.
template <InputRange In, OutputRange Out>
Enqueued argsort(Stream& stream, const In& in, const Out& out, const SortBy& by = {},
                 const Options& options = {}) {
    using Index = typename Out::Element;
    static_assert(std::is_integral_v<Index> && sizeof(Index) >= 4,
                  "argsort: out must have integers of 4 or 8 bytes");
    const detail::InputInMemory from(stream, "argsort", detail::input_of(in), out.view(), options);
    return from.with_order(argsort(stream, from.view(), View(out.view()), by, options));
}
/// Finds the stable order of keys and returns it as a new array.
template <InputRange In>
[[nodiscard("the results are in a new array")]] Array<u64> argsort(Stream& stream, const In& in,
                                                                   const SortBy& by = {},
                                                                   const Options& options = {}) {
    Array<u64> out(stream, detail::count_in(in));
    argsort(stream, in, out, by, options);
    return out;
}

/// Sorts keys in their own order and returns them as a new array.
template <InputRange In>
[[nodiscard("the results are in a new array")]] auto sort(Stream& stream, const In& in, const SortBy& by = {},
                                                          const Options& options = {}) {
    Array<std::remove_const_t<typename In::Element>> out(stream, detail::count_in(in));
    sort(stream, in, out, by, options);
    return out;
}
/// Sorts elements by a comparator or a key function and returns them as a new array; see sort() with an output.
template <InputRange In, class F, class... B>
[[nodiscard("the results are in a new array")]] auto sort(Stream& stream, const In& in,
                                                          const Function<F, B...>& f, const SortBy& by = {},
                                                          const Options& options = {}) {
    Array<std::remove_const_t<typename In::Element>> out(stream, detail::count_in(in));
    sort(stream, in, out, f, by, options);
    return out;
}
/// Sorts pairs in the keys' own order and returns keys and values as new arrays.
template <InputRange Keys, InputRange Values>
[[nodiscard("the results are in a new array")]] auto sort_pairs(Stream& stream, const Keys& keys,
                                                                const Values& values, const SortBy& by = {},
                                                                const Options& options = {}) {
    std::pair sorted(Array<std::remove_const_t<typename Keys::Element>>(stream, detail::count_in(keys)),
                     Array<std::remove_const_t<typename Values::Element>>(stream, detail::count_in(values)));
    sort_pairs(stream, keys, values, sorted.first, sorted.second, by, options);
    return sorted;
}

}  // namespace concord
