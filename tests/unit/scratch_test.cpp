// Scratch memory of calls with extreme shapes. The limits are those that the algorithms' headers promise.
#include "devices.hpp"

#include <algorithm>

using namespace concord;

namespace {

constexpr u64 MiB = u64{1} << 20;

// The device memory that a call allocates and later returns to the pool.
template <class F>
u64 scratch_of(Device& device, Stream& stream, F&& call) {
    stream.synchronize();
    device.trim();
    const MemoryUse before = device.memory_use();
    call();
    stream.synchronize();
    const MemoryUse after = device.memory_use();
    return after.in_use + after.cached - before.in_use - before.cached;
}

// What the pool allocates for a promised number of bytes, in up to four buffers: it rounds small buffers up to powers
// of two, large ones to MiB.
u64 rounded(u64 promised) {
    if (promised == 0) return 0;
    return promised < MiB ? 2 * promised + u64{4} * 512 : promised + 4 * MiB;
}

// Calls f, which takes Options, with each variant that supports the call and with "auto". Checks the scratch memory of
// each.
template <class F>
void check_scratch(Stream& stream, const Algorithm& algorithm, u64 promised, F&& f,
                   const std::vector<std::string>& left_out = {}) {
    Device& device = stream.device();
    std::vector<std::string> names = {"auto"};
    for (const Variant* variant : algorithm.variants) {
        if (std::find(left_out.begin(), left_out.end(), variant->name) == left_out.end())
            names.emplace_back(variant->name);
    }
    for (const std::string& name : names) {
        CAPTURE(algorithm.name);
        CAPTURE(name);
        try {
            // Other memory of the stream (stream_memory.hpp) stays for later calls: the first call
            // allocates it.
            f(Options{.variant = name});
            CHECK(scratch_of(device, stream, [&] { f(Options{.variant = name}); }) <= rounded(promised));
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::unsupported);
            CHECK(name != "auto");
        }
    }
}

struct Product {
    u64 m = 0, n = 0, k = 0, batch = 1;
    bool shares_b = false;
};

// A product of matrices with undefined contents.
void check_matmul(Stream& stream, const Product& s, const MatmulScale& scale, u64 promised,
                  const std::vector<std::string>& left_out) {
    CAPTURE(s.m);
    CAPTURE(s.n);
    CAPTURE(s.k);
    CAPTURE(s.batch);
    const u64 matrices_b = s.shares_b ? 1 : s.batch;
    const Array<f32> a(stream, s.m * s.k * s.batch), b(stream, s.k * s.n * matrices_b),
        c(stream, s.m * s.n * s.batch);
    check_scratch(
        stream, matmul_algorithm, promised,
        [&](const Options& options) {
            matmul(stream, Volume(a, s.batch, s.m, s.k), Volume(b, matrices_b, s.k, s.n),
                   Volume(c, s.batch, s.m, s.n), scale, options);
        },
        left_out);
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(scratch_of_thin_and_deep_products) {
    constexpr u64 usual = 64 * MiB;
    // Kernels with tiles multiply whole tiles, and most of a tile lies outside of C: PoCL needs minutes.
    const std::vector<std::string> slow = {"tiled", "blocks_tiled", "blocks", "register_tiled", "tf32x3"};
    check_matmul(stream, {.m = 1, .n = 1, .k = u64{1} << 26}, {}, 1024 * sizeof(f32), slow);
    check_matmul(stream, {.m = 8, .n = 1, .k = u64{1} << 22}, {}, 8 * 1024 * sizeof(f32), slow);
    check_matmul(stream, {.m = 1, .n = 1, .k = u64{1} << 16}, {}, usual, slow);
    for (const u64 beta : {0, 1}) {
        const MatmulScale scale{.beta = static_cast<f64>(beta)};
        check_matmul(stream, {.m = 1, .n = u64{1} << 21, .k = 5}, scale, 2 * (u64{5} << 21) * 4, slow);
        check_matmul(stream, {.m = u64{1} << 21, .n = 1, .k = 5}, scale, 2 * (u64{5} << 21) * 4, slow);
    }
    check_matmul(stream, {.m = 2, .n = 3, .k = 2, .batch = u64{1} << 20, .shares_b = true}, {}, usual, slow);
    check_matmul(stream, {.m = 9, .n = 9, .k = 40, .batch = u64{1} << 14, .shares_b = true}, {.beta = 2},
                 usual, slow);
}

STREAM_TEST(scratch_of_thin_images_and_volumes) {
    constexpr u64 n = u64{1} << 19;
    const Array<f32> in(stream, 3 * n), out(stream, 3 * n);
    for (const auto& shape : {std::pair(u64{1}, n), std::pair(n, u64{1}), std::pair(u64{3}, n)}) {
        const u64 rows = shape.first, columns = shape.second;
        const Matrix from(in, rows, columns), to(out, rows, columns);
        CAPTURE(rows);
        CAPTURE(columns);
        const u64 bytes = rows * columns * sizeof(f32);
        check_scratch(stream, transpose_algorithm, 0,
                      [&, turned = Matrix(out, columns, rows)](const Options& options) {
                          transpose(stream, from, turned, options);
                      });
        const std::vector<f32> nine(9, 1);
        const ConvolveMask mask(nine, 3, 3);
        check_scratch(stream, convolve_algorithm, bytes, [&, from, to](const Options& options) {
            convolve(stream, from, mask, to, ConvolveBorder::zero, options);
        });
        const Volume now(in, 1, rows, columns), next(out, 1, rows, columns);
        check_scratch(stream, stencil_algorithm, bytes + std::max(4 * bytes, 8 * device.traits().cache),
                      [&](const Options& options) {
                          stencil(stream, now, {0.5, 0.25}, next, 3, options);
                      });
    }
}

STREAM_TEST(scratch_of_long_and_short_sequences) {
    for (const u64 n : {u64{1}, (u64{1} << 19) + 1}) {
        CAPTURE(n);
        const u64 bytes = n * sizeof(u32);
        const Array<u32> in(stream, test::random_values<u32>(n)), out(stream, n), one(stream, 1);
        const Array<u64> count(stream, 1);
        check_scratch(stream, reduce_algorithm, n / 32 + 512,
                      [&](const Options& options) { reduce(stream, in, one, ReduceOp::sum, options); },
                      {"global_tree"});
        check_scratch(stream, random_algorithm, 0, [&](const Options& options) {
            random(stream, out, Distribution::bits, 1, 2, options);
        });
        const Array<u32> offsets(stream, std::vector<u32>{0, static_cast<u32>(n)});
        check_scratch(stream, segmented_reduce_algorithm, n / 16 + 512, [&](const Options& options) {
            segmented_reduce(stream, in, offsets, one, ReduceOp::sum, options);
        });
        check_scratch(stream, scan_algorithm, 2 * bytes + 512, [&](const Options& options) {
            scan(stream, in, out, ReduceOp::sum, ScanKind::inclusive, options);
        });
        check_scratch(stream, sort_algorithm, 2 * bytes + 8 * MiB,
                      [&](const Options& options) { sort(stream, in, out, {}, options); });
        check_scratch(stream, segmented_sort_algorithm, 2 * bytes + 8 * MiB,
                      [&](const Options& options) { segmented_sort(stream, in, offsets, out, {}, options); });
        check_scratch(stream, compact_algorithm, 8 * (n + 1) + 32 * 1024, [&](const Options& options) {
            compact(stream, in, out, count, KeepRule::nonzero, options);
        });
        // The positions of runs have 4 bytes each. compact() needs 32 KiB, or n / 1000 elements.
        const u64 compacts = n / 64 + 33 * 1024;
        const Array<u32> results(stream, n);
        const Array<u64> lengths(stream, n);
        check_scratch(stream, unique_algorithm, compacts,
                      [&](const Options& options) { unique(stream, in, out, count, options); });
        check_scratch(stream, run_length_encode_algorithm, 4 * n + compacts, [&](const Options& options) {
            run_length_encode(stream, in, out, lengths, count, options);
        });
        check_scratch(stream, reduce_by_key_algorithm, 4 * n + compacts + n / 16 + 512,
                      [&](const Options& options) {
                          reduce_by_key(stream, in, in, out, results, count, ReduceOp::sum, options);
                      });
        // A bit per element; for GPUs the totals of nodes of 256 elements, their numbers, and positions of tiles.
        const u64 scans_of_segments = n / 8 + 9 * n / 256 + n / 200 + 8 * 1024;
        check_scratch(stream, segmented_scan_algorithm, scans_of_segments, [&](const Options& options) {
            segmented_scan(stream, in, offsets, out, ReduceOp::sum, ScanKind::inclusive, options);
        });
        check_scratch(stream, scan_by_key_algorithm, scans_of_segments, [&](const Options& options) {
            scan_by_key(stream, in, in, out, ReduceOp::sum, ScanKind::inclusive, options);
        });
        check_scratch(stream, histogram_algorithm, std::max(64 * MiB, 2 * bytes),
                      [&](const Options& options) {
                          histogram(stream, in, count, HistogramBins::identity(), options);
                      });
    }
}

TEST_SUITE_END();
