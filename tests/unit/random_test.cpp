// Random through the public API; `concord check` covers types, sizes and offsets.
// No baseline: cuRAND is not among the libraries of the baselines, and the generators of the C++ library are serial.
#include "devices.hpp"

#include <concord/random.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace concord;
using test::throws;

namespace {

using V = Vocabulary;

std::vector<u32> words(u32x4 block) {
    return {block.x, block.y, block.z, block.w};
}

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("philox4x32_has_the_published_results") {
    CHECK(words(V::philox4x32(V::make_u32x4(0, 0, 0, 0), V::make_u32x2(0, 0))) ==
          std::vector<u32>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    constexpr u32 ones = 0xffffffff;
    CHECK(words(V::philox4x32(V::make_u32x4(ones, ones, ones, ones), V::make_u32x2(ones, ones))) ==
          std::vector<u32>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(words(V::philox4x32(V::make_u32x4(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
                              V::make_u32x2(0xa4093822, 0x299f31d0))) ==
          std::vector<u32>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

DEVICE_TEST(random_bits_are_words_of_philox) {
    const auto stream = device.create_stream();
    CHECK(random<u32>(*stream, 4, Distribution::bits, 0).to_host(*stream) ==
          std::vector<u32>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    constexpr u64 seed = 0x299f31d0a4093822, block = 0x3fffffff89abcdef;
    const auto expected = words(
        V::philox4x32(V::make_u32x4(0x89abcdef, 0x3fffffff, 0, 0), V::make_u32x2(0xa4093822, 0x299f31d0)));
    CHECK(random<u32>(*stream, 4, Distribution::bits, seed, 4 * block).to_host(*stream) == expected);
    CHECK(random<u32>(*stream, 2, Distribution::bits, seed, 4 * block + 1).to_host(*stream) ==
          std::vector<u32>{expected[1], expected[2]});
    CHECK(random<u64>(*stream, 2, Distribution::bits, seed, 2 * block).to_host(*stream) ==
          std::vector<u64>{u64{expected[1]} << 32 | expected[0], u64{expected[3]} << 32 | expected[2]});
}

DEVICE_TEST(random_elements_depend_on_their_index_alone) {
    const auto stream = device.create_stream();
    const auto check = [&]<class T>(T, Distribution distribution) {
        CAPTURE(std::string(name_of(distribution)));
        constexpr u64 n = 3000;
        const std::vector<T> all = random<T>(*stream, n, distribution, 7).to_host(*stream);
        for (const u64 offset : {1, 2, 3, 1021}) {
            CAPTURE(offset);
            const std::vector<T> rest =
                random<T>(*stream, n - offset, distribution, 7, offset).to_host(*stream);
            CHECK(rest == std::vector<T>(all.begin() + static_cast<std::ptrdiff_t>(offset), all.end()));
        }
        // The sequence has 2^64 elements.
        const std::vector<T> around = random<T>(*stream, 15, distribution, 7, u64{0} - 5).to_host(*stream);
        CHECK(std::vector<T>(around.begin() + 5, around.end()) ==
              std::vector<T>(all.begin(), all.begin() + 10));
        // A part of an array; the other elements stay.
        const Array<T> out(*stream, std::vector<T>(20, T(9)));
        random(*stream, out.span().part(3, 10), distribution, 7, 2);
        std::vector<T> expected(20, T(9));
        std::copy_n(all.begin() + 2, 10, expected.begin() + 3);
        CHECK(out.to_host(*stream) == expected);
        CHECK(random<T>(*stream, n, distribution, 8).to_host(*stream) != all);
    };
    check(u32{}, Distribution::bits);
    check(u64{}, Distribution::bits);
    check(f32{}, Distribution::uniform);
    check(f64{}, Distribution::uniform);
    check(f32{}, Distribution::normal);
    check(f64{}, Distribution::normal);
}

DEVICE_TEST(uniform_and_normal_numbers_are_functions_of_bits) {
    const auto stream = device.create_stream();
    const auto check = [&]<class T, class W>(T, W) {
        constexpr u64 n = 4000;
        const auto bits = random<W>(*stream, n, Distribution::bits, 5, 1).to_host(*stream);
        const auto uniform = random<T>(*stream, n, Distribution::uniform, 5, 1).to_host(*stream);
        const auto normal = random<T>(*stream, n, Distribution::normal, 5, 1).to_host(*stream);
        constexpr int digits = std::numeric_limits<T>::digits, width = std::numeric_limits<W>::digits;
        // Computed in long double. The angle of an element of an odd index is that of this index.
        f64 worst = 0;
        u64 wrong = 0;
        for (u64 i = 0; i < n; ++i)
            wrong += uniform[i] != std::ldexp(static_cast<T>(bits[i] >> (width - digits)), -digits);
        for (u64 i = 1; i + 1 < n; i += 2) {
            const long double u = static_cast<T>(bits[i]) * std::ldexp(1.0L, -width) +
                                  std::ldexp(1.0L, -width - 1),
                              v = 2 * M_PIl * uniform[i + 1], r = std::sqrt(-2 * std::log(u));
            worst = std::max(worst, static_cast<f64>(std::fabs(normal[i] - r * std::cos(v))));
            worst = std::max(worst, static_cast<f64>(std::fabs(normal[i + 1] - r * std::sin(v))));
        }
        CHECK(wrong == 0);
        CHECK(worst < 16 * static_cast<f64>(std::numeric_limits<T>::epsilon()));
    };
    check(f32{}, u32{});
    check(f64{}, u64{});
}

DEVICE_TEST(random_numbers_have_the_moments_of_their_distribution) {
    const auto stream = device.create_stream();
    constexpr u64 n = 100000;
    const auto moment = [](const auto& values, f64 centre, int power) {
        return std::accumulate(values.begin(), values.end(), 0.0,
                               [&](f64 sum, f64 x) { return sum + std::pow(x - centre, power); }) /
               static_cast<f64>(n);
    };
    const auto check = [&]<class T>(T) {
        const auto uniform = random<T>(*stream, n, Distribution::uniform, 1).to_host(*stream);
        CHECK(*std::min_element(uniform.begin(), uniform.end()) >= 0);
        CHECK(*std::max_element(uniform.begin(), uniform.end()) < 1);
        CHECK(std::fabs(moment(uniform, 0, 1) - 0.5) < 0.004);
        CHECK(std::fabs(moment(uniform, 0.5, 2) - 1 / 12.0) < 0.001);
        const auto normal = random<T>(*stream, n, Distribution::normal, 1).to_host(*stream);
        CHECK(std::fabs(moment(normal, 0, 1)) < 0.013);
        CHECK(std::fabs(moment(normal, 0, 2) - 1) < 0.018);
        CHECK(std::fabs(moment(normal, 0, 3)) < 0.05);
        CHECK(std::fabs(moment(normal, 0, 4) - 3) < 0.13);
    };
    check(f32{});
    check(f64{});
}

DEVICE_TEST(random_of_nothing_and_what_it_refuses) {
    const auto stream = device.create_stream();
    const Array<f32> none(*stream, 0), floats(*stream, 4);
    CHECK(random(*stream, none, Distribution::normal, 1).order == OperationOrder::canonical);
    CHECK(throws(ErrorCode::unsupported, "random: bits supports u32 and u64, got f32",
                 [&] { random(*stream, floats, Distribution::bits, 1); }));
    const Array<u32> ints(*stream, 4);
    CHECK(throws(ErrorCode::unsupported, "random: normal supports f32 and f64, got u32",
                 [&] { random(*stream, ints, Distribution::normal, 1); }));
    for (const Distribution distribution : all_distributions)
        CHECK(distribution_named(name_of(distribution)) == distribution);
    CHECK(!distribution_named("gamma"));
}

TEST_SUITE_END();
