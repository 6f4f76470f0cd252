#pragma once
/// Generated inputs: any part of one can be made at any time, from a seed.

#include <concord/types.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace concord::lab {

/// What the elements look like. In every pattern element i depends on i, the seed and the count alone.
enum class Pattern : u8 {
    random,       ///< integers: all bits; floats: uniform in [-1, 1)
    mixed,        ///< floats: both signs, 1e-20 ... 1e20; integers: the extremes, 0, 1, -1 among random ones
    constant,     ///< all equal, and no binary fraction
    near_one,     ///< floats: positive, so that the product stays in range; integers: odd
    sorted,       ///< ascending, over the whole range of integers or over [-1, 1)
    reversed,     ///< the same, descending
    alternating,  ///< the signs take turns, so that sums cancel; magnitudes are random
    skewed,       ///< 99 % of the elements have one value, the others are random
    few,          ///< seven values, in equal parts
    digit,        ///< 8 bits in the middle are random (of bytes 4), all others the same in every element
    tiny,         ///< floats only: denormals, the smallest normals, zeros of both signs
    zeros,        ///< floats only: zeros of both signs
    special       ///< floats only: NaN, infinities, zeros of both signs and denormals among random ones
};

/// All of them.
inline constexpr Pattern all_patterns[] = {
    Pattern::random,   Pattern::mixed,       Pattern::constant, Pattern::near_one, Pattern::sorted,
    Pattern::reversed, Pattern::alternating, Pattern::skewed,   Pattern::few,      Pattern::digit,
    Pattern::tiny,     Pattern::zeros,       Pattern::special};

/// Whether elements of that type can look like that.
bool applies(Pattern pattern, Type type);

std::string_view name_of(Pattern pattern);
/// The pattern of that name, if there is one.
std::optional<Pattern> pattern_named(std::string_view name);

/// SplitMix64: the i-th number of a sequence without the ones before it.
constexpr u64 random_bits(u64 seed, u64 i) {
    u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// `count` elements that depend on nothing but these members.
struct Input {
    Type type = Type::u8;
    u64 count = 0;
    Pattern pattern = Pattern::random;
    u64 seed = 0;
    /// The bits of element i from 64 random ones, instead of what the pattern says of them; the pattern is then a name.
    std::function<u64(u64 i, u64 bits)> custom = {};

    u64 bytes() const { return count * size_of(type); }
    /// Writes elements [first, first + count of `to`), whole elements.
    void make(u64 first, std::span<std::byte> to) const;
    /// Keeps all elements in memory from now on, if they are at most most_held_bytes(). Not thread-safe.
    void hold() const;
    /// Elements [first, first + n) as bytes: a piece of what is held, or made in `scratch`.
    std::span<const std::byte> piece(u64 first, u64 n, std::vector<std::byte>& scratch) const;
    /// Whether all elements are in memory.
    bool held() const { return !memory->empty() || count == 0; }

    /// What hold() made; copies share it.
    std::shared_ptr<std::vector<std::byte>> memory = std::make_shared<std::vector<std::byte>>();
};

/// The value below which a fraction q of a random input (Pattern::random) lies, for q in [0, 1).
template <class T>
constexpr T random_quantile(double q) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(2 * q - 1);
    } else {
        constexpr auto low = static_cast<double>(std::numeric_limits<T>::lowest());
        return static_cast<T>(low + q * (static_cast<double>(std::numeric_limits<T>::max()) - low));
    }
}

/// Calls f(first, count) for pieces of [0, n), several at once on as many threads as the machine has. What f
/// throws is thrown here.
void parallel_pieces(u64 n, u64 piece, const std::function<void(u64 first, u64 count)>& f);

/// Bytes of host memory that are free; as good as endless where the system does not say.
u64 available_host_memory();
/// How large an input may be to be kept in memory: a sixteenth of what was free at first, at least 128 MiB. A
/// larger one is made anew, piece by piece, whenever it is looked at.
u64 most_held_bytes();

}  // namespace concord::lab
