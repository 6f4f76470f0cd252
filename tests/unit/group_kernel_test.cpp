// CONCORD_GROUP_KERNEL: kernels of groups in one body, bitwise the same on all devices.
#include <concord/group_kernel.hpp>

#include "devices.hpp"

#include <algorithm>

using namespace concord;
using detail::GroupFault;
using test::throws;

CONCORD_FUNCTION(f32, group_affine, (f32 a, f32 b), return 0.5f * a + b;)

// clang-format off
CONCORD_GROUP_KERNEL(group_product, (16, 8), (f32* c, const f32* a, const f32* b, u64 n),
    CONCORD_LOCAL(f32, left, [8][16]);
    CONCORD_LOCAL(f32, right, [16][16]);
    CONCORD_PRIVATE(f32, sum) = 0;
    const u64 row = group.y * 8, column = group.x * 16;
    for (u64 k = 0; k < n; k += 16) {
        CONCORD_ITEMS((x, y)) {
            left[y][x] = row + y < n && k + x < n ? a[(row + y) * n + k + x] : 0;
            for (u32 i = y; i < 16; i += 8) right[i][x] = k + i < n && column + x < n ? b[(k + i) * n + column + x] : 0;
        }
        CONCORD_ITEMS((x, y), sum) {
            for (u32 i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
        }
    }
    CONCORD_ITEMS((x, y), sum) {
        if (row + y >= n || column + x >= n) continue;
        c[(row + y) * n + column + x] = sum;
    })

// The sum, the minimum and the number of positive values of each row, and the row's values less their mean.
CONCORD_GROUP_KERNEL(group_rows, (96), (f32* out, f32* facts, const f32* in, u64 n, u64 rows),
    if (group.x >= rows) return;
    CONCORD_PRIVATE(f32, sum) = 0;
    CONCORD_PRIVATE(f32, least) = INFINITY;
    CONCORD_PRIVATE(u32, positive) = 0;
    const u64 begin = group.x * n;
    CONCORD_STRIDED((i, begin, begin + n), sum, least, positive) {
        sum += in[i];
        least = min(least, in[i]);
        positive += in[i] > 0 ? 1u : 0u;
    }
    const f32 total = group_sum(sum);
    const f32 lowest = group_min(least);
    const u32 count = group_sum(positive);
    CONCORD_STRIDED((i, begin, begin + n)) { out[i] = in[i] - total / (f32)n; }
    CONCORD_ITEMS((t)) {
        if (t == 0) {
            facts[3 * group.x] = total;
            facts[3 * group.x + 1] = lowest;
            facts[3 * group.x + 2] = (f32)count;
        }
    })

// All collectives of 40 work-items, one result of each per work-item.
CONCORD_GROUP_KERNEL(group_collectives, (40), (f32* out, u32* counts, const f32* in, const u32* from),
    CONCORD_PRIVATE(f32, v);
    CONCORD_PRIVATE(f32, r);
    CONCORD_PRIVATE(u32, f);
    CONCORD_PRIVATE(u32, c);
    f32* place = out + group.x * 40 * 16;
    CONCORD_ITEMS((t), v, f) { v = in[group.x * 40 + t]; f = from[group.x * 40 + t]; }
    const f32 all[4] = {group_sum(v), group_max(v), group_reduce(v, group_affine), group_broadcast(v, 7)};
    CONCORD_ITEMS((t)) { for (u32 i = 0; i < 4; ++i) place[i * 40 + t] = all[i]; }
    group_inclusive_sum(r, v);
    CONCORD_ITEMS((t), r) { place[4 * 40 + t] = r; }
    group_exclusive_sum(r, v);
    CONCORD_ITEMS((t), r) { place[5 * 40 + t] = r; }
    group_inclusive_scan(r, v, group_affine);
    CONCORD_ITEMS((t), r) { place[6 * 40 + t] = r; }
    group_exclusive_scan(r, v, 2, group_affine);
    CONCORD_ITEMS((t), r) { place[7 * 40 + t] = r; }
    group_shuffle(r, v, f);
    CONCORD_ITEMS((t), r) { place[8 * 40 + t] = r; }
    sub_group_sum(r, v, 8);
    CONCORD_ITEMS((t), r) { place[9 * 40 + t] = r; }
    sub_group_reduce(r, v, group_affine, 4);
    CONCORD_ITEMS((t), r) { place[10 * 40 + t] = r; }
    sub_group_inclusive_sum(r, v, 8);
    CONCORD_ITEMS((t), r) { place[11 * 40 + t] = r; }
    sub_group_exclusive_scan(r, v, 3, group_affine, 4);
    CONCORD_ITEMS((t), r) { place[12 * 40 + t] = r; }
    sub_group_broadcast(r, v, 5, 8);
    CONCORD_ITEMS((t), r) { place[13 * 40 + t] = r; }
    sub_group_shuffle(r, v, f, 2);
    CONCORD_ITEMS((t), r) { place[14 * 40 + t] = r; }
    sub_group_exclusive_sum(r, v, 2);
    CONCORD_ITEMS((t), r) { place[15 * 40 + t] = r; }
    CONCORD_ITEMS((t), c, v) { c = v > 0 ? 1u : 0u; }
    const u32 votes = (group_any(c) ? 1u : 0u) + (group_all(c) ? 2u : 0u) + 4 * group_count(c);
    sub_group_count(f, c, 8);
    CONCORD_ITEMS((t), f) { counts[group.x * 80 + t] = votes; counts[group.x * 80 + 40 + t] = f; }
    sub_group_all(f, c, 2);
    CONCORD_ITEMS((t), f) { counts[group.x * 80 + 40 + t] += 100 * f; })

// A 7-point stencil: a tile of (4, 4, 2) with its halo in local memory.
CONCORD_GROUP_KERNEL(group_stencil, (4, 4, 2), (i32* out, const i32* in, u64 nx, u64 ny, u64 nz),
    CONCORD_LOCAL(i32, tile, [4][6][6]);
    CONCORD_ITEMS((x, y, z)) {
        for (u32 k = z; k < 4; k += 2)
            for (u32 j = y; j < 6; j += 4)
                for (u32 i = x; i < 6; i += 4) {
                    const u64 px = group.x * 4 + i, py = group.y * 4 + j, pz = group.z * 2 + k;
                    const bool inside = px >= 1 && py >= 1 && pz >= 1 && px <= nx && py <= ny && pz <= nz;
                    tile[k][j][i] = inside ? in[((pz - 1) * ny + py - 1) * nx + px - 1] : 0;
                }
    }
    CONCORD_ITEMS((x, y, z)) {
        const u64 px = group.x * 4 + x, py = group.y * 4 + y, pz = group.z * 2 + z;
        if (px < nx && py < ny && pz < nz)
            out[(pz * ny + py) * nx + px] =
                tile[z][y + 1][x + 1] + tile[z + 2][y + 1][x + 1] + tile[z + 1][y][x + 1] +
                tile[z + 1][y + 2][x + 1] + tile[z + 1][y + 1][x] + tile[z + 1][y + 1][x + 2] -
                6 * tile[z + 1][y + 1][x + 1];
    })

// A histogram in local memory. The device chooses the group size.
CONCORD_GROUP_KERNEL(group_histogram, (any_size), (u32* bins, const u8* in, u64 n),
    CONCORD_LOCAL(u32, local_bins, [256]);
    CONCORD_STRIDED((i, 0, 256)) { local_bins[i] = 0; }
    const u64 strip = (n + group.count_x - 1) / group.count_x, begin = min(n, group.x * strip);
    CONCORD_STRIDED((i, begin, min(n, begin + strip))) { atomic_add(&local_bins[in[i]], 1u); }
    CONCORD_STRIDED((i, 0, 256)) { atomic_add(&bins[i], local_bins[i]); })

CONCORD_GROUP_KERNEL(group_any_sum, (any_size), (f32* out, const f32* in, u64 n),
    CONCORD_PRIVATE(f32, sum) = 0;
    CONCORD_STRIDED((i, 0, n), sum) { sum += in[i]; }
    const f32 total = group_sum(sum);
    CONCORD_ITEMS((t)) { if (t == 0) out[0] = total; })

// Work-items keep arrays; private values of 64 bits; the bitonic sort of a group's keys.
CONCORD_GROUP_KERNEL(group_sort, (128), (u64* keys),
    CONCORD_LOCAL(u64, all, [256]);
    CONCORD_PRIVATE(u64, mine, [2]);
    keys += group.x * 256;
    CONCORD_ITEMS((t), mine) {
        for (u32 i = 0; i < 2; ++i) mine[i] = keys[2 * t + i] * 3;
        for (u32 i = 0; i < 2; ++i) all[2 * t + i] = mine[i];
    }
    for (u32 size = 2; size <= 256; size *= 2) {
        for (u32 distance = size / 2; distance > 0; distance /= 2) {
            CONCORD_ITEMS((t)) {
                const u32 low = t / distance * distance * 2 + t % distance, high = low + distance;
                const bool up = (low & size) == 0;
                const u64 a = all[low], b = all[high];
                if ((a > b) == up) { all[low] = b; all[high] = a; }
            }
        }
    }
    CONCORD_STRIDED((i, 0, 256)) { keys[i] = all[i]; })

// Phases in the branches of a condition between phases; private truths.
CONCORD_GROUP_KERNEL(group_branches, (8), (u32* out, u64 n),
    CONCORD_PRIVATE(bool, first) = false;
    CONCORD_ITEMS((t), first) { first = t == 0; }
    const u32 more = group_any(first) && !group_all(first) ? group_count(first) : 9;
    if (n > 3) CONCORD_ITEMS((t), first) { out[t] = first ? 2 : more; }
    else CONCORD_ITEMS((t)) { out[t] = t + 10; }
    if (n > 3) CONCORD_STRIDED((i, 8, 20)) { out[i] = 3; }
    else CONCORD_STRIDED((i, 8, 20)) { out[i] = 4; })

// Several collectives with the same scratch memory.
CONCORD_GROUP_KERNEL(group_repeated, (40), (f32* out, const f32* in),
    CONCORD_PRIVATE(f32, v);
    CONCORD_PRIVATE(f32, r);
    CONCORD_ITEMS((t), v) { v = in[group.x * 40 + t]; }
    const f32 sum = group_sum(v), most = group_max(v), affine = group_reduce(v, group_affine);
    sub_group_sum(r, v, 8);
    CONCORD_ITEMS((t), r) { out[group.x * 40 + t] = sum + most + affine + r; })

// Collectives in place, of types under other names.
CONCORD_FUNCTION(u32, group_plus, (u32 a, u32 b), return a + b;)
CONCORD_CONSTANT(u32, line, 3)
CONCORD_CONSTANT(u32, t, 7)
CONCORD_GROUP_KERNEL(group_in_place, (48), (u32* out),
    CONCORD_PRIVATE(uint32_t, a);
    CONCORD_PRIVATE(unsigned int, b);
    CONCORD_PRIVATE(u32, c) = 1;
    CONCORD_ITEMS((t), a, b) { a = t; b = t; }
    sub_group_sum(a, a, 16);
    group_inclusive_sum(b, b);
    const u32 all = group_sum(c) + group_reduce(c, group_plus) + line;
    sub_group_max(c, b, 8);
    sub_group_broadcast(b, b, 9, 8);
    CONCORD_STRIDED((i, 0, 1)) { out[3 * 48] = all; }
    CONCORD_ITEMS((t), a, b, c) { out[3 * t] = a; out[3 * t + 1] = b; out[3 * t + 2] = c; })
CONCORD_GROUP_KERNEL(group_race, (64), (u32* out),
    CONCORD_LOCAL(u32, a, [64]);
    CONCORD_ITEMS((t)) { a[t] = t; }
    CONCORD_ITEMS((t)) { a[t] = a[(t + 1) % 64]; }
    CONCORD_ITEMS((t)) { out[group.x * 64 + t] = a[t]; })
CONCORD_GROUP_KERNEL(group_places, (2, 3), (u64* out),
    CONCORD_ITEMS((x, y)) {
        const u64 g = (group.z * group.count_y + group.y) * group.count_x + group.x;
        out[g * group_size + y * group_size_x + x] = g * 100 + y * 10 + x;
    })
// clang-format on

namespace {

constexpr GroupFault fault_of(std::string_view body) {
    return detail::GroupScan::of(body, "(f32* out, const f32* in, u64 n)", 2).fault;
}
static_assert(
    fault_of(
        "for (u32 k = 0; k < 3; ++k) { if (k == n) break; CONCORD_ITEMS((x, y)) { for (;;) break; } }") ==
    GroupFault::none);
static_assert(fault_of("CONCORD_ITEMS((x, y)) { if (x > 3) return; }") == GroupFault::returns);
static_assert(fault_of("for (;;) { CONCORD_ITEMS((x, y)) { if (x > 3) { break; } } }") == GroupFault::breaks);
static_assert(fault_of("CONCORD_ITEMS((x, y)) { for (u32 i = 0; i < 3; ++i) if (i) break; if (x) break; }") ==
              GroupFault::breaks);
static_assert(fault_of("CONCORD_ITEMS((x, y)) { switch (x) { case 1: break; } }") == GroupFault::none);
static_assert(fault_of("CONCORD_ITEMS((x, y)) { CONCORD_STRIDED((i, 0, n)) { } }") == GroupFault::nested);
static_assert(fault_of("CONCORD_ITEMS((x, y)) out[x] = 1;") == GroupFault::without_braces);
static_assert(fault_of("CONCORD_ITEMS((x)) { out[x] = 1; }") == GroupFault::index_count);
static_assert(fault_of("CONCORD_PRIVATE(f32, v); CONCORD_ITEMS((x, y)) { v = 1; }") == GroupFault::values);
static_assert(fault_of("CONCORD_LOCAL(f32, t); CONCORD_ITEMS((x, y), t) { t = 1; }") == GroupFault::values);
static_assert(fault_of("CONCORD_PRIVATE(f32, v, [2]); CONCORD_ITEMS((x, y), v) { v[1] = 1; }") ==
              GroupFault::none);
static_assert(fault_of("{ CONCORD_LOCAL(f32, t, [3]); }") == GroupFault::inner_declaration);
static_assert(fault_of("CONCORD_PRIVATE(f32, v); CONCORD_ITEMS((x, y), v) { const f32 s = group_sum(v); }") ==
              GroupFault::collective);
static_assert(fault_of("CONCORD_LOCAL(f32, t, [3]); if (t[0] > 1) { CONCORD_ITEMS((x, y)) { } }") ==
              GroupFault::local_outside);
static_assert(fault_of("CONCORD_PRIVATE(f32, v); f32 s = group_broadcast(v, out[0]);") ==
              GroupFault::output_outside);
static_assert(fault_of("f32 const s = out[0];") == GroupFault::output_outside);
static_assert(fault_of("f32* const p = out + 1; CONCORD_ITEMS((x, y)) { *p = 1; *out += 2; }") ==
              GroupFault::none);
static_assert(fault_of("f32* p = out; CONCORD_ITEMS((x, y)) { *p++ = 1; }") == GroupFault::assigned);
static_assert(fault_of("CONCORD_ITEMS((x, y)) { printf(\"return; } \\\" {\"); }") == GroupFault::none);
static_assert(fault_of("CONCORD_LOCAL(u64, t); CONCORD_STRIDED((i, 0, t)) { }") == GroupFault::local_outside);
static_assert(fault_of("CONCORD_PRIVATE(f32, v); if (v > 1) { CONCORD_ITEMS((x, y)) { } }") ==
              GroupFault::private_outside);
static_assert(fault_of("if (out[0] > 1) { CONCORD_ITEMS((x, y)) { } }") == GroupFault::output_outside);
static_assert(fault_of("f32* p = out + n; if (p[1] > 0) { CONCORD_ITEMS((x, y)) { } }") ==
              GroupFault::output_outside);
static_assert(fault_of("f32* p = out + n; p += 2; CONCORD_ITEMS((x, y)) { p[x] = in[y]; }") ==
              GroupFault::none);
static_assert(fault_of("CONCORD_LOCAL(u32, c); c = 0; CONCORD_ITEMS((x, y)) { atomic_add(&c, 1u); }") ==
              GroupFault::local_outside);
static_assert(fault_of("*out = 0; CONCORD_ITEMS((x, y)) { out[x] = 1; }") == GroupFault::output_outside);
static_assert(
    fault_of("CONCORD_LOCAL(u64, c); const f32* p = in + c; CONCORD_ITEMS((x, y)) { out[x] = p[y]; }") ==
    GroupFault::local_outside);
static_assert(fault_of("f32* p = out + u64(out[1]); CONCORD_ITEMS((x, y)) { p[x] = 1; }") ==
              GroupFault::output_outside);
static_assert(fault_of("f32 s = 0; if (n * 2 > 5) s = out[0]; CONCORD_ITEMS((x, y)) { out[x] = s; }") ==
              GroupFault::output_outside);
static_assert(fault_of("u32 c = 0; CONCORD_ITEMS((x, y)) { atomic_add(&c, 1u); }") == GroupFault::assigned);
static_assert(
    fault_of("CONCORD_ITEMS((x, y)) { for (u64 i = 0; i < n; ++i) if (in[i] > 0) { out[i] = 1; } else "
             "break; for (;;) if (x) out[x] = 1; else if (y) break; }") == GroupFault::none);
static_assert(
    fault_of("CONCORD_LOCAL(f32, t, [2][16]); f32* p = t[1]; f32* q = &out[n]; q += 1; "
             "CONCORD_PRIVATE(f32*, r) = out + 1; CONCORD_ITEMS((x, y), r) { p[x] = *r; q[y] = p[x]; }") ==
    GroupFault::none);
static_assert(fault_of("u32 c = 0; CONCORD_ITEMS((x, y)) { c += 1; }") == GroupFault::assigned);
static_assert(fault_of("u32 c = 0; CONCORD_ITEMS((x, y)) { ++c; }") == GroupFault::assigned);
static_assert(fault_of("f32 w[3]; CONCORD_ITEMS((x, y)) { w[1] = 2; }") == GroupFault::assigned);
static_assert(fault_of("CONCORD_ITEMS((x, y)) { f32 w[3]; w[1] = 2e-3f; u32 i = 0, j = 1; ++j; }") ==
              GroupFault::none);

// The tree over neighbours, and Sklansky's network, whose prefix of i + 1 values combines blocks of falling sizes from
// the left.
template <class T, class F>
T tree(const T* values, u64 n, F f) {
    if (n == 1) return values[0];
    u64 left = 1;
    while (2 * left < n)
        left *= 2;
    return f(tree(values, left, f), tree(values + left, n - left, f));
}

const auto plus = [](f32 a, f32 b) { return a + b; };
const auto affine = [](f32 a, f32 b) { return 0.5f * a + b; };

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(group_kernel_with_local_memory) {
    const auto stream = device.create_stream();
    for (const u64 n : {1, 16, 77}) {
        CAPTURE(n);
        const std::vector<f32> a = test::random_values<f32>(n * n, 1), b = test::random_values<f32>(n * n, 2);
        const Array<f32> x(*stream, a), y(*stream, b), z(*stream, n * n);
        const Enqueued done = group_product(*stream, {(n + 15) / 16, (n + 7) / 8}, z, x, y, n);
        CHECK(done.order == OperationOrder::canonical);
        std::vector<f32> expected(n * n);
        for (u64 i = 0; i < n; ++i) {
            for (u64 j = 0; j < n; ++j) {
                f32 sum = 0;
                for (u64 k = 0; k < (n + 15) / 16 * 16; ++k)
                    sum += k < n ? a[i * n + k] * b[k * n + j] : 0.0f;
                expected[i * n + j] = sum;
            }
        }
        CHECK(z.to_host(*stream) == expected);
    }
}

DEVICE_TEST(group_kernel_per_row) {
    const auto stream = device.create_stream();
    for (const u64 n : {1, 95, 96, 1000}) {
        CAPTURE(n);
        constexpr u64 rows = 5, size = 96;
        const std::vector<f32> in = test::random_values<f32>(n * rows, 3);
        const Array<f32> x(*stream, in), y(*stream, n * rows), facts(*stream, 3 * rows);
        group_rows(*stream, 2 * rows, y, facts, x, n, rows);
        const std::vector<f32> got = facts.to_host(*stream), differences = y.to_host(*stream);
        for (u64 row = 0; row < rows; ++row) {
            std::array<f32, size> sums{};
            f32 least = INFINITY, count = 0;
            for (u64 i = 0; i < n; ++i) {
                const f32 value = in[row * n + i];
                sums[i % size] += value;
                least = std::min(least, value);
                count += value > 0 ? 1.0f : 0.0f;
            }
            const f32 total = tree(sums.data(), size, plus);
            CHECK(got[3 * row] == total);
            CHECK(got[3 * row + 1] == least);
            CHECK(got[3 * row + 2] == count);
            CHECK(differences[row * n + n / 2] == in[row * n + n / 2] - total / static_cast<f32>(n));
        }
    }
}

DEVICE_TEST(group_kernel_collectives) {
    const auto stream = device.create_stream();
    constexpr u64 groups = 3, size = 40;
    const std::vector<f32> in = test::random_values<f32>(groups * size, 5);
    std::vector<u32> from(in.size());
    for (u64 i = 0; i < from.size(); ++i)
        from[i] = static_cast<u32>(i * 7 % size);
    const Array<f32> x(*stream, in), out(*stream, groups * size * 16);
    const Array<u32> f(*stream, from), counts(*stream, groups * 80);
    CHECK(group_collectives(*stream, groups, out, counts, x, f).order == OperationOrder::canonical);
    const std::vector<f32> got = out.to_host(*stream);
    const std::vector<u32> votes = counts.to_host(*stream);
    for (u64 g = 0; g < groups; ++g) {
        const f32* const v = in.data() + g * size;
        // The prefix of a Sklansky network over blocks of n: blocks of the bits of its length, combined from the right.
        const auto prefix = [&](u64 begin, u64 n, auto combine) {
            f32 value = 0;
            bool is_empty = true;
            for (u64 length = n; length > 0;) {
                const u64 block = length & (~length + 1), start = length - block;
                const f32 part = tree(v + begin + start, block, combine);
                value = is_empty ? part : combine(part, value);
                is_empty = false;
                length = start;
            }
            return value;
        };
        u32 positive = 0;
        for (u64 t = 0; t < size; ++t)
            positive += v[t] > 0 ? 1 : 0;
        for (u64 t = 0; t < size; ++t) {
            CAPTURE(t);
            const auto at = [&](u64 i) { return got[(g * 16 + i) * size + t]; };
            CHECK(at(0) == tree(v, size, plus));
            CHECK(at(1) == *std::max_element(v, v + size));
            CHECK(at(2) == tree(v, size, affine));
            CHECK(at(3) == v[7]);
            CHECK(at(4) == prefix(0, t + 1, plus));
            CHECK(at(5) == (t == 0 ? 0 : prefix(0, t, plus)));
            CHECK(at(6) == prefix(0, t + 1, affine));
            CHECK(at(7) == (t == 0 ? 2 : affine(2, prefix(0, t, affine))));
            CHECK(at(8) == v[from[g * size + t]]);
            CHECK(at(9) == tree(v + t / 8 * 8, 8, plus));
            CHECK(at(10) == tree(v + t / 4 * 4, 4, affine));
            CHECK(at(11) == prefix(t / 8 * 8, t % 8 + 1, plus));
            CHECK(at(12) == (t % 4 == 0 ? 3 : affine(3, prefix(t / 4 * 4, t % 4, affine))));
            CHECK(at(13) == v[t / 8 * 8 + 5]);
            CHECK(at(14) == v[t / 2 * 2 + from[g * size + t] % 2]);
            CHECK(at(15) == (t % 2 == 0 ? 0 : v[t - 1]));
            CHECK(votes[g * 80 + t] == (positive > 0 ? 1 : 0) + (positive == size ? 2 : 0) + 4 * positive);
            u32 in_8 = 0;
            for (u64 i = 0; i < 8; ++i)
                in_8 += v[t / 8 * 8 + i] > 0 ? 1 : 0;
            const bool both = v[t / 2 * 2] > 0 && v[t / 2 * 2 + 1] > 0;
            CHECK(votes[g * 80 + 40 + t] == in_8 + (both ? 100 : 0));
        }
    }
}

// Groups that run at the same time have local memory of their own.
DEVICE_TEST(group_kernel_of_groups_at_the_same_time) {
    const auto stream = device.create_stream();
    constexpr u64 groups = 4000, different = 97;
    std::vector<f32> in(groups * 40);
    for (u64 i = 0; i < in.size(); ++i)
        in[i] = static_cast<f32>(i / 40 % different * 3 + i % 40);
    const Array<f32> x(*stream, in), y(*stream, in.size());
    for (int repeat = 0; repeat < 20; ++repeat) {
        group_repeated(*stream, groups, y, x);
        const std::vector<f32> got = y.to_host(*stream);
        u64 wrong = 0;
        for (u64 i = different * 40; i < got.size(); ++i)
            wrong += got[i] != got[i - different * 40] ? 1 : 0;
        CHECK(wrong == 0);
    }
}

DEVICE_TEST(group_kernel_in_three_dimensions) {
    const auto stream = device.create_stream();
    constexpr u64 nx = 9, ny = 6, nz = 5;
    const std::vector<i32> in = test::random_values<i32>(nx * ny * nz, 7);
    std::vector<i32> small = in;
    for (i32& value : small)
        value %= 1000;
    const Array<i32> x(*stream, small), y(*stream, small.size());
    group_stencil(*stream, {(nx + 3) / 4, (ny + 3) / 4, (nz + 1) / 2}, y, x, nx, ny, nz);
    const auto at = [&](i64 i, i64 j, i64 k) {
        const bool inside = i >= 0 && j >= 0 && k >= 0 && i < i64(nx) && j < i64(ny) && k < i64(nz);
        return inside ? small[static_cast<u64>((k * i64(ny) + j) * i64(nx) + i)] : 0;
    };
    std::vector<i32> expected(small.size());
    for (i64 k = 0; k < i64(nz); ++k) {
        for (i64 j = 0; j < i64(ny); ++j) {
            for (i64 i = 0; i < i64(nx); ++i)
                expected[static_cast<u64>((k * i64(ny) + j) * i64(nx) + i)] =
                    at(i, j, k - 1) + at(i, j, k + 1) + at(i, j - 1, k) + at(i, j + 1, k) + at(i - 1, j, k) +
                    at(i + 1, j, k) - 6 * at(i, j, k);
        }
    }
    CHECK(y.to_host(*stream) == expected);
}

DEVICE_TEST(group_kernel_whose_size_the_device_chooses) {
    const auto stream = device.create_stream();
    const std::vector<u8> in = test::random_values<u8>(100003, 9);
    const Array<u8> x(*stream, in);
    const Array<u32> bins(*stream, std::vector<u32>(256));
    CHECK(group_histogram(*stream, 7, bins, x, in.size()).order == OperationOrder::canonical);
    std::vector<u32> expected(256);
    for (const u8 value : in)
        ++expected[value];
    CHECK(bins.to_host(*stream) == expected);

    const Array<f32> ones(*stream, std::vector<f32>(1000, 1.0f)), sum(*stream, 1);
    CHECK(group_any_sum(*stream, 1, sum, ones, 1000).order == OperationOrder::unspecified);
    CHECK(sum.to_host(*stream)[0] == 1000);
}

DEVICE_TEST(group_kernel_with_private_arrays) {
    const auto stream = device.create_stream();
    std::vector<u64> keys = test::random_values<u64>(3 * 256, 11);
    for (u64& key : keys)
        key >>= 8;
    const Array<u64> x(*stream, keys);
    group_sort(*stream, 3, x);
    for (u64& key : keys)
        key *= 3;
    for (u64 g = 0; g < 3; ++g)
        std::sort(keys.begin() + static_cast<i64>(g) * 256, keys.begin() + static_cast<i64>(g + 1) * 256);
    CHECK(x.to_host(*stream) == keys);
}

DEVICE_TEST(group_kernel_with_phases_in_branches) {
    const auto stream = device.create_stream();
    const Array<u32> out(*stream, 20);
    std::vector<u32> more(20, 3), less(20, 4);
    for (u32 t = 0; t < 8; ++t) {
        more[t] = t == 0 ? 2 : 1;
        less[t] = t + 10;
    }
    group_branches(*stream, 1, out, 4);
    CHECK(out.to_host(*stream) == more);
    group_branches(*stream, 1, out, 3);
    CHECK(out.to_host(*stream) == less);
}

DEVICE_TEST(group_kernel_collectives_in_place) {
    const auto stream = device.create_stream();
    const Array<u32> out(*stream, 3 * 48 + 1);
    CHECK(group_in_place(*stream, 1, out).order == OperationOrder::canonical);
    const std::vector<u32> got = out.to_host(*stream);
    for (u32 t = 0; t < 48; ++t) {
        CAPTURE(t);
        const u32 first = t / 16 * 16, last = t / 8 * 8 + 7, second = t / 8 * 8 + 1;
        CHECK(got[3 * t] == 16 * first + 120);
        CHECK(got[3 * t + 1] == second * (second + 1) / 2);
        CHECK(got[3 * t + 2] == last * (last + 1) / 2);
    }
    CHECK(got[3 * 48] == 48 + 48 + 3);
}

DEVICE_TEST(group_kernel_of_many_groups) {
    const auto stream = device.create_stream();
    for (const auto& groups : {std::array<u64, 3>{3, 2, 4}, {1, 70001, 2}, {0, 3, 1}}) {
        const u64 all = groups[0] * groups[1] * groups[2];
        const Array<u64> out(*stream, std::max<u64>(1, all * 6));
        group_places(*stream, {groups[0], groups[1], groups[2]}, out);
        const std::vector<u64> got = out.to_host(*stream);
        bool same = true;
        for (u64 i = 0; i < all * 6; ++i)
            same = same && got[i] == i / 6 * 100 + i % 6 / 2 * 10 + i % 2;
        CHECK(same);
    }
}

DEVICE_TEST(group_kernel_refuses) {
    const auto stream = device.create_stream();
    const Array<u64> out(*stream, 6);
    CHECK(throws(ErrorCode::invalid_argument, "negative extent, got -1",
                 [&] { group_places(*stream, -1, out); }));
    CHECK(throws(ErrorCode::invalid_argument, "too many groups", [&] {
        group_places(*stream, {u64{1} << 40, u64{1} << 40}, out);
    }));
    CHECK(throws(ErrorCode::invalid_argument, "expected u64",
                 [&] { group_places(*stream, 1, View(Array<f32>(*stream, 6).view())); }));
}

TEST_SUITE_END();

TEST_CASE("group_kernel_check_finds_races") {
    const std::vector<u32> out(128);
    CHECK(throws(ErrorCode::invalid_argument, "of 'out' depends on the order of work-items",
                 [&] { check(group_race, 2, out); }));
    const std::vector<f32> in = test::random_values<f32>(96 * 5, 3);
    CHECK_NOTHROW(check(group_rows, 5, in, std::vector<f32>(15), in, 96, 5));
    const std::size_t devices = check(group_race).size();
    for (const std::size_t compiled :
         {check(group_product).size(), check(group_rows).size(), check(group_collectives).size(),
          check(group_stencil).size(), check(group_histogram).size(), check(group_any_sum).size(),
          check(group_sort).size(), check(group_places).size()})
        CHECK(compiled == devices);
}
