// Results in canonical order are bitwise identical from one version to the next: compares hashes of results of fixed
// inputs. A changed hash is a change of the documented order, and so of the contract.
#include "devices.hpp"

#include <cmath>
#include <cstring>
#include <functional>

using namespace concord;

CONCORD_FUNCTION(f64, canonical_bits_weighted, (f64 a, f64 b, f64 weight), return a + b + weight * (a * b);)

namespace {

// FNV-1a over the bytes of the results.
template <class T>
u64 hash_of(const std::vector<T>& values) {
    u64 hash = 0xcbf29ce484222325;
    for (const T& value : values) {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof value);
        for (const unsigned char byte : bytes)
            hash = (hash ^ byte) * 0x100000001b3;
    }
    return hash;
}

// Values in [-1, 1), from a 64-bit linear congruential generator (Knuth's MMIX constants).
template <class T>
std::vector<T> uniform(u64 n, u64 seed) {
    std::vector<T> values(n);
    for (T& value : values) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        value = static_cast<T>(static_cast<double>(static_cast<i64>(seed) >> 11) * 0x1p-52);
    }
    return values;
}

// Signed powers of two from 2^-40 to 2^40 times a value in [1, 2): most sums round.
template <class T>
std::vector<T> wide_range(u64 n, u64 seed) {
    std::vector<T> values = uniform<T>(n, seed);
    const std::vector<f64> exponents = uniform<f64>(n, seed + 1);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<T>(
            std::ldexp(values[i] + (values[i] < 0 ? -1 : 1), static_cast<int>(exponents[i] * 40)));
    return values;
}

// Products stay finite and normal.
template <class T>
std::vector<T> near_one(u64 n, u64 seed) {
    std::vector<T> values = uniform<T>(n, seed);
    for (T& value : values)
        value = 1 + value / 1024;
    return values;
}

template <class T>
u64 reduce_hash(Stream& stream, const std::vector<T>& values, ReduceOp op) {
    const Array<T> in(stream, values), out(stream.device(), 1);
    reduce(stream, in, out, op);
    return hash_of(out.to_host(stream));
}

template <class T>
u64 segmented_reduce_hash(Stream& stream, const std::vector<T>& values, const std::vector<u32>& offsets) {
    const Array<T> in(stream, values);
    const Array<u32> at(stream, offsets);
    return hash_of(segmented_reduce(stream, in, at).to_host(stream));
}

// Sums of runs with these lengths.
template <class T>
u64 reduce_by_key_hash(Stream& stream, const std::vector<T>& values, const std::vector<u64>& lengths) {
    std::vector<u8> keys;
    for (std::size_t r = 0; r < lengths.size(); ++r)
        keys.insert(keys.end(), lengths[r], static_cast<u8>(r));
    const Array<u8> by(stream, keys);
    const Array<T> in(stream, values);
    return hash_of(reduce_by_key(stream, by, in).second.to_host(stream));
}

template <class T>
u64 segmented_scan_hash(Stream& stream, const std::vector<T>& values, const std::vector<u32>& offsets,
                        ScanKind kind) {
    const Array<T> in(stream, values), out(stream.device(), values.size());
    const Array<u32> at(stream, offsets);
    segmented_scan(stream, in, at, out, ReduceOp::sum, kind);
    return hash_of(out.to_host(stream));
}

// Exclusive sums of runs with these lengths.
template <class T>
u64 scan_by_key_hash(Stream& stream, const std::vector<T>& values, const std::vector<u64>& lengths) {
    std::vector<u8> keys;
    for (std::size_t r = 0; r < lengths.size(); ++r)
        keys.insert(keys.end(), lengths[r], static_cast<u8>(r));
    const Array<u8> by(stream, keys);
    const Array<T> in(stream, values), out(stream.device(), values.size());
    scan_by_key(stream, by, in, out, ReduceOp::sum, ScanKind::exclusive);
    return hash_of(out.to_host(stream));
}

template <class T>
u64 scan_hash(Stream& stream, const std::vector<T>& values, ReduceOp op, ScanKind kind) {
    const Array<T> in(stream, values), out(stream.device(), values.size());
    scan(stream, in, out, op, kind);
    return hash_of(out.to_host(stream));
}

template <class T>
u64 user_scan_hash(Stream& stream, const std::vector<T>& values) {
    const Array<T> in(stream, values), out(stream.device(), values.size());
    scan(stream, in, out, canonical_bits_weighted.bind(0x1.8p-30), T(0), ScanKind::inclusive);
    return hash_of(out.to_host(stream));
}

template <class T>
u64 matmul_hash(Stream& stream, u64 m, u64 n, u64 k, MatmulScale scale) {
    const Array<T> a(stream, uniform<T>(m * k, 11)), b(stream, uniform<T>(k * n, 12)),
        c(stream, uniform<T>(m * n, 13));
    matmul(stream, Matrix(a, m, k), Matrix(b, k, n), Matrix(c, m, n), scale);
    return hash_of(c.to_host(stream));
}

template <class T>
u64 convolve_hash(Stream& stream, u64 rows, u64 columns, u64 side, ConvolveBorder border) {
    const std::vector<T> mask = uniform<T>(side * side, 21);
    const Array<T> in(stream, uniform<T>(rows * columns, 22)), out(stream.device(), rows * columns);
    convolve(stream, Matrix(in, rows, columns), ConvolveMask(mask, side, side), Matrix(out, rows, columns),
             border);
    return hash_of(out.to_host(stream));
}

template <class T>
u64 stencil_hash(Stream& stream, const VolumeExtents& shape, u64 radius, u64 steps) {
    const std::vector<f64> coefficients = uniform<f64>(radius + 1, 31);
    const u64 n = shape.depth * shape.rows * shape.columns;
    const Array<T> in(stream, uniform<T>(n, 32)), out(stream.device(), n);
    stencil(stream, Volume(in, shape), StarCoefficients(std::span<const f64>(coefficients)),
            Volume(out, shape), steps);
    return hash_of(out.to_host(stream));
}

template <class T>
u64 random_hash(Stream& stream, u64 n, Distribution distribution) {
    return hash_of(random<T>(stream, n, distribution, 0x123456789abcdef, 0x123456789).to_host(stream));
}

struct Fixed {
    const char* what;
    u64 expected;
    std::function<u64(Stream&)> hash;
};

const std::vector<Fixed>& fixed_results() {
    static const std::vector<Fixed> all = {
        {"sum of 1000003 uniform f32", 0x9acd589313bc90b3,
         [](Stream& s) { return reduce_hash(s, uniform<f32>(1000003, 1), ReduceOp::sum); }},
        {"sum of 9000001 f32 over 2^-40 ... 2^40", 0x0541ab463ecc47b2,
         [](Stream& s) { return reduce_hash(s, wide_range<f32>(9000001, 2), ReduceOp::sum); }},
        {"sum of 65537 f64 over 2^-40 ... 2^40", 0x063e52918a0814b8,
         [](Stream& s) { return reduce_hash(s, wide_range<f64>(65537, 3), ReduceOp::sum); }},
        {"product of 10007 f32 near one", 0x0ef917a953df5ce2,
         [](Stream& s) { return reduce_hash(s, near_one<f32>(10007, 4), ReduceOp::product); }},
        {"sums of segments of 0 to 9000001 f32 over 2^-40 ... 2^40", 0x07d9193fcbcd2c1a,
         [](Stream& s) {
             return segmented_reduce_hash(s, wide_range<f32>(9010101, 20),
                                          {0, 0, 7, 60, 200, 1100, 10100, 9010101});
         }},
        {"sums of runs of 1 to 9000001 f32 over 2^-40 ... 2^40", 0xa2e068152b2632cc,
         [](Stream& s) {
             return reduce_by_key_hash(s, wide_range<f32>(9011162, 21), {1, 7, 53, 1100, 10000, 9000001});
         }},
        {"inclusive sums of 1048577 f32 over 2^-40 ... 2^40", 0x8b5a346adcdcdce9,
         [](Stream& s) {
             return scan_hash(s, wide_range<f32>(1048577, 5), ReduceOp::sum, ScanKind::inclusive);
         }},
        {"exclusive sums of 70001 uniform f64", 0x2ae2f6839165b1e0,
         [](Stream& s) { return scan_hash(s, uniform<f64>(70001, 6), ReduceOp::sum, ScanKind::exclusive); }},
        {"inclusive products of 4099 f32 near one", 0xa3e7eff92d35de0e,
         [](Stream& s) {
             return scan_hash(s, near_one<f32>(4099, 7), ReduceOp::product, ScanKind::inclusive);
         }},
        {"inclusive scan of 70001 f64 by a user operator", 0xcca870bb1426f16f,
         [](Stream& s) { return user_scan_hash(s, uniform<f64>(70001, 8)); }},
        {"inclusive sums of segments of 0 to 1000000 f32 over 2^-40 ... 2^40", 0xd1264d57ff920776,
         [](Stream& s) {
             return segmented_scan_hash(s, wide_range<f32>(1010101, 22),
                                        {0, 0, 7, 60, 200, 1100, 10101, 1010101}, ScanKind::inclusive);
         }},
        {"exclusive sums of runs of 1 to 100000 f64 over 2^-40 ... 2^40", 0x0af8b5b3a9a24a78,
         [](Stream& s) {
             return scan_by_key_hash(s, wide_range<f64>(111161, 23), {1, 7, 53, 1100, 10000, 100000});
         }},
        {"product of f32 matrices, 129 x 257 times 257 x 65", 0xe4f1b0ea1c12fb74,
         [](Stream& s) { return matmul_hash<f32>(s, 129, 65, 257, {}); }},
        {"0.3 A B - 2 C of f32 matrices, 512 x 384 times 384 x 256", 0xaf2904152c1a9983,
         [](Stream& s) { return matmul_hash<f32>(s, 512, 256, 384, {.alpha = 0.3, .beta = -2}); }},
        {"product of f64 matrices, 130 x 96 times 96 x 48", 0xb243dad55fe8ab77,
         [](Stream& s) { return matmul_hash<f64>(s, 130, 48, 96, {}); }},
        {"5 x 5 convolution of 97 x 131 f32, clamped", 0xd55e8677d99e4cc6,
         [](Stream& s) { return convolve_hash<f32>(s, 97, 131, 5, ConvolveBorder::clamp); }},
        {"3 x 3 convolution of 64 x 1024 f64, zero border", 0xc5330012648a7a02,
         [](Stream& s) { return convolve_hash<f64>(s, 64, 1024, 3, ConvolveBorder::zero); }},
        {"3 steps of the f32 stencil of radius 4 on 20 x 21 x 67", 0xa1501ba731a0fe7e,
         [](Stream& s) { return stencil_hash<f32>(s, {.depth = 20, .rows = 21, .columns = 67}, 4, 3); }},
        {"5 steps of the f64 stencil of radius 1 on 33 x 32 x 31", 0x56b6671a89514ea9,
         [](Stream& s) { return stencil_hash<f64>(s, {.depth = 33, .rows = 32, .columns = 31}, 1, 5); }},
        {"9001 random u32", 0x6c58e825108cefd5,
         [](Stream& s) { return random_hash<u32>(s, 9001, Distribution::bits); }},
        {"9001 uniform random f64", 0x2e0c8dbbfe2f9210,
         [](Stream& s) { return random_hash<f64>(s, 9001, Distribution::uniform); }},
        {"9001 normal random f32", 0x0ca40ef232a36042,
         [](Stream& s) { return random_hash<f32>(s, 9001, Distribution::normal); }},
        {"9001 normal random f64", 0xcd93030e2ae10501,
         [](Stream& s) { return random_hash<f64>(s, 9001, Distribution::normal); }},
    };
    return all;
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(results_in_canonical_order_have_stored_hashes) {
    for (const Fixed& fixed : fixed_results()) {
        CAPTURE(std::string(fixed.what));
        CHECK(fixed.hash(stream) == fixed.expected);
    }
}

TEST_SUITE_END();
