#pragma once
// The built-in bins: functions, their host kernels, and the resolved bins made of them.
//
// T: type of the samples; U: unsigned integer of the size of T; W: u32, or u64 for samples of 8 bytes; Bin: u32 for at
// most 2^30 bins, else u64. A function returns the largest Bin for a sample that is not counted.

#include "histogram_variants.hpp"

#include <concord/internal/builtin_function.hpp>
#include <concord/internal/kernel_key.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, u64, u32>;

// Even bins of floats. I: signed Bin.
template <class T, class Bin, class I = std::make_signed_t<Bin>>
CONCORD_BUILTIN_OF((T, Bin, I), Bin, even, (T x, T lo, T hi, T scale, Bin last),
                   const bool counted = (x >= lo) & (x < hi);
                   const I bin = I(counted ? (x - lo) * scale : T(-1));
                   return Bin(bin < I(last) ? bin : I(last));)

// Exact bins. F: type of the edges; E: type in which they are computed; B: type of low and high, the smallest counted
// sample and the largest. G: type of a position in bins, (x - from) * scale, which is not exact. A sample whose
// position is less than `reach` from the middle of a bin is in that bin. One below the first middle is in the first
// bin, one above the last middle, `top`, in the last. Others are compared with an edge.
//
// The bin, or 0xfffffffe if the position does not decide.
template <class T, class G, class B>
CONCORD_BUILTIN_OF((T, G, B), u32, histogram_guess, (T x, G from, G scale, G reach, G top, B low, B high),
                   const bool counted = (B(x) >= low) & (B(x) <= high);
                   const G position = (G(counted ? B(x) : low) - from) * scale;
                   const G at = position < top ? position : top; const i32 bin = i32(at);
                   const G off = at - G(bin) - G(0.5f);
                   const bool decides = ((off < 0 ? -off : off) < reach) | (at < G(0.5f));
                   return !counted  ? 0xffffffffu
                          : decides ? u32(bin)
                                    : 0xfffffffeu;)
template <class T, class G, class B>
[[gnu::always_inline]] inline u32 histogram_guess(T x, G from, G scale, G reach, G top, B low, B high) {
    return histogram_guess_function<T, G, B>::call(x, from, scale, reach, top, low, high);
}
template <class T, class F, class E, class G, class B>
CONCORD_BUILTIN_OF((T, F, E, G, B), u32, exact,
                   (T x, E lo, E step, G from, G scale, G reach, G top, B low, B high),
                   const u32 bin = histogram_guess(x, from, scale, reach, top, low, high);
                   if (bin != 0xfffffffeu) return bin;
                   const i32 near = i32((G(B(x)) - from) * scale - G(0.5f)), last = i32(top);
                   const i32 next = near + (F(x) >= F(E(near + 1) * step + lo) ? 1 : 0);
                   return u32(next < last ? next : last);)

// exact_function and its bound values, as kernels receive them.
template <class T, class F, class E, class G, class B>
struct Exact {
    E lo, step;
    G from, scale, reach, top;
    B low, high;

    [[gnu::always_inline]] u32 operator()(T x) const {
        return exact_function<T, F, E, G, B>::call(x, lo, step, from, scale, reach, top, low, high);
    }
    [[gnu::always_inline]] u32 guess(T x) const {
        return histogram_guess(x, from, scale, reach, top, low, high);
    }
    static const Operator& erased() {
        static const Operator op = [] {
            Operator made = Function<exact_function<T, F, E, G, B>, E, E, G, G, G, G, B, B>::erased();
            const std::string text = named(histogram_guess_function<T, G, B>::text(), "histogram_guess") +
                                     "\n#define HISTOGRAM_GUESS(x) " + private_name("histogram_guess") +
                                     "(x, op.v2, op.v3, op.v4, op.v5, op.v6, op.v7)";
            made.helpers.push_back({"histogram_guess", text, made.file, made.line});
            made.unportable.clear();
            made.hash = content_hash(made.text + text);
            return made;
        }();
        return op;
    }
};

// Even bins of integers in a range of at most 2^32, if the width of a bin is a power of two. first: smallest counted
// sample; last: largest counted sample - first; ahead: first - lo.
template <class T, class U, class W>
CONCORD_BUILTIN_OF((T, U, W), u32, even_shift, (T x, W first, W last, u32 ahead, u32 shift),
                   const U above = U(W(x) - first);
                   return above <= last ? (u32(above) + ahead) >> shift : 0xffffffffu;)

// d * p / q for every d < 2^32, or in the functions below d < 2^64, rounded down, without a division: d * whole + (d *
// fraction >> 64), or >> 128. high, low: the fractional part of p / q, rounded up to 64 or 128 bits. The rounding error
// e / (2^64 q), e < q, adds less than 1 / q to the result, so the result never reaches the next integer.
//
// Even bins of integers in a range of at most 2^32.
template <class T, class U, class W>
CONCORD_BUILTIN_OF((T, U, W), u32, even_ratio,
                   (T x, W first, W last, u32 ahead, u32 whole, u32 high, u32 low),
                   const U above = U(W(x) - first);
                   const u32 d = u32(above) + ahead;
                   return above <= last ? d * whole + u32((u64(d) * high + (u64(d) * low >> 32)) >> 32)
                                        : 0xffffffffu;)
// Remainder of samples of at most 32 bits for at most 2^30 bins.
template <class T>
CONCORD_BUILTIN_OF((T), u32, modulo, (T x, u32 bins, u32 whole, u32 high, u32 low), const u32 d = x;
                   return d - (d * whole + u32((u64(d) * high + (u64(d) * low >> 32)) >> 32)) * bins;)

// Even bins of integers in any range.
template <class T, class U, class W, class Bin>
CONCORD_BUILTIN_OF((T, U, W, Bin), Bin, even_wide,
                   (T x, W first, W last, u64 ahead, u64 whole, u64 high, u64 low),
                   const U above = U(W(x) - first);
                   const u64 d = above + ahead; const u64 part = mul_hi(d, low);
                   const u64 bin = d * whole + mul_hi(d, high) + (part + d * high < part ? 1 : 0);
                   return above <= last ? Bin(bin) : Bin(~Bin(0));)
// Remainder of any unsigned sample for any number of bins.
template <class T, class Bin>
CONCORD_BUILTIN_OF((T, Bin), Bin, modulo_wide, (T x, u64 bins, u64 whole, u64 high, u64 low), const u64 d = x;
                   const u64 part = mul_hi(d, low);
                   const u64 ratio = d * whole + mul_hi(d, high) + (part + d * high < part ? 1 : 0);
                   return Bin(d - ratio * bins);)

// The sample itself. Negative samples become numbers that exceed every bin.
template <class T, class W, class Bin>
CONCORD_BUILTIN_OF((T, W, Bin), Bin, identity, (T x), return W(x) <= W(~Bin(0)) ? Bin(x) : Bin(~Bin(0));)

// More than 2^30 bins are counted by textbook variants only.
template <class T, class Op>
constexpr HistogramHost host_of() {
    using Bin = decltype(Op()(T()));
    if constexpr (sizeof(Bin) == 4) {
        return {.narrow = host_kernel<&host::histogram_bin<T, Bin, Op>>()};
    } else {
        return {.wide = plain_host_kernel<&host::histogram_bin<T, Bin, Op>>()};
    }
}

template <class T, class... More>
ResolvedBins resolved(const Exact<T, More...>& values) {
    static constexpr HistogramHost host = host_of<T, Exact<T, More...>>();
    ResolvedBins bins{.op = &values.erased(), .host = &host, .size = sizeof values};
    std::memcpy(bins.values.data(), &values, sizeof values);
    return bins;
}
// The bins by F<T, More...> with its bound values. U: type of the samples for the host, which is unsigned if the sign
// is in the values only.
template <template <class...> class F, class T, class U, class... More, class... V>
ResolvedBins resolved(V... values) {
    static constexpr HistogramHost host = host_of<U, HostFunction<F<U, More...>, 1>>();
    const auto function = Function<F<T, More...>>{}.bind(values...);
    const auto bytes = function.packed();
    ResolvedBins bins{.op = &function.erased(), .host = &host, .size = bytes.size()};
    std::copy(bytes.begin(), bytes.end(), bins.values.begin());
    return bins;
}

}  // namespace
}  // namespace concord::detail
