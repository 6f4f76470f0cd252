#pragma once
/// Sort: keys in order, alone or each with a value that goes where its key goes.
///
///     sort        out[0] <= out[1] <= ... are the elements of in
///     sort_pairs  the same of keys, and values_out[i] is the value that came with keys_out[i]
///
/// The order of keys. Integers by value; floats by IEEE 754's totalOrder (by sign, exponent and payload: -NaN first, -0
/// before +0, +NaN last), so that keys alone have one result, to the bit. Every key is turned into an unsigned integer in
/// this order when it is loaded, and back when it is stored (SortCode). Descending is the exact reverse order, for which that
/// integer is complemented. A bit range orders by bits [begin_bit, end_bit) of that integer alone, 0 the lowest. Or by a
/// function made with CONCORD_FUNCTION: of two elements, a comparator, whose result (of any integer type) is nonzero where
/// the first must come before the second, a strict weak order; or of one element, a key function, whose result is the key.
///
/// Stable variants (Variant::stable) keep elements of equal keys in the order of the input, ascending or descending. Where the
/// order is by a bit range only they will do; SortBy::stable passes over the others elsewhere. Keys that are equal in all
/// their bits cannot be told apart, so that alone they are the same in every variant.
///
/// Shapes: all ranges of one length, any number, at any element offset; keys of one type, values of one size (1, 2, 4 or 8
/// bytes; values are moved as bits). In place, out exactly in, the keys are overwritten, and for pairs the values too; with
/// other outputs the inputs stay as they are. Any other overlap with an output is refused. Traffic: each variant's in its
/// kernel's text; at the least everything is read once and written once, and by a radix sort so for each digit of b bits that is not the same in all keys.
///
/// Enqueues on the stream and returns; takes its scratch from the device's pool: as much as keys and values take (pairs in
/// `std_sort` up to twice that), and counts and notes: on CPUs a few MiB, in the sample sorts a byte an element more; on GPUs in
/// `onesweep` and `radix8` at most two bytes an element, in `radix4` and its kin one, in `radix1` four (twice that from 2^32
/// elements on). Sorting networks take none. A key function takes its keys' room in addition, twice where out is not in.
/// Errors: invalid_argument (counts, types, overlap, a bit range outside the key), wrong_device, unsupported,
/// compile_failed, out_of_memory.
///
/// Sources: D. Knuth, The Art of Computer Programming, vol. 3, 5.2; and those in the table of variants.

#include <concord/algorithm.hpp>
#include <concord/detail/sort_host.hpp>
#include <concord/map.hpp>

namespace concord {

enum class SortOrder : u8 { ascending, descending };

std::string_view name_of(SortOrder order);

/// What a call of sort orders by, and how.
struct SortBy {
    static constexpr u32 last_bit = ~u32{0};

    SortOrder order = SortOrder::ascending;
    u32 begin_bit = 0;       ///< the lowest bit that counts
    u32 end_bit = last_bit;  ///< one past the highest; last_bit: that of the key
    bool stable = false;     ///< only stable variants will do
};

namespace detail {

/// How keys of a type become unsigned integers in their order: k ^ (s & fold) ^ flip, where s is k's highest bit in every
/// place; and back: k = c ^ (t & fold), where c is the code ^ flip and t its highest bit in every place.
struct SortCode {
    u64 fold;  ///< for floats all bits but the highest: below zero, magnitudes count the other way
    u64 flip;  ///< the highest bit of signed types, and then all bits for descending order
};
SortCode sort_code(Type type, const SortBy& by);

/// The host kernels of one order, of a comparator or of the codes, on one type of key and one of value. A null one is not
/// compiled.
struct SortHost {
    HostKernel merge_tiles = {}, merge_runs = {};
    HostKernel std_sort = {};  ///< the textbook's
};

/// All of them; defined in concord/sort_textbook.hpp.
template <class T, class V, class Less>
struct SortTextbook;

/// Those of a call: the textbook's only on request.
template <class T, class V, class Less>
const SortHost& sort_host() {
    using O = HostOperator<Less>;
    if constexpr (O::textbook) {
        return SortTextbook<T, V, typename O::Type>::kernels;
    } else {
        static constexpr SortHost kernels{
            .merge_tiles = plain_host_kernel<&detail::host::merge_tiles<T, V, Less>>(),
            .merge_runs = plain_host_kernel<&detail::host::merge_runs<T, V, Less>>()};
        return kernels;
    }
}

/// A call with its types erased.
struct SortProblem {
    View in, out;                ///< keys
    View values_in, values_out;  ///< without buffers: keys alone
    SortBy by;                   ///< end_bit is a number
    const Operator* less;        ///< null: the keys' own order
    ValueBytes less_values;      ///< the comparator's bound values
    const SortHost* host;        ///< null: text only

    Type type() const { return in.type; }
    u64 count() const { return in.count; }
    u32 key_size() const { return size_of(in.type); }
    bool pairs() const { return values_in.buffer != nullptr; }
    /// Bytes of a value; 0 without values.
    u32 value_size() const { return pairs() ? size_of(values_in.type) : 0; }
    /// Of keys and values alike.
    bool in_place() const { return overlap(in, out); }
    /// Whether not all bits count.
    bool some_bits() const { return by.begin_bit > 0 || by.end_bit < 8 * key_size(); }
    SortCode code() const { return sort_code(in.type, by); }
    u64 bytes() const { return in.bytes() + (pairs() ? values_in.bytes() : 0); }
};

Enqueued sort(Stream& stream, SortProblem problem, const Options& options);

/// The host kernels of the keys' own order.
const SortHost* sort_builtin_host(u32 key_size, u32 value_size);

/// The unsigned integer of that many bytes; of none for 0.
template <u32 SIZE>
using SortBits = std::conditional_t<
    SIZE == 0, detail::host::NoValue,
    std::conditional_t<SIZE == 1, u8,
                       std::conditional_t<SIZE == 2, u16, std::conditional_t<SIZE == 4, u32, u64>>>>;

/// By a comparator of the user's; V as the values are, or NoValue.
template <class V, class T, class F, class... B>
Enqueued sort_by_less(Stream& stream, const View& in, const View& values_in, const View& out,
                      const View& values_out, const Function<F, B...>& less, const SortBy& by,
                      const Options& options) {
    using Fn = Function<F, B...>;
    static_assert(Fn::free_count == 2, "a comparator takes two elements: bind the rest");
    static_assert(std::is_integral_v<typename Fn::Result>, "the comparator's result is no integer");
    static_assert(std::is_same_v<typename Fn::template Argument<0>, T> &&
                      std::is_same_v<typename Fn::template Argument<1>, T>,
                  "the comparator takes other elements than the keys");
    const auto bound = less.packed();
    return sort(
        stream,
        {in, out, values_in, values_out, by, &Fn::erased(), {bound}, &sort_host<T, V, typename Fn::Host>()},
        options);
}

}  // namespace detail

extern const Algorithm sort_algorithm;

/// By the keys' own order; in and out of one type.
Enqueued sort(Stream& stream, const View& in, const View& out, const SortBy& by = {},
              const Options& options = {});
Enqueued sort_pairs(Stream& stream, const View& keys_in, const View& values_in, const View& keys_out,
                    const View& values_out, const SortBy& by = {}, const Options& options = {});

/// On spans or arrays.
template <Range In, Range Out>
Enqueued sort(Stream& stream, const In& in, const Out& out, const SortBy& by = {},
              const Options& options = {}) {
    return sort(stream, View(in.view()), View(out.view()), by, options);
}
template <Range Keys, Range Values, Range KeysOut, Range ValuesOut>
Enqueued sort_pairs(Stream& stream, const Keys& keys_in, const Values& values_in, const KeysOut& keys_out,
                    const ValuesOut& values_out, const SortBy& by = {}, const Options& options = {}) {
    return sort_pairs(stream, View(keys_in.view()), View(values_in.view()), View(keys_out.view()),
                      View(values_out.view()), by, options);
}

/// By a comparator, I(T, T) for any integer type I, once its trailing parameters are bound. It says itself which way: by
/// has no order and no bits.
template <Range In, Range Out, class F, class... B>
requires(Function<F, B...>::free_count == 2) Enqueued
    sort(Stream& stream, const In& in, const Out& out, const Function<F, B...>& less, const SortBy& by = {},
         const Options& options = {}) {
    using T = typename Out::Element;
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in and out have different types");
    return detail::sort_by_less<detail::host::NoValue, T>(stream, in.view(), {}, out.view(), {}, less, by,
                                                          options);
}
template <Range Keys, Range Values, Range KeysOut, Range ValuesOut, class F, class... B>
Enqueued sort_pairs(Stream& stream, const Keys& keys_in, const Values& values_in, const KeysOut& keys_out,
                    const ValuesOut& values_out, const Function<F, B...>& less, const SortBy& by = {},
                    const Options& options = {}) {
    using T = typename KeysOut::Element;
    static_assert(std::is_same_v<std::remove_const_t<typename Keys::Element>, T>,
                  "keys_in and keys_out have different types");
    return detail::sort_by_less<detail::SortBits<sizeof(typename ValuesOut::Element)>, T>(
        stream, keys_in.view(), values_in.view(), keys_out.view(), values_out.view(), less, by, options);
}

/// Elements in the order of their keys, which a function gives: K(T), once its trailing parameters are bound. The keys are
/// computed once, and sorted with the elements for values.
template <Range In, Range Out, class F, class... B>
requires(Function<F, B...>::free_count == 1) Enqueued
    sort(Stream& stream, const In& in, const Out& out, const Function<F, B...>& key, const SortBy& by = {},
         const Options& options = {}) {
    using K = typename Function<F, B...>::Result;
    const View from = in.view(), to = out.view();
    const Array<K> keys(stream, from.count);
    map(stream, in, keys, key);
    const Array<K> sorted = overlap(from, to) ? keys : Array<K>(stream, from.count);
    return sort_pairs(stream, keys.view(), from, sorted.view(), to, by, options);
}

}  // namespace concord
