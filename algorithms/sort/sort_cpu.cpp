// Host side of the sorts on the CPU that need no comparator. sort_host_radix.cpp and sort_host_split.cpp have the
// kernels and describe the sorts.

#include "sort_buckets.hpp"
#include "sort_host_kernels.hpp"
#include "sort_variants.hpp"

#include <algorithm>
#include <bit>

namespace concord::detail {
namespace {

const RadixHost& radix_kernels(const SortProblem& p) {
    return radix_host(p.key_size(), p.pairs() ? p.value_size() : 0);
}

void run_serial(Stream& stream, const SortProblem& p, u32 width) {
    const auto kernel = host_kernel_of(stream.device(), "radix_serial", radix_kernels(p).serial);
    const SortSpare spare(stream, p);
    const u64 counters = divide_up(p.by.end_bit - p.by.begin_bit, width) << width;
    const Array<u64> tables(stream, counters);
    const detail::host::Ascending code = sort_ascending(p);
    launch(stream, *kernel, LaunchShape::linear(1, 1), p.in, values_or(p, p.values_in, p.in), p.out,
           values_or(p, p.values_out, p.out), spare.keys, spare.values, tables, p.count(), p.by.begin_bit,
           p.by.end_bit, width, u32{p.in_place()}, bytes_of(code));
}

// leaves_name, one_name: names of the kernels that sort leaves.
void run_sample(Stream& stream, const SortProblem& p, const SampleHost& kernels, const char* leaves_name,
                const char* one_name) {
    Device& device = stream.device();
    const auto kernel = [&](const char* entry, const HostKernel& host) {
        return host_kernel_of(device, entry, host);
    };
    const u64 n = p.count(), units = device.traits().units;
    const detail::host::Ascending code = sort_ascending(p);
    const auto spare_keys = stream.scratch(p.in.bytes());
    const View spare{spare_keys.get(), 0, n, p.in.type};
    // Buckets fit a thread's second-level cache, with several per thread. Below 16 KiB the split costs more than
    // the sort.
    constexpr u64 min_bytes = u64{16} << 10;
    const u64 leaf_bytes = tuned(device, sort_leaf_kib, point_of(p), 512) << 10,
              few_bytes = tuned(device, sort_one_leaf_kib, point_of(p), 512) << 10;
    // On one thread a split pays only for the sake of the caches.
    const u64 min_split = units > 1                 ? few_bytes
                          : kernels.max_caches == 0 ? ~u64{0}
                                                    : kernels.max_caches * device.traits().cache;
    if (p.in.bytes() < min_split) {
        const auto one = kernel(one_name, kernels.one);
        launch(stream, *one, LaunchShape::linear(1, 1), p.in, p.out, spare, n, bytes_of(code));
        return;
    }
    const u64 buckets = std::bit_floor(std::min({detail::host::max_buckets, p.in.bytes() / min_bytes,
                                                 std::max(8 * units, 2 * p.in.bytes() / leaf_bytes)}));
    const auto split = kernel("sample_splitters", kernels.splitters),
               count = kernel("sample_count", kernels.count), sum = kernel("sample_offsets", kernels.offsets),
               scatter = kernel("sample_scatter", kernels.scatter),
               leaves = kernel(leaves_name, kernels.leaves);
    const u64 chunks =
                  std::min(tuned(device, sort_chunks, point_of(p), 4) * units, divide_up(n, u64{1} << 14)),
              chunk = divide_up(n, chunks);
    const Array<u8> splitters(stream, kernels.splitters_bytes), notes(stream, n);
    const Array<u64> counts(stream, chunks * detail::host::max_buckets),
        starts(stream, detail::host::max_buckets + 1);
    const View& scattered = p.in_place() || kernels.leaves_in_spare ? spare : p.out;
    const u32 non_temporal = 2 * p.bytes() > device.traits().cache ? 1 : 0;
    const LaunchShape one = LaunchShape::linear(1, 1), all = LaunchShape::linear(chunks, 1);
    launch(stream, *split, one, p.in, splitters, n, buckets, bytes_of(code));
    launch(stream, *count, all, p.in, splitters, notes, counts, n, chunk, bytes_of(code));
    launch(stream, *sum, one, counts, starts, chunks);
    launch(stream, *scatter,
           LaunchShape::linear(chunks, 1, detail::host::max_buckets * detail::host::line_bytes), p.in,
           scattered, notes, counts, n, chunk, non_temporal, bytes_of(code));
    launch(stream, *leaves, LaunchShape::linear(detail::host::max_buckets, 1), scattered, p.out, spare,
           splitters, starts, bytes_of(code));
}

}  // namespace

void run_sort_radix16(Stream& stream, const SortProblem& p) {
    run_serial(stream, p, 16);
}

void run_sort_radix8_host(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const u64 n = p.count();
    // One thread for small inputs, because waking threads costs more; then some chunks per thread.
    constexpr u64 least = u64{1} << 14;
    const u64 chunks =
        std::min<u64>(n / least, device.traits().units * tuned(device, sort_chunks, point_of(p), 2));
    if (chunks < 2) return run_serial(stream, p, radix_host_bits);

    const RadixHost& kernels = radix_kernels(p);
    const auto kernel = [&](const char* entry, const HostKernel& host) {
        return host_kernel_of(device, entry, host);
    };
    const auto digits = kernel("radix_digits", kernels.digits), count = kernel("radix_count", kernels.count),
               plan_of = kernel("radix_plan", kernels.plan), sum = kernel("radix_offsets", kernels.offsets),
               scatter = kernel("radix_scatter", kernels.scatter),
               finish = kernel("radix_finish", kernels.finish);
    const u64 chunk = divide_up(n, chunks),
              max_passes = divide_up(p.by.end_bit - p.by.begin_bit, radix_host_bits);
    const SortSpare spare(stream, p);
    const Array<u64> counts(stream, chunks * max_passes * detail::host::max_buckets),
        offsets(stream, chunks * detail::host::max_buckets), plan(stream, radix_host_plan);
    const detail::host::Ascending code = sort_ascending(p);
    const u32 in_place = p.in_place() ? 1 : 0, end_bit = p.by.end_bit,
              non_temporal = 2 * p.bytes() > device.traits().cache ? 1 : 0;
    const View &values_in = values_or(p, p.values_in, p.in), &values_out = values_or(p, p.values_out, p.out);
    const LaunchShape all = LaunchShape::linear(chunks, 1), one = LaunchShape::linear(1, 1);
    launch(stream, *digits, all, p.in, counts, n, chunk, p.by.begin_bit, end_bit, bytes_of(code));
    launch(stream, *plan_of, one, counts, offsets, plan, n, chunks, p.by.begin_bit, end_bit);
    for (u64 pass = 0; pass < max_passes; ++pass) {
        if (pass > 0) {
            launch(stream, *count, all, p.out, spare.keys, offsets, plan, n, chunk, pass, end_bit, in_place);
            launch(stream, *sum, one, offsets, plan, chunks, pass);
        }
        launch(stream, *scatter, LaunchShape::linear(chunks, 1, kernels.line_bytes), p.in, values_in, p.out,
               values_out, spare.keys, spare.values, offsets, plan, n, chunk, pass, end_bit, in_place,
               non_temporal, bytes_of(code));
    }
    launch(stream, *finish, all, p.in, values_in, p.out, values_out, spare.keys, spare.values, plan, n, chunk,
           in_place);
}

Support supports_sort_sample(const Device& /*device*/, const SortProblem& p) {
    if (p.pairs()) return Support::no("does not support values; pass keys alone");
    if (p.key_size() == 1) return Support::no("does not support keys of 1 byte");
    return {};
}

Support supports_sort_vqsort(const Device& device, const SortProblem& p) {
    if (!has_vqsort) return Support::no("not available: Concord was built without Highway");
    return supports_sort_sample(device, p);
}

// vqsort partitions keys of 4 bytes with compress-stores to memory where it uses AVX-512. Processors execute them in a
// few microoperations or in hundreds, so that vqsort is three times as fast as a radix sort or four times slower. The
// speed of the radix sort varies little. A calibration measures both (sort.cpp). Other keys are not affected.
bool suits_sort_vqsort(const Device& /*device*/, const SortProblem& p) {
#if defined(__x86_64__)
    return p.key_size() != 4 || !__builtin_cpu_supports("avx512f");  // Highway uses what the processor has
#else
    (void)p;
    return true;
#endif
}

void run_sort_sample_vqsort(Stream& stream, const SortProblem& p) {
    run_sample(stream, p, sample_vqsort_host(p.key_size()), "sample_leaves_vqsort", "sample_one_vqsort");
}

void run_sort_sample_radix(Stream& stream, const SortProblem& p) {
    run_sample(stream, p, sample_radix_host(p.key_size()), "sample_leaves_radix", "sample_one_radix");
}

Support supports_sort_counting(const Device& /*device*/, const SortProblem& p) {
    if (p.pairs()) return Support::no("does not support values; pass keys alone");
    if (p.key_size() > 2) return Support::no("supports keys of 1 or 2 bytes, got {}", p.key_size());
    return {};
}

void run_sort_counting(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const bool bytes = p.key_size() == 1;
    const auto kernel = [&](const char* entry, const HostKernel& host) {
        return host_kernel_of(device, entry, host);
    };
    const CountingHost& kernels = counting_host(p.key_size());
    const auto count = kernel("counting_count", kernels.count), sums = kernel("counting_sums", kernels.sums),
               begin = kernel("counting_starts", kernels.starts),
               fill = kernel("counting_fill", kernels.fill);
    const u64 n = p.count(), values = u64{1} << (8 * p.key_size()), turns = kernels.turns,
              units = device.traits().units;
    // Counters have 32 bits. A chunk must outweigh the cost of its tables.
    const u64 least = bytes ? u64{1} << 14 : u64{1} << 18, most = u64{1} << 31;
    const u64 chunks = std::max(std::clamp<u64>(n / least, 1, 2 * units), divide_up(n, most)),
              chunk = divide_up(n, chunks);
    const Array<u32> tables(stream, chunks * turns * values);
    const Array<u64> starts(stream, values + 1);
    const detail::host::Ascending code = sort_ascending(p);
    launch(stream, *count, LaunchShape::linear(chunks, 1), p.in, tables, n, chunk, bytes_of(code));
    launch(stream, *sums, LaunchShape::linear(bytes ? 1 : 64, 1), tables, starts, chunks * turns, values);
    launch(stream, *begin, LaunchShape::linear(1, 1), starts, values);
    launch(stream, *fill, LaunchShape::linear(chunks, 1), starts, p.out, n, chunk, bytes_of(code));
}

}  // namespace concord::detail
