#pragma once
/// @file
/// Generated inputs. Any part of an input can be generated at any time from its seed.

#include <concord/types.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace concord::lab {

/// Distribution of an input's elements. In every pattern element i depends on i, the seed and the count alone.
enum class Pattern : u8 {
    random,       ///< integers: all bits random; floats: uniform in [-1, 1)
    mixed,        ///< floats: both signs, 1e-20 to 1e20; integers: random, with the extremes, 0, 1 and -1
    constant,     ///< all elements equal: 0.1 or 3
    near_one,     ///< floats: positive and near 1, so that the product stays in range; integers: odd
    sorted,       ///< ascending, over the whole range of integers or over [-1, 1)
    reversed,     ///< descending, over the same range
    alternating,  ///< random magnitudes with alternating signs, so that sums cancel
    skewed,       ///< 99 % of the elements have one value, the others are random
    few,          ///< seven values, uniformly distributed
    digit,        ///< 8 bits in the middle are random (4 bits for 1-byte types); all other bits are constant
    tiny,         ///< floats only: denormals, the smallest normals and zeros of both signs
    zeros,        ///< floats only: zeros of both signs
    special       ///< floats only: random, with NaNs, infinities, zeros of both signs and denormals
};

/// All patterns.
inline constexpr Pattern all_patterns[] = {
    Pattern::random,   Pattern::mixed,       Pattern::constant, Pattern::near_one, Pattern::sorted,
    Pattern::reversed, Pattern::alternating, Pattern::skewed,   Pattern::few,      Pattern::digit,
    Pattern::tiny,     Pattern::zeros,       Pattern::special};

/// Whether the pattern is defined for the type.
bool applies(Pattern pattern, Type type);

/// Name of a pattern: "near_one".
std::string_view name_of(Pattern pattern);
/// The pattern of that name, or nothing.
std::optional<Pattern> pattern_named(std::string_view name);

/// The i-th number of a SplitMix64 sequence, in constant time (G. Steele, D. Lea, C. Flood, Fast Splittable
/// Pseudorandom Number Generators, 2014).
constexpr u64 random_bits(u64 seed, u64 i) {
    u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// A generated input. Its elements depend on the first five members alone.
struct Input {
    Type type = Type::u8;               ///< element type
    u64 count = 0;                      ///< number of elements
    Pattern pattern = Pattern::random;  ///< distribution of the elements
    u64 seed = 0;                       ///< seed of the generator
    /// Computes the bits of element i from 64 random bits. Replaces the pattern, which then is only a name.
    std::function<u64(u64 i, u64 bits)> custom = {};

    /// Size in bytes.
    u64 bytes() const { return count * size_of(type); }
    /// Generates elements from `first` on into `to`, whose size is a multiple of the element size.
    void make(u64 first, std::span<std::byte> to) const;
    /// Generates all elements and keeps them in memory, if they take at most max_held_bytes(). Not thread-safe.
    void hold() const;
    /// Elements [first, first + n) as bytes: from memory, or generated into `scratch`.
    std::span<const std::byte> piece(u64 first, u64 n, std::vector<std::byte>& scratch) const;
    /// Whether all elements are in memory.
    bool held() const { return !memory->empty() || count == 0; }

    /// Elements that hold() generated. Copies share them.
    std::shared_ptr<std::vector<std::byte>> memory = std::make_shared<std::vector<std::byte>>();
};

/// Quantile q in [0, 1) of a random input (Pattern::random): a fraction q of the elements is below the result.
template <class T>
constexpr T random_quantile(double q) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(2 * q - 1);
    } else {
        constexpr auto low = static_cast<double>(std::numeric_limits<T>::lowest());
        return static_cast<T>(low + q * (static_cast<double>((std::numeric_limits<T>::max)()) - low));
    }
}

/// Calls f(first, count) for pieces of [0, n) on as many threads as CONCORD_THREADS allows. Rethrows the first
/// exception of f. Blocks.
void parallel_pieces(u64 n, u64 piece, const std::function<void(u64 first, u64 count)>& f);

/// Free host memory in bytes. The largest u64 if the system does not report it.
u64 available_host_memory();
/// Limit of Input::hold() in bytes: a sixteenth of the host memory that was free at the first call, at least 128 MiB
/// and at most 16 GiB. Larger inputs are generated again, piece by piece, at every use.
u64 max_held_bytes();

}  // namespace concord::lab
