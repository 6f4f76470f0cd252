// Tests that algorithms over ranks are bitwise identical to one call on all of the data, for any distribution of the
// parts.
#include "distributed_split.hpp"
#include "pipeline_data.hpp"
#include "small_gather.hpp"
#include "test_ranks.hpp"

#include <concord/distributed.hpp>
#include <concord/internal/merge_runs.hpp>

#include <algorithm>

using namespace concord;
using test::each_ranks;
using test::random_values;
using test::rough_values;
using test::same_bits;
using test::throws;
using test::whole;

CONCORD_FUNCTION(float, distributed_further, (float x, float y, float by), return x + y * by;)
CONCORD_FUNCTION(int, distributed_bin_by, (float x, int by), return (int)(x * 4) + by;)
CONCORD_FUNCTION(int, distributed_bin, (float x), return (int)(x * 4) + 4;)

namespace {

enum class Cut { even, skewed, holes };

// A rank's part of n elements. even: similar lengths; skewed: nearly all elements on the last rank; holes: every
// second part is empty, the others have odd lengths.
Part cut_part(u64 n, Cut cut, u32 rank, u32 ranks) {
    if (cut == Cut::even) return part_of(n, rank, ranks);
    auto at = [&](u32 r) -> u64 {
        if (r >= ranks) return n;
        if (cut == Cut::skewed) return std::min<u64>(n, u64{r} * 37);
        return std::min<u64>(n, (r + 1) / 2 * (n / ranks * 2 + 1));
    };
    return {at(rank), at(rank + 1) - at(rank)};
}

template <class T>
std::vector<T> part_of_values(const std::vector<T>& values, const Part& part) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(part.first);
    return {first, first + static_cast<std::ptrdiff_t>(part.count)};
}

[[noreturn]] void wrong(const std::string& what) {
    throw Error(ErrorCode::device_failed, "test", what);
}

// Checks this rank's part of the result.
template <class T>
void check_part(const std::vector<T>& got, const std::vector<T>& expected, const Part& part,
                const char* what) {
    if (!same_bits(got, part_of_values(expected, part))) wrong(what);
}

template <class F>
void each_cut(Device& device, std::initializer_list<u32> sizes, u64 n, F&& f) {
    for (const Cut cut : {Cut::even, Cut::skewed, Cut::holes}) {
        CAPTURE(static_cast<int>(cut));
        each_ranks(device, sizes, [&](Communicator& ranks, Stream& stream) {
            f(ranks, stream, cut_part(n, cut, ranks.rank(), ranks.size()));
        });
    }
}

template <class T>
void reduce_all(Device& device, u64 n, ReduceOp op, const std::vector<T>& x) {
    const auto expected = whole<T, T>(device, x, 1, [&](Stream& stream, const auto& in, const auto& out) {
        reduce(stream, in, out, op, {.order = OperationOrder::canonical});
    });
    each_cut(device, {1, 2, 3, 7, 10}, n, [&](Communicator& ranks, Stream& stream, const Part& part) {
        const Array<T> in(stream, part_of_values(x, part)), out(stream, 1);
        distributed_reduce(ranks, stream, in, out, op);
        if (!same_bits(out.to_host(stream), expected)) wrong("reduce");
    });
}

template <class T>
void scan_all(Device& device, ReduceOp op, ScanKind kind, const std::vector<T>& x,
              std::initializer_list<u32> sizes) {
    const auto expected =
        whole<T, T>(device, x, x.size(), [&](Stream& stream, const auto& in, const auto& out) {
            scan(stream, in, out, op, kind, {.order = OperationOrder::canonical});
        });
    each_cut(device, sizes, x.size(), [&](Communicator& ranks, Stream& stream, const Part& part) {
        const Array<T> in(stream, part_of_values(x, part)), out(stream, part.count);
        distributed_scan(ranks, stream, in, out, op, kind);
        check_part(out.to_host(stream), expected, part, "scan");
        distributed_scan(ranks, stream, in, in, op, kind);
        check_part(in.to_host(stream), expected, part, "scan in place");
    });
}

template <class T>
void sort_all(Device& device, const std::vector<T>& x, const SortBy& by) {
    const u64 n = x.size();
    std::vector<u32> index(n);
    for (u64 i = 0; i < n; ++i)
        index[i] = static_cast<u32>(i);
    SortBy stable = by;
    stable.stable = true;
    const auto stream = device.create_stream();
    const Array<T> keys(*stream, x), sorted(*stream, n);
    const Array<u32> values(*stream, index), moved(*stream, n);
    sort_pairs(*stream, keys, values, sorted, moved, stable);
    const auto expected = sorted.to_host(*stream);
    const auto expected_values = moved.to_host(*stream);
    each_cut(device, {1, 2, 3, 7}, n, [&](Communicator& ranks, Stream& on, const Part& part) {
        // The result is distributed evenly for any distribution of the input.
        const Part mine = part_of(n, ranks);
        const Array<T> in(on, part_of_values(x, part)), out(on, mine.count);
        const Array<u32> places(on, part_of_values(index, part)), places_out(on, mine.count);
        distributed_sort(ranks, on, in, out, by);
        if (by.begin_bit == 0) check_part(out.to_host(on), expected, mine, "sort");
        distributed_sort_pairs(ranks, on, in.view(), places.view(), out.view(), places_out.view(), stable);
        check_part(out.to_host(on), expected, mine, "keys");
        check_part(places_out.to_host(on), expected_values, mine, "values");
        // In place, with the distribution of the input.
        distributed_sort(ranks, on, in, in, stable);
        check_part(in.to_host(on), expected, part, "sort in place");
    });
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(collectives_combine_data_of_all_ranks) {
    each_ranks(device, {1, 2, 3, 4, 7}, [](Communicator& ranks, Stream& stream) {
        for (const u64 n : {0, 1, 5, 1000}) {
            for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
                auto of = [&](u32 rank, u64 i) {
                    return static_cast<float>((i * 7 + rank * 13) % 101) + 0.1f * static_cast<float>(rank);
                };
                std::vector<float> mine(n), expected(n);
                for (u64 i = 0; i < n; ++i) {
                    mine[i] = of(ranks.rank(), i);
                    expected[i] = of(0, i);
                    for (u32 rank = 1; rank < ranks.size(); ++rank)
                        expected[i] = op == ReduceOp::sum ? expected[i] + of(rank, i)
                                                          : std::max(expected[i], of(rank, i));
                }
                const Array<float> data(stream, mine);
                all_reduce(ranks, stream, data.view(), op);
                if (!same_bits(data.to_host(stream), expected)) wrong("all_reduce");
            }
        }
        std::vector<u16> everything;
        for (u32 rank = 0; rank < ranks.size(); ++rank)
            everything.insert(everything.end(), rank * 3, static_cast<u16>(rank));
        const Array<u16> mine(stream,
                              std::vector<u16>(ranks.rank() * u64{3}, static_cast<u16>(ranks.rank())));
        const Array<u16> all(stream, everything.size());
        all_gather(ranks, stream, mine.view(), all.view());
        if (all.to_host(stream) != everything) wrong("all_gather");
        const u32 root = ranks.size() - 1;
        const Array<u16> at_root(stream, ranks.rank() == root ? everything.size() : 0);
        gather(ranks, stream, mine.view(), at_root.view(), root);
        if (ranks.rank() == root && at_root.to_host(stream) != everything) wrong("gather");
        const Array<u16> one(stream, std::vector<u16>(4, static_cast<u16>(ranks.rank())));
        broadcast(ranks, stream, one.view(), root);
        if (one.to_host(stream) != std::vector<u16>(4, static_cast<u16>(root))) wrong("broadcast");
    });
}

DEVICE_TEST(distributed_reductions_are_bitwise_identical_to_one_call) {
    for (const u64 n : {0, 1, 130, 1025, 40961}) {
        CAPTURE(n);
        reduce_all(device, n, ReduceOp::sum, rough_values(n));
        reduce_all(device, n, ReduceOp::min, random_values<float>(n));
        reduce_all(device, n, ReduceOp::product, random_values<u32>(n));
    }
    reduce_all(device, (1 << 22) + 4097, ReduceOp::sum, rough_values((1 << 22) + 4097));
    const auto x = rough_values(10007);
    const auto op = distributed_further.bind(0.75f);
    const auto expected = whole<float, float>(
        device, x, 1,
        [&](Stream& stream, const auto& in, const auto& out) { reduce(stream, in, out, op, 0.0f); });
    each_cut(device, {3}, x.size(), [&](Communicator& ranks, Stream& stream, const Part& part) {
        const Array<float> in(stream, part_of_values(x, part)), out(stream, 1);
        distributed_reduce(ranks, stream, in, out, op, 0.0f);
        if (!same_bits(out.to_host(stream), expected)) wrong("reduce by a function");
    });
}

DEVICE_TEST(distributed_scans_are_bitwise_identical_to_one_call) {
    const u64 tile = 65536;
    for (const u64 n : {u64{0}, u64{1}, u64{17}, u64{9000}, 2 * tile + 11}) {
        CAPTURE(n);
        scan_all(device, ReduceOp::sum, ScanKind::inclusive, rough_values(n), {1, 2, 3, 7});
        scan_all(device, ReduceOp::sum, ScanKind::exclusive, rough_values(n), {3});
        scan_all(device, ReduceOp::sum, ScanKind::exclusive, random_values<u32>(n), {2, 7});
    }
    scan_all(device, ReduceOp::sum, ScanKind::inclusive, rough_values(35 * tile + 7919), {3});
    const auto x = rough_values(3 * tile + 5);
    const auto op = distributed_further.bind(0.75f);
    const auto expected = whole<float, float>(
        device, x, x.size(),
        [&](Stream& stream, const auto& in, const auto& out) { scan(stream, in, out, op, 0.0f); });
    each_cut(device, {3}, x.size(), [&](Communicator& ranks, Stream& stream, const Part& part) {
        const Array<float> in(stream, part_of_values(x, part)), out(stream, part.count);
        distributed_scan(ranks, stream, in, out, op, 0.0f);
        check_part(out.to_host(stream), expected, part, "scan by a function");
    });
}

DEVICE_TEST(distributed_histograms_count_all_samples) {
    for (const u64 n : {0, 1, 100, 200003}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        auto counts = [&](auto counter, const HistogramBins& bins, u64 number) {
            using C = decltype(counter);
            return whole<float, C>(device, x, number, [&](Stream& stream, const auto& in, const auto& out) {
                histogram(stream, in, out, bins);
            });
        };
        const auto even = HistogramBins::even(-0.9, 1.0);
        // All samples in one bin: more than u16 holds.
        const auto wide = counts(u64{}, even, 19);
        const auto words = counts(u32{}, even, 5);
        const auto few = counts(u16{}, HistogramBins::even(-2, 2), 1);
        std::vector<u64> own(8);
        for (const float v : x)
            ++own[static_cast<u64>(static_cast<i64>(v * 4) + 4)];
        each_cut(device, {1, 3, 7}, n, [&](Communicator& ranks, Stream& stream, const Part& part) {
            const Array<float> in(stream, part_of_values(x, part));
            const Array<u64> a(stream, 19), d(stream, 8);
            const Array<u32> b(stream, 5);
            const Array<u16> c(stream, 1);
            distributed_histogram(ranks, stream, in, a, even);
            distributed_histogram(ranks, stream, in, b, even);
            distributed_histogram(ranks, stream, in, c, HistogramBins::even(-2, 2));
            distributed_histogram(ranks, stream, in, d, distributed_bin);
            if (a.to_host(stream) != wide || b.to_host(stream) != words || c.to_host(stream) != few ||
                d.to_host(stream) != own)
                wrong("histogram");
        });
    }
}

// More chunks than elements, and chunks of many keys; ranks without keys and ranks without results.
DEVICE_TEST(distributed_sorts_in_chunks_are_bitwise_identical_to_one_call) {
    struct Tested {
        explicit Tested(u32 chunks) { detail::tested_sort_chunks = chunks; }
        ~Tested() { detail::tested_sort_chunks = 0; }
    };
    for (const u32 chunks : {2, 5}) {
        CAPTURE(chunks);
        const Tested tested(chunks);
        for (const u64 n : {6, 3001}) {
            CAPTURE(n);
            sort_all(device, random_values<u32>(n), {});
            sort_all(device, std::vector<u32>(n, 7), {.order = SortOrder::descending});
        }
    }
}

DEVICE_TEST(distributed_sorts_are_bitwise_identical_to_one_call) {
    for (const u64 n : {0, 1, 6, 20011}) {
        CAPTURE(n);
        std::vector<float> floats = rough_values(n);
        for (u64 i = 0; i + 3 < n; i += 7) {  // zeros of both signs, NaNs, infinities
            floats[i] = i % 2 == 0 ? 0.0f : -0.0f;
            floats[i + 1] = i % 3 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                       : -std::numeric_limits<float>::infinity();
        }
        sort_all(device, floats, {});
        sort_all(device, floats, {.order = SortOrder::descending});
        // Few distinct keys, all keys equal, and sorting by a range of bits.
        std::vector<u32> few = random_values<u32>(n);
        for (u32& key : few)
            key %= 3;
        sort_all(device, few, {});
        sort_all(device, std::vector<u32>(n, ~u32{0}), {});
        sort_all(device, random_values<u32>(n), {.begin_bit = 3, .end_bit = 9});
        sort_all(device, random_values<i64>(n), {.order = SortOrder::descending});
        sort_all(device, random_values<u8>(n), {});
    }
}

DEVICE_TEST(distributed_calls_reject_invalid_arguments_on_all_ranks) {
    const auto self = device.shared_from_this();
    // All ranks throw the same error.
    auto all_throw = [&](ErrorCode code, std::string_view part, const auto& f) {
        std::atomic<u32> told = 0;
        run_on_devices({self, self, self}, [&](Communicator& ranks, Stream& stream) {
            if (throws(code, part, [&] { f(ranks, stream); })) ++told;
            ranks.barrier();
        });
        CHECK(told == 3);
    };
    all_throw(ErrorCode::invalid_argument, "ranks differ", [](Communicator& ranks, Stream& stream) {
        const Array<float> x(stream, 10), out(stream, 1);
        distributed_reduce(ranks, stream, x, out, ranks.rank() == 2 ? ReduceOp::max : ReduceOp::sum);
    });
    // Also on ranks without a chunk: all five elements are on rank 1.
    const char* const in_own_order = device.traits().launch == LaunchModel::host ? "serial" : "sequential";
    for (const char* variant : {"none_such", in_own_order}) {
        const bool is_known = std::string_view(variant) == in_own_order;
        all_throw(is_known ? ErrorCode::unsupported : ErrorCode::invalid_argument, variant,
                  [&](Communicator& ranks, Stream& stream) {
                      const Array<float> x(stream, std::vector<float>(ranks.rank() == 1 ? 5 : 0)),
                          out(stream, 1);
                      distributed_reduce(ranks, stream, x, out, ReduceOp::sum, {.variant = variant});
                  });
    }
    all_throw(ErrorCode::invalid_argument, "the outs of all ranks must have room for 30 keys, got 27",
              [](Communicator& ranks, Stream& stream) {
                  const Array<u32> x(stream, 10), out(stream, 9);
                  distributed_sort(ranks, stream, x, out);
              });
    all_throw(ErrorCode::invalid_argument, "ranks differ", [](Communicator& ranks, Stream& stream) {
        const Array<u32> x(stream, 10 + ranks.rank());
        all_reduce(ranks, stream, x.view());
    });
    all_throw(ErrorCode::invalid_argument, "ranks differ", [](Communicator& ranks, Stream& stream) {
        const Array<u32> x(stream, 10), all(stream, 30);
        gather(ranks, stream, x.view(), all.view(), ranks.rank() == 2 ? 1 : 0);
    });
    all_throw(ErrorCode::invalid_argument, "root must be less than the number of ranks, 3, got 3",
              [](Communicator& ranks, Stream& stream) {
                  const Array<u32> x(stream, 10);
                  broadcast(ranks, stream, x.view(), 3);
              });
    all_throw(ErrorCode::invalid_argument, "out at byte 4 overlaps in",
              [](Communicator& ranks, Stream& stream) {
                  const Array<u32> x(stream, 10);
                  distributed_scan(ranks, stream, x.span().part(0, 8), x.span().part(1, 8));
              });
    // The same function with different bound values.
    all_throw(ErrorCode::invalid_argument, "ranks differ", [](Communicator& ranks, Stream& stream) {
        const Array<float> x(stream, 10);
        const Array<u32> counters(stream, 9);
        distributed_histogram(ranks, stream, x, counters, distributed_bin_by.bind(ranks.rank() == 0 ? 4 : 3));
    });
    all_throw(ErrorCode::invalid_argument, "counters must be u16, u32 or u64, got f32",
              [](Communicator& ranks, Stream& stream) {
                  const Array<u32> x(stream, 10);
                  const Array<float> counters(stream, 10);
                  distributed_histogram(ranks, stream, x.view(), counters.view(), HistogramBins::identity());
              });
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("cuda");

TEST_CASE("the kernel that gathers short results compiles") {
    for (const char* selector : {"cuda@sm_75", "cuda@sm_90"})
        CHECK_NOTHROW(detail::small_gather_kernel(*open_device(selector)));
}

TEST_CASE("kernels of the distributed sort compile for sm_90") {
    const auto device = open_device("cuda@sm_90");
    CHECK(detail::supports_merge_runs(*device, Type::u32, {}));
    CHECK_FALSE(detail::supports_merge_runs(*device, Type::u32, {.end_bit = 31}));
    const auto stream = device->create_stream();
    const auto memory = stream->scratch(64000);
    for (const Type type : {Type::u8, Type::i16, Type::f32, Type::f64}) {
        const View keys{memory.get(), 0, 1000, type}, values{memory.get(), 8000, 1000, Type::u32};
        CHECK_NOTHROW(
            detail::merge_runs(*stream, {keys, {}}, {keys, {}}, {{memory.get(), 16000, 2000, type}, {}}, {}));
        CHECK_NOTHROW(detail::merge_runs(
            *stream, {keys, values}, {keys, values},
            {{memory.get(), 16000, 2000, type}, {memory.get(), 32000, 2000, Type::u32}}, {}));
    }
    for (const Type type : {Type::u8, Type::i16, Type::f32, Type::f64}) {
        // Launches the kernel, and then cannot read its results.
        CHECK(throws(ErrorCode::unavailable, "Stream::read: compile-only device", [&] {
            run_on_devices({device}, [&](Communicator& ranks, Stream& stream) {
                const auto keys = stream.scratch(u64{5000} * size_of(type));
                (void)detail::split_sorted(ranks, stream, {keys.get(), 0, 5000, type}, {}, {5000}, {2500});
            });
        }));
    }
}

TEST_SUITE_END();
