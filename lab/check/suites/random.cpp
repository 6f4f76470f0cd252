// Test cases of random. The reference is independent of the library's code, except for log, sinpi and cospi, which MPFR
// checks; see lab/math.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/random.hpp>
#include <concord/vocabulary.hpp>

#include <array>

namespace concord::lab {
namespace {

using Block = std::array<u32, 4>;

// Philox4x32-10, as the paper's figure: a round is an S-box on each half of the block.
Block philox(u64 number, u64 seed) {
    Block block{static_cast<u32>(number), static_cast<u32>(number >> 32), 0, 0};
    u32 keys[2] = {static_cast<u32>(seed), static_cast<u32>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const u64 even = u64{block[0]} * 0xD2511F53, odd = u64{block[2]} * 0xCD9E8D57;
        block = {block[1] ^ keys[0] ^ static_cast<u32>(odd >> 32), static_cast<u32>(odd),
                 block[3] ^ keys[1] ^ static_cast<u32>(even >> 32), static_cast<u32>(even)};
        keys[0] += 0x9E3779B9;
        keys[1] += 0xBB67AE85;
    }
    return block;
}

// Computes elements in ascending order, each block once.
template <class T>
class Sequence {
  public:
    using W = detail::BitsOf<T>;

    Sequence(Distribution distribution, u64 seed) : distribution_(distribution), seed_(seed) {}

    T at(u64 i) {
        if constexpr (std::is_integral_v<T>) {
            return word(i);
        } else {
            constexpr int kept = std::numeric_limits<T>::digits, width = 8 * sizeof(T);
            const auto uniform = [&](W bits) {
                return std::ldexp(static_cast<T>(bits >> (width - kept)), -kept);
            };
            if (distribution_ == Distribution::uniform) return uniform(word(i));
            const W first = word(i - i % 2), second = word(i - i % 2 + 1);
            const T u = std::ldexp(static_cast<T>(first), -width) + std::ldexp(T(1), -width - 1);
            const T v = 2 * uniform(second), r = std::sqrt(-2 * Vocabulary::log(u));
            return r * (i % 2 == 0 ? Vocabulary::cospi(v) : Vocabulary::sinpi(v));
        }
    }

  private:
    W word(u64 i) {
        constexpr u64 count = sizeof(Block) / sizeof(W);
        if (!is_made_ || number_ != i / count) {
            number_ = i / count;
            block_ = philox(number_, seed_);
            is_made_ = true;
        }
        if constexpr (sizeof(W) == sizeof(u32)) {
            return block_[i % count];
        } else {
            return u64{block_[2 * (i % count) + 1]} << 32 | block_[2 * (i % count)];
        }
    }

    Distribution distribution_;
    u64 seed_, number_ = 0;
    bool is_made_ = false;
    Block block_{};
};

bool applies(Distribution distribution, Type type) {
    return distribution == Distribution::bits ? type == Type::u32 || type == Type::u64 : is_float(type);
}

template <class T>
Work random_work(Distribution distribution, u64 n, u64 seed, u64 offset) {
    Work work;
    work.algorithm = "random";
    work.title = std::string(name_of(distribution));
    if (offset != 0) work.title += " from " + std::to_string(offset);
    work.n = n;
    work.outputs = {{type_of<T>(), n}};
    work.traffic = work.bytes();
    work.in_place = false;
    work.call = [=](Stream& stream, std::span<const View>, std::span<const View> out,
                    const Options& options) {
        return random(stream, out[0], distribution, seed, offset, options);
    };
    work.verify = [=](const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                      Verdict& verdict) {
        Sequence<T> sequence(distribution, seed);
        for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
            const T expected = sequence.at(offset + first + i), value = element<T>(got, i);
            if (!same(expected, value)) return verdict.differ(difference_of(first + i, expected, value));
        }
    };
    return work;
}

std::optional<Work> work_of(Distribution distribution, Type type, u64 n, u64 seed, u64 offset = 0) {
    if (!applies(distribution, type)) return std::nullopt;
    if (type == Type::u32) return random_work<u32>(distribution, n, seed, offset);
    if (type == Type::u64) return random_work<u64>(distribution, n, seed, offset);
    if (type == Type::f32) return random_work<f32>(distribution, n, seed, offset);
    return random_work<f64>(distribution, n, seed, offset);
}

void random_cases(const Plan& plan, Type type, const CaseSink& emit) {
    // Within a block, past 2^32 blocks, and before element 0.
    constexpr u64 offsets[] = {1, 2, 3, 0x123456789abcde, ~u64{0} - 497};
    for (const Distribution distribution : all_distributions) {
        if (!applies(distribution, type)) continue;
        // All bits of the seed.
        const u64 seed = random_bits(plan.seed(), 0);
        for_plan(plan, type, distribution == Distribution::normal ? Plan::Depth::some : Plan::Depth::huge,
                 {Pattern::random}, emit,
                 [&](u64 n, Pattern) { return *work_of(distribution, type, n, seed); });
        for (const u64 offset : offsets) {
            for_plan(plan, type, Plan::Depth::few, {Pattern::random}, emit,
                     [&](u64 n, Pattern) { return *work_of(distribution, type, n, seed, offset); });
        }
    }
}

}  // namespace

Suite random_suite() {
    Suite suite;
    suite.cases = random_cases;
    for (const Distribution distribution : {Distribution::uniform, Distribution::normal, Distribution::bits})
        suite.workloads.push_back({std::string(name_of(distribution)), [=](Type type, u64 n, u64 seed) {
                                       return work_of(distribution, type, n, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
