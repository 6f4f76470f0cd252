// Memory allocations of calls that succeed: none on the CPU for 1024 elements, once kernels and buffers exist.
//
//     concord-call-allocations
//
// Counts several batches of calls and takes the least, because a call that the machine delays is queued, and the queue
// may grow.
#include "failing_allocator.hpp"

#include <concord/concord.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>

using namespace concord;

namespace {

CONCORD_FUNCTION(f32, half_of, (f32 x), return x / 2;)
CONCORD_KERNEL(twice_of, (u64 i, const f32* in, f32* out), out[i] = 2 * in[i];)
CONCORD_GROUP_KERNEL(
    sum_of, (128), (const f32* in, f32* out, u64 n), CONCORD_PRIVATE(f32, sum) = 0;
    CONCORD_STRIDED((i, 0, n), sum) { sum += in[i]; } const f32 total = group_sum(sum);
    CONCORD_STRIDED((i, 0, n)) { out[i] = total; })

u64 allocations_of(Stream& stream, const std::function<void()>& call) {
    constexpr int warm_up = 64, batches = 16, calls = 16;
    for (int i = 0; i < warm_up; ++i)
        call();
    stream.synchronize();
    u64 least = ~u64{0};
    for (int batch = 0; batch < batches; ++batch) {
        test::concord_test_start_failing({});
        for (int i = 0; i < calls; ++i)
            call();
        least = std::min<u64>(least, test::concord_test_stop_failing());
        stream.synchronize();
    }
    return least;
}

}  // namespace

int main() {
    constexpr u64 n = 1024;
    const auto device = open_device("tbb");
    const auto stream_of_all = device->create_stream();
    Stream& stream = *stream_of_all;
    const std::vector<f32> ones(n, 1);
    const Array<f32> x(stream, ones), y(stream, ones), out(stream, n), one(stream, 1);
    const Array<u32> whole(stream, std::vector<u32>(n, 1)), kept(stream, n), total(stream, 1),
        counters(stream, 64);
    const Array<u64> count(stream, 1);
    const auto bins = HistogramBins::even(0, 2);

    const std::pair<const char*, std::function<void()>> cases[] = {
        {"map", [&] { map(stream, x, out, MapFunction::square); }},
        {"map of a user's function", [&] { map(stream, x, out, half_of); }},
        {"add", [&] { add(stream, x, y, out); }},
        {"reduce f32", [&] { reduce(stream, x, one); }},
        {"reduce u32", [&] { reduce(stream, whole, total); }},
        {"scan f32", [&] { scan(stream, x, out); }},
        {"scan u32", [&] { scan(stream, whole, kept); }},
        {"compact", [&] { compact(stream, whole, kept, count, KeepRule::odd); }},
        {"histogram", [&] { histogram(stream, x, counters, bins); }},
        {"index kernel", [&] { twice_of(stream, n, x, out); }},
        {"group kernel", [&] { sum_of(stream, 4, x, out, n); }},
    };
    bool passed = true;
    for (const auto& [name, call] : cases) {
        const u64 found = allocations_of(stream, call);
        std::printf("%-26s %llu allocations\n", name, static_cast<unsigned long long>(found));
        passed = passed && found == 0;
    }
    // A count of what certainly allocates: the message of an error.
    const u64 refused = allocations_of(stream, [&] {
        try {
            map(stream, x, out, MapFunction::square, {.variant = "unknown"});
        } catch (const Error&) {
        }
    });
    if (refused == 0) std::printf("FAILED: the allocator counts nothing\n");
    if (!passed) std::printf("FAILED: a call that succeeds allocates\n");
    return passed && refused > 0 ? 0 : 1;
}
