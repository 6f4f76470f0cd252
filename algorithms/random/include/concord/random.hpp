#pragma once
/// @file
/// Random: fills a range with random numbers. Element i depends on the seed and on i alone.
///
///     random                out[k] = element offset + k of the sequence of the seed, 0 <= k < n
///
/// The generator is Philox4x32-10, a function of a counter and a key. The key is (low word, high word) of the seed.
/// Block b is its result for the counter (low word of b, high word of b, 0, 0): four words of 32 bits. Element i is:
///
///     type        bits             uniform                  normal
///     u32         w                -                        -
///     u64         W                -                        -
///     f32         -                (w >> 8) 2^-24           see below
///     f64         -                (W >> 11) 2^-53          see below
///
/// w is word i mod 4 of block i / 4. W has two words, the low one first: words 2 (i mod 2) and 2 (i mod 2) + 1 of block
/// i / 2. Elements are counted modulo 2^64: element 0 follows element 2^64 - 1.
///
/// - Uniform numbers are multiples of 2^-24 (f32) or 2^-53 (f64) in [0, 1).
/// - Normal numbers have mean 0 and variance 1. The transform of Box and Muller makes elements 2 j and 2 j + 1 from
///   their two words a and b, in this order, each operation rounded to the type:
///
///       u = a 2^-32 + 2^-33 (f32), a 2^-64 + 2^-65 (f64); a is first rounded to the type
///       v = 2 times the uniform number of b
///       r = sqrt(-2 log(u))
///       element 2 j = r cospi(v), element 2 j + 1 = r sinpi(v)
///
///   with Concord's log, cospi and sinpi. The largest magnitude is sqrt(66 log 2) = 6.76 for f32 and sqrt(130 log 2) =
///   9.49 for f64. Exact normal numbers exceed these with a probability of 1.4e-11 and 2.3e-21.
/// - Shapes: n elements. They may start at any element offset.
/// - Types: u32 and u64 for bits, f32 and f64 otherwise.
/// - Memory traffic: one write per element. Philox needs 20 products of 32 bits per 16 bytes.
/// - Order: elements are independent, so the variant is canonical. Results are bitwise identical on all devices, and
///   those of a call with an offset are those of a part of a longer call.
/// - Not for cryptography. Philox4x32-10 passes all tests of BigCrush.
/// - Asynchrony: enqueues on the stream and returns.
/// - Errors: invalid_argument (range, read-only memory), wrong_device, unsupported (other types; f64, and normal
///   numbers of f32, on a device without f64).
/// - Source: J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011; G. Box and M. Muller, A Note on
///   the Generation of Random Normal Deviates, 1958.

#include <concord/algorithm.hpp>

namespace concord {

/// Descriptor of random.
extern const Algorithm random_algorithm;

/// Distribution of random numbers.
enum class Distribution : u8 {
    bits,     ///< u32, u64: all bits are random
    uniform,  ///< f32, f64: uniform in [0, 1)
    normal    ///< f32, f64: normal with mean 0 and variance 1
};

/// All distributions.
inline constexpr Distribution all_distributions[] = {Distribution::bits, Distribution::uniform,
                                                     Distribution::normal};

/// Returns "bits", "uniform" or "normal".
std::string_view name_of(Distribution distribution);
/// Returns the distribution with the given name, or nothing.
std::optional<Distribution> distribution_named(std::string_view name);

/// Fills a view with random numbers; see the top of this file.
Enqueued random(Stream& stream, const View& out, Distribution distribution, u64 seed, u64 offset = 0,
                const Options& options = {});

/// Fills a span or an array with random numbers.
template <OutputRange Out>
Enqueued random(Stream& stream, const Out& out, Distribution distribution, u64 seed, u64 offset = 0,
                const Options& options = {}) {
    return random(stream, View(out.view()), distribution, seed, offset, options);
}

/// Returns `count` random numbers of type T as a new array.
template <class T>
[[nodiscard("the results are in a new array")]] Array<T> random(Stream& stream, u64 count,
                                                                Distribution distribution, u64 seed,
                                                                u64 offset = 0, const Options& options = {}) {
    Array<T> out(stream, count);
    random(stream, out.view(), distribution, seed, offset, options);
    return out;
}

}  // namespace concord
