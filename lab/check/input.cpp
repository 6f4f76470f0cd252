#include <concord/lab/input.hpp>

#include <concord/detail/float_environment.hpp>
#include <concord/internal/host_threads.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

namespace concord::lab {
namespace {

// Uniform in [-1, 1).
double uniform(u64 bits) {
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

// True for one element in a hundred. Uses other bits than the values.
bool rare(u64 bits) {
    return (bits * 0x9e3779b97f4a7c15 >> 32) % 100 == 0;
}

__extension__ using u128 = unsigned __int128;

using detail::BitsOf;

// Floats are generated as bits, because some code quiets a signalling NaN that it moves as a value.
template <class T>
BitsOf<T> special_bits(u64 bits) {
    using L = std::numeric_limits<T>;
    using B = BitsOf<T>;
    const B sign = B(bits >> 8 & 1) << (sizeof(T) * 8 - 1);
    constexpr B quiet = B(1) << (L::digits - 2);
    const B infinity = std::bit_cast<B>(L::infinity());
    switch (bits % 7) {
        case 0:
            return sign | infinity | quiet | (B(bits >> 9) & (quiet - 1));  // quiet NaN with a payload
        case 1:
            return sign | infinity | B(1);  // signalling NaN
        case 2:
            return sign | infinity;
        case 3:
            return sign;
        case 4:
            return sign | std::bit_cast<B>(L::denorm_min());
        case 5:
            return sign | (B(bits >> 9) & (quiet - 1));  // denormal
        default:
            return sign | std::bit_cast<B>(L::min());
    }
}

// Replaces the 8 (or 4) bits in the middle.
template <class B>
B with_digit(B base, u64 bits) {
    constexpr int low = sizeof(B) == 1 ? 2 : 4 * (sizeof(B) - 1), width = sizeof(B) == 1 ? 4 : 8;
    constexpr u64 digit = ((u64{1} << width) - 1) << low;
    return static_cast<B>((static_cast<u64>(base) & ~digit) | (bits << low & digit));
}

template <class T>
BitsOf<T> tiny_bits(u64 bits) {
    using L = std::numeric_limits<T>;
    using B = BitsOf<T>;
    const B sign = B(bits >> 8 & 1) << (sizeof(T) * 8 - 1);
    switch (bits % 4) {
        case 0:
            return sign;
        case 1:
            return sign | std::bit_cast<B>(L::min());
        default:
            return sign | (B(bits >> 9) & ((B(1) << (L::digits - 1)) - 1));
    }
}

template <class T>
BitsOf<T> float_bits(Pattern pattern, u64 bits, double spread, u64 i, u64 count) {
    using B = BitsOf<T>;
    // Ascends from 0 to 1 with i.
    auto place = [count](u64 at) { return static_cast<double>(at) / static_cast<double>(count); };
    switch (pattern) {
        case Pattern::mixed: {
            // 2^-66 ... 2^66 is 1e-20 ... 1e20.
            const double magnitude =
                std::ldexp(1 + static_cast<double>(bits >> 16) * 0x1p-48, static_cast<int>(bits % 133) - 66);
            return std::bit_cast<B>(static_cast<T>((bits >> 8 & 1) != 0 ? -magnitude : magnitude));
        }
        case Pattern::constant:
            return std::bit_cast<B>(static_cast<T>(0.1));
        case Pattern::near_one:
            return std::bit_cast<B>(static_cast<T>(1 + spread * uniform(bits)));
        case Pattern::sorted:
            return std::bit_cast<B>(static_cast<T>(2 * place(i) - 1));
        case Pattern::reversed:
            return std::bit_cast<B>(static_cast<T>(1 - 2 * place(i + 1)));
        case Pattern::alternating: {
            const double magnitude = 0.75 + uniform(bits) / 4;
            return std::bit_cast<B>(static_cast<T>(i % 2 == 0 ? magnitude : -magnitude));
        }
        case Pattern::skewed:
            return std::bit_cast<B>(static_cast<T>(rare(bits) ? uniform(bits) : 0.1));
        case Pattern::few:
            return std::bit_cast<B>(static_cast<T>(uniform(random_bits(7, bits % 7))));
        case Pattern::digit:
            return with_digit(std::bit_cast<B>(static_cast<T>(0.1)), bits);
        case Pattern::tiny:
            return tiny_bits<T>(bits);
        case Pattern::zeros:
            return B(bits >> 8 & 1) << (sizeof(T) * 8 - 1);
        case Pattern::special:
            if (bits >> 60 == 0) return special_bits<T>(bits);
            [[fallthrough]];
        default:
            return std::bit_cast<B>(static_cast<T>(uniform(bits)));
    }
}

template <class T>
T integer(Pattern pattern, u64 bits, u64 i, u64 count) {
    using L = std::numeric_limits<T>;
    // Ascends from the smallest to the largest value with i.
    auto place = [count](u64 at) {
        const u64 range = static_cast<u64>(L::max()) - static_cast<u64>(L::min());
        return static_cast<T>(static_cast<u64>(L::min()) +
                              static_cast<u64>(static_cast<u128>(range) * at / count));
    };
    switch (pattern) {
        case Pattern::mixed: {
            const T extremes[] = {L::min(), L::max(), T(0), T(1), static_cast<T>(-1)};
            return bits >> 62 == 0 ? extremes[bits % 5] : static_cast<T>(bits);
        }
        case Pattern::constant:
            return T(3);
        case Pattern::near_one:
            return static_cast<T>(bits | 1);
        case Pattern::sorted:
            return place(i);
        case Pattern::reversed:
            return place(count - 1 - i);
        case Pattern::alternating: {
            const u64 magnitude = bits % 100;
            return static_cast<T>(i % 2 == 0 ? magnitude : 0 - magnitude);
        }
        case Pattern::skewed:
            return rare(bits) ? static_cast<T>(bits) : T(3);
        case Pattern::few:
            return static_cast<T>(random_bits(7, bits % 7));
        case Pattern::digit:
            return static_cast<T>(with_digit(static_cast<std::make_unsigned_t<T>>(3), bits));
        default:
            return static_cast<T>(bits);
    }
}

// Of storage types, mixed values have random bits.
template <class T>
T value_of(Pattern pattern, u64 bits, double spread, u64 i, u64 count) {
    if constexpr (std::is_class_v<T>) {
        if (pattern == Pattern::mixed) return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
        return static_cast<T>(value_of<detail::AccumulatorOf<T>>(pattern, bits, spread, i, count));
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::bit_cast<T>(float_bits<T>(pattern, bits, spread, i, count));
    } else {
        return integer<T>(pattern, bits, i, count);
    }
}

// Splits [0, n) into pieces. Each thread takes the next free piece.
void run_pieces(u64 n, u64 piece, const std::function<void(u64, u64)>& f) {
    std::atomic<u64> next = 0;
    std::exception_ptr failure;
    std::mutex mutex;
    auto work = [&] {
        for (u64 first = next.fetch_add(piece); first < n; first = next.fetch_add(piece)) {
            try {
                f(first, std::min(piece, n - first));
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                return;
            }
        }
    };
    std::vector<std::jthread> threads;
    const u64 pieces = n / piece + 1;
    for (u64 i = 1; i < std::min<u64>(pieces, detail::host_threads()); ++i)
        threads.emplace_back(work);
    work();
    threads.clear();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

u64 available_host_memory() {
    std::ifstream file("/proc/meminfo");
    for (std::string name; file >> name;) {
        u64 kib = 0;
        if (!(file >> kib)) break;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
        if (name == "MemAvailable:") return kib * 1024;
    }
    return ~u64{0};
}

u64 max_held_bytes() {
    static const u64 bytes = std::clamp(available_host_memory() / 16, u64{1} << 27, u64{1} << 34);
    return bytes;
}

std::string_view name_of(Pattern pattern) {
    constexpr std::string_view names[] = {"random",   "mixed",       "constant", "near_one", "sorted",
                                          "reversed", "alternating", "skewed",   "few",      "digit",
                                          "tiny",     "zeros",       "special"};
    static_assert(std::size(names) == std::size(all_patterns));
    return names[static_cast<std::size_t>(pattern)];
}

std::optional<Pattern> pattern_named(std::string_view name) {
    for (const Pattern pattern : all_patterns) {
        if (name_of(pattern) == name) return pattern;
    }
    return std::nullopt;
}

bool applies(Pattern pattern, Type type) {
    return is_float(type) ||
           (pattern != Pattern::tiny && pattern != Pattern::zeros && pattern != Pattern::special);
}

void Input::make(u64 first, std::span<std::byte> to) const {
    detail::visit_element(type, [&]<class T>(detail::TypeTag<T>) {
        const u64 n = to.size() / sizeof(T);
        const u64 key = random_bits(seed, static_cast<u64>(type) * 16 + static_cast<u64>(pattern));
        // Keeps the logarithm of the product within a few units.
        const double spread = std::min(0.5, 4 / std::sqrt(static_cast<double>(count)));
        for (u64 i = 0; i < n; ++i) {
            const u64 bits = random_bits(key, first + i);
            if (custom) {
                const u64 value = custom(first + i, bits);
                std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
            } else if constexpr (std::is_floating_point_v<T>) {
                const auto value = float_bits<T>(pattern, bits, spread, first + i, count);
                std::memcpy(to.data() + i * sizeof(T), &value, sizeof value);
            } else {
                const T value = value_of<T>(pattern, bits, spread, first + i, count);
                std::memcpy(to.data() + i * sizeof(T), &value, sizeof value);
            }
        }
    });
}

void Input::hold() const {
    if (held() || bytes() > max_held_bytes()) return;
    std::vector<std::byte> all(bytes());
    const u64 size = size_of(type);
    parallel_pieces(count, u64{1} << 18,
                    [&](u64 first, u64 n) { make(first, std::span(all).subspan(first * size, n * size)); });
    *memory = std::move(all);
}

std::span<const std::byte> Input::piece(u64 first, u64 n, std::vector<std::byte>& scratch) const {
    const u64 size = size_of(type);
    if (held()) return std::span<const std::byte>(*memory).subspan(first * size, n * size);
    scratch.resize(n * size);
    make(first, scratch);
    return scratch;
}

void parallel_pieces(u64 n, u64 piece, const std::function<void(u64, u64)>& f) {
    if (n == 0) return;
    // References and inputs do not depend on the caller's environment.
    const auto compute = [&f](u64 first, u64 count) {
        const detail::DefaultFloatEnvironment environment;
        f(first, count);
    };
    if (n <= piece) return compute(0, n);
    run_pieces(n, piece, compute);
}

}  // namespace concord::lab
