// Fills, transfers and algorithms on operands around 2^31 and 2^32 elements and bytes. Results are compared in windows
// at both ends, in the middle and around powers of two. `--small` divides the sizes by 4096. Exits with 77 if no test
// has run.
#define DOCTEST_CONFIG_IMPLEMENT
#include "devices.hpp"

#include <concord/lab/input.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

using namespace concord;

namespace {

u64 boundary = u64{1} << 31;

// --- Inputs -------------------------------------------------------------------------------------------------------

// Inputs repeat with a prime period, so that elements a power of two apart differ, and sums, counts and ranks have
// closed forms.
constexpr u64 period = 262139;

// The first elements of the input: random bits, or for floats random integers from -8 to 8.
template <class T>
const std::vector<T>& first_period() {
    static const std::vector<T> values = [] {
        std::vector<T> all = test::random_values<T>(period);
        if constexpr (std::is_floating_point_v<T>) {
            std::transform(all.begin(), all.end(), all.begin(), [](T x) { return std::round(8 * x); });
        }
        return all;
    }();
    return values;
}

template <class T>
T value(u64 i) {
    return first_period<T>()[i % period];
}

// Elements [first, first + n) of the input.
template <class T>
std::vector<T> host_input(u64 n, u64 first = 0) {
    const std::vector<T>& values = first_period<T>();
    std::vector<T> all(n);
    for (u64 i = 0; i < n;) {
        const u64 at = (first + i) % period, count = std::min(period - at, n - i);
        std::memcpy(all.data() + i, values.data() + at, count * sizeof(T));
        i += count;
    }
    return all;
}

template <class T>
Array<T> device_input(Stream& stream, u64 n, u64 first = 0) {
    const std::vector<T> part = host_input<T>(std::min(n, 64 * period), first);  // whole periods
    Array<T> all(stream.device(), n);
    for (u64 i = 0; i < n; i += part.size())
        stream.write(*all.buffer(), i * sizeof(T), part.data(), std::min(part.size(), n - i) * sizeof(T));
    stream.synchronize();
    return all;
}

// Sum of the input's first n elements, modulo 2^64.
template <class T>
u64 sum_of_first(u64 n) {
    static const std::vector<u64> sums = [] {
        std::vector<u64> all(period + 1);
        std::partial_sum(first_period<T>().begin(), first_period<T>().end(), all.begin() + 1,
                         std::plus<u64>());
        return all;
    }();
    return n / period * sums[period] + sums[n % period];
}

// How often the input's first n elements contain element i of the first period at its place.
u64 repeats(u64 i, u64 n) {
    return n / period + (i < n % period ? 1 : 0);
}

// --- Results ------------------------------------------------------------------------------------------------------

constexpr u64 window = u64{1} << 16;

// Compares elements [begin, end) with expected(index).
template <class T, class F>
void check_range(Stream& stream, const Array<T>& out, u64 begin, u64 end, F expected) {
    std::vector<T> got(end - begin);
    stream.read(got.data(), *out.buffer(), begin * sizeof(T), got.size() * sizeof(T));
    stream.synchronize();
    u64 wrong = 0, first = 0;
    for (u64 i = end; i-- > begin;) {
        if (got[i - begin] == expected(i)) continue;
        ++wrong;
        first = i;
    }
    CHECK_MESSAGE(wrong == 0, wrong << " wrong elements in [" << begin << ", " << end << "); element "
                                    << first << " is " << +got[wrong == 0 ? 0 : first - begin]
                                    << ", expected " << +expected(first));
}

// Compares windows around the ends, the middle, and the indices at which element or byte offsets exceed 31 or 32 bits.
template <class T, class F>
void check_windows(Stream& stream, const Array<T>& out, F expected, u64 size = window) {
    const u64 n = out.size();
    for (const u64 centre : {u64{0}, boundary / 4, boundary / 2, boundary, 2 * boundary, n / 2, n}) {
        if (centre > n) continue;
        const u64 begin = std::min(centre - std::min(centre, size / 2), n - std::min(n, size));
        check_range(stream, out, begin, std::min(begin + size, n), expected);
    }
}

// --- Shapes -------------------------------------------------------------------------------------------------------

u64 largest_divisor(u64 n, double limit) {
    u64 divisor = static_cast<u64>(limit);
    while (n % divisor != 0)
        --divisor;
    return divisor;
}

struct Sides {
    u64 rows, columns;
};

// The matrices of n elements whose sides differ least.
std::array<Sides, 2> matrices(u64 n) {
    const u64 side = largest_divisor(n, std::sqrt(static_cast<double>(n)));
    return {{{side, n / side}, {n / side, side}}};
}

// --- Tests --------------------------------------------------------------------------------------------------------

constexpr u8 guard = 0x55;
constexpr u64 margin = u64{1} << 18;  // bytes after a filled range
constexpr u64 large_fill = (u64{1} << 16) + 8;

void fills(Stream& stream, u64 n) {
    const Array<u8> to(stream.device(), n + margin);
    for (const u32 size : {1U, 2U, 4U, 8U}) {
        CAPTURE(size);
        const u64 pattern = 0x0123456789abcdef, other = ~pattern, filled = n / size * size;
        auto byte_of = [&](u64 bits, u64 i) { return static_cast<u8>(bits >> 8 * (i % size)); };
        auto before = [&](u64 i) { return i < filled ? byte_of(pattern, i) : guard; };
        stream.fill(*to.buffer(), 0, to.size(), &guard, 1);
        stream.fill(*to.buffer(), 0, filled, &pattern, size);
        check_windows(stream, to, before);
        for (const u64 near : {boundary / 2, boundary, 2 * boundary}) {
            // Ranges across the boundary and after it, some of more than 2^16 bytes.
            for (const auto& [from, bytes] :
                 {std::pair{near - 504, large_fill}, {near + 70000, u64{1000}}, {near + 80000, large_fill}}) {
                const u64 begin = from + (size == 1 ? 1 : 0), end = begin + bytes;
                if (end + 1000 > to.size()) continue;
                stream.fill(*to.buffer(), begin, bytes, &other, size);
                check_range(stream, to, begin - 1000, end + 1000,
                            [&](u64 i) { return i >= begin && i < end ? byte_of(other, i) : before(i); });
            }
        }
    }
}

void transfers(Stream& stream, u64 n) {
    const Array<u8> one(stream.device(), n), two(stream.device(), n);
    std::vector<u8> host = host_input<u8>(n);
    for (const auto& [at, copy_at] : {std::pair{u64{0}, u64{0}}, {3, 5}}) {
        const u64 bytes = n - std::max(at, copy_at);
        stream.fill(*one.buffer(), 0, n, &guard, 1);
        stream.fill(*two.buffer(), 0, n, &guard, 1);
        stream.write(*one.buffer(), at, host.data(), bytes);
        stream.copy(*two.buffer(), copy_at, *one.buffer(), at, bytes);
        stream.synchronize();
        auto at_offset = [=](u64 offset) {
            return [=](u64 i) { return i < offset || i - offset >= bytes ? guard : value<u8>(i - offset); };
        };
        check_windows(stream, one, at_offset(at));
        check_windows(stream, two, at_offset(copy_at));
        std::fill(host.begin(), host.end(), guard);
        stream.read(host.data(), *two.buffer(), copy_at, bytes);
        stream.synchronize();
        u64 wrong = 0;
        for (u64 i = 0; i < bytes; i += period)
            wrong += std::memcmp(&host[i], first_period<u8>().data(), std::min(period, bytes - i)) != 0;
        CHECK(wrong == 0);
    }
}

template <class T>
void maps(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    map(stream, in, out, MapFunction::square);
    check_windows(stream, out, [](u64 i) { return static_cast<T>(value<T>(i) * value<T>(i)); });
}

template <class T>
void adds(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n + 1), out(stream.device(), n);
    add(stream, in.span().part(0, n), in.span().part(1, n), out);
    check_windows(stream, out, [](u64 i) { return static_cast<T>(value<T>(i) + value<T>(i + 1)); });
}

template <class T>
void reductions(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n);
    CHECK(sum(stream, in).get() == static_cast<T>(sum_of_first<T>(n)));
}

template <class T>
void scans(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    scan(stream, in, out);
    check_windows(stream, out, [](u64 i) { return static_cast<T>(sum_of_first<T>(i + 1)); });
}

template <class T>
void histograms(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n);
    const Array<u64> counters(stream.device(), 256);
    std::vector<u64> expected(256);
    for (u64 i = 0; i < period; ++i)
        expected[value<T>(i) % 256] += repeats(i, n);
    histogram(stream, in, counters, HistogramBins::modulo());
    CHECK(counters.to_host(stream) == expected);
    // All samples in one bin.
    stream.fill(*in.buffer(), 0, n * sizeof(T), &guard, 1);
    expected.assign(256, 0);
    expected[guard] = n;
    histogram(stream, in, counters, HistogramBins::modulo());
    CHECK(counters.to_host(stream) == expected);
}

template <class T>
void compactions(Stream& stream, u64 n) {
    std::vector<T> odd, even;
    u64 kept = 0;
    for (u64 i = 0; i < period; ++i) {
        const bool is_odd = value<T>(i) % 2 == 1;
        (is_odd ? odd : even).push_back(value<T>(i));
        kept += is_odd ? repeats(i, n) : 0;
    }
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    stream.fill(*out.buffer(), 0, n * sizeof(T), &guard, 1);
    CHECK(compact(stream, in, out, KeepRule::odd).get() == kept);
    const T unchanged = static_cast<T>(0x5555555555555555);
    check_windows(stream, out, [&](u64 i) { return i < kept ? odd[i % odd.size()] : unchanged; });
    CHECK(partition(stream, in, out, KeepRule::odd).get() == kept);
    check_windows(stream, out,
                  [&](u64 i) { return i < kept ? odd[i % odd.size()] : even[(i - kept) % even.size()]; });
}

// The positions in a period at which runs begin. The first element of a period differs from the last one.
template <class T>
std::vector<u64> run_starts(u64 n, u64& runs) {
    REQUIRE(value<T>(0) != value<T>(period - 1));
    std::vector<u64> starts;
    runs = 0;
    for (u64 i = 0; i < period; ++i) {
        if (i > 0 && value<T>(i) == value<T>(i - 1)) continue;
        starts.push_back(i);
        runs += repeats(i, n);
    }
    return starts;
}

template <class T>
void uniques(Stream& stream, u64 n) {
    u64 runs = 0;
    const std::vector<u64> starts = run_starts<T>(n, runs);
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    stream.fill(*out.buffer(), 0, n * sizeof(T), &guard, 1);
    CHECK(unique(stream, in, out).get() == runs);
    const T unchanged = static_cast<T>(0x5555555555555555);
    check_windows(stream, out,
                  [&](u64 i) { return i < runs ? value<T>(starts[i % starts.size()]) : unchanged; });
}

// Positions of 8 bytes.
template <class T>
void largest_by_key(Stream& stream, u64 n) {
    u64 runs = 0;
    const std::vector<u64> starts = run_starts<T>(n, runs);
    const Array<T> in = device_input<T>(stream, n), keys(stream.device(), n), out(stream.device(), n);
    CHECK(reduce_by_key(stream, in, in, keys, out, ReduceOp::max).get() == runs);
    for (const Array<T>* const results : {&keys, &out})
        check_windows(stream, Array<T>(results->buffer(), runs),
                      [&](u64 i) { return value<T>(starts[i % starts.size()]); });
}

// The largest elements of runs, and of one segment of all elements but a few.
template <class T>
void scans_of_runs(Stream& stream, u64 n) {
    u64 runs = 0;
    const std::vector<u64> starts = run_starts<T>(n, runs);
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    scan_by_key(stream, in, in, out, ReduceOp::max);
    check_windows(stream, out, [](u64 i) { return value<T>(i); });
    const Array<u64> offsets(stream, std::vector<u64>{0, 3, n - 3, n});
    segmented_scan(stream, in, offsets, out, ReduceOp::sum);
    T sum_of_period = 0;
    std::vector<T> sums(period);
    for (u64 i = 0; i < period; ++i)
        sums[i] = sum_of_period = static_cast<T>(sum_of_period + value<T>(i));
    const auto up_to = [&](u64 i) {  // of all elements up to i
        return static_cast<T>(static_cast<T>(i / period) * sum_of_period + sums[i % period]);
    };
    check_windows(stream, out, [&](u64 i) {
        const u64 before = i < 3 ? 0 : i < n - 3 ? 3 : n - 3;
        return static_cast<T>(up_to(i) - (before > 0 ? up_to(before - 1) : T(0)));
    });
}

template <class T>
void check_sorted(Stream& stream, const Array<T>& out, u64 n) {
    std::vector<u64> order(period), ends(period);
    std::iota(order.begin(), order.end(), u64{0});
    std::stable_sort(order.begin(), order.end(), [](u64 a, u64 b) { return value<T>(a) < value<T>(b); });
    std::transform_inclusive_scan(order.begin(), order.end(), ends.begin(), std::plus<>(),
                                  [&](u64 i) { return repeats(i, n); });
    check_windows(stream, out, [&](u64 i) {
        return value<T>(
            order[static_cast<u64>(std::upper_bound(ends.begin(), ends.end(), i) - ends.begin())]);
    });
}
template <class T>
void sorts(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    sort(stream, in, out);
    check_sorted(stream, out, n);
}
// One segment with all elements.
template <class T>
void sorts_segments(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    segmented_sort(stream, in, Array<u64>(stream, std::vector<u64>{0, 0, n, n}), out);
    check_sorted(stream, out, n);
}

template <class T>
void transposes(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n), out(stream.device(), n);
    for (const Sides& shape : matrices(n)) {
        CAPTURE(shape.rows);
        stream.fill(*out.buffer(), 0, n * sizeof(T), &guard, 1);
        transpose(stream, Matrix(in, shape.rows, shape.columns), Matrix(out, shape.columns, shape.rows));
        check_windows(stream, out,
                      [&](u64 i) { return value<T>(i % shape.rows * shape.columns + i / shape.rows); });
    }
}

// The offset is such that blocks are not aligned in memory.
void randoms(Stream& stream, u64 n) {
    const Array<u32> out(stream.device(), n);
    constexpr u64 seed = 0x123456789abcdef, offset = 0x20000000000001;
    random(stream, out, Distribution::bits, seed, offset);
    check_windows(stream, out, [](u64 i) {
        const u64 at = offset + i;
        const u32x4 block = Vocabulary::philox4x32(
            Vocabulary::make_u32x4(static_cast<u32>(at / 4), static_cast<u32>(at / 4 >> 32), 0, 0),
            Vocabulary::make_u32x2(static_cast<u32>(seed), static_cast<u32>(seed >> 32)));
        const u32 words[] = {block.x, block.y, block.z, block.w};
        return words[at % 4];
    });
}

struct Product {
    u64 m = 0, n = 0, k = 0;
};

void product(Stream& stream, const Product& shape) {
    CAPTURE(shape.m);
    CAPTURE(shape.n);
    const u64 b_first = 1000;
    const Array<f32> a = device_input<f32>(stream, shape.m * shape.k);
    const Array<f32> b = device_input<f32>(stream, shape.k * shape.n, b_first);
    const Array<f32> c(stream.device(), shape.m * shape.n);
    matmul(stream, Matrix(a, shape.m, shape.k), Matrix(b, shape.k, shape.n), Matrix(c, shape.m, shape.n));
    auto expected = [&](u64 i) {
        f32 sum = 0;  // exact: integers up to 64 k < 2^24
        for (u64 l = 0; l < shape.k; ++l)
            sum += value<f32>(i / shape.n * shape.k + l) * value<f32>(b_first + l * shape.n + i % shape.n);
        return sum;
    };
    check_windows(stream, c, expected, std::min(window, (u64{1} << 22) / shape.k));
}

void products_of_n_elements(Stream& stream, u64 n) {
    const auto [rows, columns] = matrices(n)[0];
    product(stream, {.m = rows, .n = columns, .k = 3});
}

// A or B has n elements.
void products_of_large_matrices(Stream& stream, u64 n) {
    const auto [rows, columns] = matrices(n)[0];
    const u64 few = std::min<u64>(rows, 2);
    product(stream, {.m = columns, .n = few, .k = rows});
    product(stream, {.m = few, .n = columns, .k = rows});
}

template <class T>
void convolutions(Stream& stream, u64 n) {
    const Array<T> in = device_input<T>(stream, n);
    const Array<f32> out(stream.device(), n);
    const std::vector<f32> mask{1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (const Sides& shape : matrices(n)) {
        CAPTURE(shape.rows);
        stream.fill(*out.buffer(), 0, n * sizeof(f32), &guard, 1);
        convolve(stream, Matrix(in, shape.rows, shape.columns), ConvolveMask(mask, 3, 3),
                 Matrix(out, shape.rows, shape.columns));
        check_windows(stream, out, [&](u64 i) {
            f32 sum = 0;
            for (u64 tap = 0; tap < 9; ++tap) {
                // Cells before the first row or column have indices near 2^64.
                const u64 y = i / shape.columns + tap / 3 - 1, x = i % shape.columns + tap % 3 - 1;
                if (y < shape.rows && x < shape.columns)
                    sum += mask[tap] * static_cast<f32>(value<T>(y * shape.columns + x));
            }
            return sum;
        });
    }
}

void stencils(Stream& stream, u64 n) {
    const Array<f32> in = device_input<f32>(stream, n), out(stream.device(), n);
    const u64 side = largest_divisor(n, std::cbrt(static_cast<double>(n)));
    const Sides plane = matrices(n / side)[0];
    for (const VolumeExtents& shape :
         {VolumeExtents{side, plane.rows, plane.columns}, VolumeExtents{plane.columns, plane.rows, side}}) {
        CAPTURE(shape.depth);
        stream.fill(*out.buffer(), 0, n * sizeof(f32), &guard, 1);
        stencil(stream, Volume(in, shape), {2, 3}, Volume(out, shape));
        check_windows(stream, out, [&](u64 i) {
            const u64 row = shape.columns, area = shape.rows * row;
            const u64 x = i % row, y = i / row % shape.rows, z = i / area;
            f32 sum = 0;
            if (x > 0) sum += value<f32>(i - 1);
            if (x + 1 < shape.columns) sum += value<f32>(i + 1);
            if (y > 0) sum += value<f32>(i - row);
            if (y + 1 < shape.rows) sum += value<f32>(i + row);
            if (z > 0) sum += value<f32>(i - area);
            if (z + 1 < shape.depth) sum += value<f32>(i + area);
            return 2 * value<f32>(i) + 3 * sum;
        });
    }
}

// --- Table --------------------------------------------------------------------------------------------------------

using Counts = std::vector<u64>;
// The last count has many tiles after element 2^32.
Counts around() {
    return {boundary - 1, boundary, 2 * boundary - 1, 2 * boundary + 1, 2 * boundary + boundary / 8};
}
Counts words() {
    return {2 * boundary};
}
Counts around_and_words() {
    Counts all = around();
    all.push_back(2 * boundary);
    return all;
}
// Without the prime 2^31 - 1.
Counts composites() {
    Counts all = around_and_words();
    all.erase(all.begin());
    return all;
}
Counts words_as_bytes() {
    return {8 * boundary};
}

// A test and the memory that it needs, in bytes per element, including scratch memory.
struct Test {
    const char* name;
    Counts (*counts)();
    u64 buffer;          // the largest buffer
    u64 device;          // all buffers
    u64 many_items = 0;  // additional scratch memory on devices with many work-items per group
    u64 host = 0;        // host memory
    u64 extra = 0;       // bytes after the n elements, not per element
    void (*run)(Stream& stream, u64 n);
};

const Test tests[] = {
    {.name = "fill", .counts = around, .buffer = 1, .device = 1, .extra = margin, .run = fills},
    {.name = "fill", .counts = words_as_bytes, .buffer = 1, .device = 1, .extra = margin, .run = fills},
    {.name = "transfer", .counts = around, .buffer = 1, .device = 2, .host = 1, .run = transfers},
    {.name = "transfer", .counts = words_as_bytes, .buffer = 1, .device = 2, .host = 1, .run = transfers},
    {.name = "map u8", .counts = around, .buffer = 1, .device = 2, .run = maps<u8>},
    {.name = "map u32", .counts = words, .buffer = 4, .device = 8, .run = maps<u32>},
    {.name = "add u8", .counts = around, .buffer = 1, .device = 2, .run = adds<u8>},
    {.name = "add u32", .counts = words, .buffer = 4, .device = 8, .run = adds<u32>},
    {.name = "reduce u8", .counts = around, .buffer = 1, .device = 1, .run = reductions<u8>},
    {.name = "reduce u32", .counts = words, .buffer = 4, .device = 4, .run = reductions<u32>},
    {.name = "scan u8", .counts = around, .buffer = 1, .device = 2, .run = scans<u8>},
    {.name = "scan u32", .counts = words, .buffer = 4, .device = 8, .run = scans<u32>},
    {.name = "histogram u8", .counts = around, .buffer = 1, .device = 1, .run = histograms<u8>},
    {.name = "histogram u32", .counts = words, .buffer = 4, .device = 4, .run = histograms<u32>},
    {.name = "compact u8", .counts = around, .buffer = 1, .device = 2, .run = compactions<u8>},
    {.name = "compact u32", .counts = words, .buffer = 4, .device = 8, .run = compactions<u32>},
    {.name = "unique u8", .counts = around, .buffer = 1, .device = 2, .run = uniques<u8>},
    {.name = "reduce_by_key u8", .counts = around, .buffer = 8, .device = 12, .run = largest_by_key<u8>},
    {.name = "scans of segments u8", .counts = around, .buffer = 1, .device = 3, .run = scans_of_runs<u8>},
    {.name = "sort u8", .counts = around, .buffer = 1, .device = 4, .many_items = 3, .run = sorts<u8>},
    {.name = "sort u32", .counts = words, .buffer = 4, .device = 13, .many_items = 3, .run = sorts<u32>},
    {.name = "segmented_sort u8", .counts = around, .buffer = 1, .device = 4, .run = sorts_segments<u8>},
    {.name = "transpose u8", .counts = around, .buffer = 1, .device = 2, .run = transposes<u8>},
    {.name = "transpose u32", .counts = words, .buffer = 4, .device = 8, .run = transposes<u32>},
    // If n is prime, A or B has n elements too, so the next row covers it.
    {.name = "matmul f32 large C",
     .counts = composites,
     .buffer = 4,
     .device = 4,
     .run = products_of_n_elements},
    // Includes packed copies of A and B.
    {.name = "matmul f32 large A or B",
     .counts = around_and_words,
     .buffer = 8,
     .device = 16,
     .run = products_of_large_matrices},
    {.name = "convolve u8", .counts = around, .buffer = 4, .device = 5, .run = convolutions<u8>},
    {.name = "convolve f32", .counts = words, .buffer = 4, .device = 8, .run = convolutions<f32>},
    {.name = "random u32", .counts = words, .buffer = 4, .device = 4, .run = randoms},
    {.name = "stencil f32", .counts = around_and_words, .buffer = 4, .device = 8, .run = stencils},
};

std::string gigabytes(u64 bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f GB", static_cast<double>(bytes) * 1e-9);
    return text;
}

// Why the test cannot run on the device. Empty if memory suffices.
std::string shortage(const Test& test, const Device& device, u64 n) {
    const DeviceTraits& traits = device.traits();
    const u64 reserve = u64{1} << 29;  // parts of inputs, windows, counters, kernels
    const u64 memory =
        (test.device + (traits.launch == LaunchModel::groups ? test.many_items : 0)) * n + reserve;
    const bool is_cpu = device.info().rank >= 2;
    const u64 host = test.host * n + reserve + (is_cpu ? memory : 0),
              available = lab::available_host_memory();
    auto lack = [](const char* what, u64 need, u64 there) {
        return need <= there
                   ? ""
                   : "needs " + gigabytes(need) + " of " + what + ", available: " + gigabytes(there);
    };
    for (const std::string& text :
         {lack("device memory", memory, traits.global_memory),
          lack("device memory in one buffer", test.buffer * n + test.extra, traits.max_allocation),
          lack("host memory", host, available)}) {
        if (!text.empty()) return text;
    }
    return {};
}

u32 tests_run = 0, tests_skipped = 0;

void skip(const std::string& title, const std::string& reason) {
    ++tests_skipped;
    std::printf("%s: skipped: %s\n", title.c_str(), reason.c_str());
    std::fflush(stdout);
}

void run(const Test& test, Device& device, u64 n, const std::string& title) {
    device.trim();
    if (const std::string reason = shortage(test, device, n); !reason.empty()) return skip(title, reason);
    ++tests_run;
    std::printf("%s: ", title.c_str());
    std::fflush(stdout);
    const auto begin = std::chrono::steady_clock::now();
    try {
        test.run(*device.create_stream(), n);
    } catch (const std::exception& error) {  // the other tests run
        FAIL_CHECK(std::string(error.what()));
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.1f s\n", seconds.count());
    std::fflush(stdout);
}

TEST_CASE("large") {
    std::vector<std::shared_ptr<Device>> devices;
    try {
        devices = test::devices();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::unavailable) throw;
        return skip("all tests", error.what());
    }
    for (const auto& device : devices) {
        for (const Test& test : tests) {
            for (const u64 n : test.counts()) {
                const std::string title =
                    device->info().selector + " " + test.name + " n=" + std::to_string(n);
                SUBCASE(title.c_str()) {
                    run(test, *device, n, title);
                }
            }
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        if (std::string_view(arguments[i]) == "--small") boundary >>= 12;
    }
    const int status = doctest::Context(count, arguments).run();
    std::printf("%u tests ran, %u were skipped\n", tests_run, tests_skipped);
    return status == 0 && tests_run == 0 ? 77 : status;
}
