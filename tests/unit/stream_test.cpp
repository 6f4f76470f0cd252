// Streams and events: order, asynchrony, failures. Written once, run for every device.
#include "devices.hpp"

#include <concord/backend/memory.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace concord;
using test::random_values;
using test::throws;

namespace {

// Each group computes a number. Groups with lower indices take longer.
const KernelSource countdown_source{
    "countdown",
    {{"countdown.cu",
      "extern \"C\" __global__ void countdown(u32* out, u32 steps) {\n"
      "    u32 x = blockIdx.x;\n"
      "    for (u32 i = x; i < steps; ++i) x = x * 1664525u + (x >> 7);\n"
      "    out[blockIdx.x] = x;\n"
      "}\n"}},
    {{"countdown.cl",
      "__kernel void countdown(__global u32* out, ulong out_at, u32 steps) {\n"
      "    u32 x = get_group_id(0);\n"
      "    for (u32 i = x; i < steps; ++i) x = x * 1664525u + (x >> 7);\n"
      "    out[out_at + get_group_id(0)] = x;\n"
      "}\n"}}};

u32 counted_down(u32 group, u32 steps) {
    u32 x = group;
    for (u32 i = x; i < steps; ++i)
        x = x * 1664525U + (x >> 7);
    return x;
}

void countdown_group(const Group& group, u32* out, u32 steps) {
    out[group.x] = counted_down(static_cast<u32>(group.x), steps);
}

std::shared_ptr<Kernel> countdown_kernel(Device& device) {
    KernelSpec spec;
    spec.source = &countdown_source;
    spec.entry = "countdown";
    spec.host = plain_host_kernel<&countdown_group>();
    return device.compile(spec);
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(ranges_are_validated) {
    const auto buffer = device.allocate(100);
    u8 host[200] = {};
    CHECK(throws(ErrorCode::invalid_argument, "101 bytes at offset 0",
                 [&] { stream.write(*buffer, 0, host, 101); }));
    CHECK(throws(ErrorCode::invalid_argument, "1 bytes at offset 100",
                 [&] { stream.read(host, *buffer, 100, 1); }));
    CHECK(throws(ErrorCode::invalid_argument, "exceeds the buffer",
                 [&] { stream.read(host, *buffer, ~u64{0}, 2); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap", [&] { stream.copy(*buffer, 10, *buffer, 0, 20); }));
    CHECK(throws(ErrorCode::invalid_argument, "3 bytes", [&] { stream.fill(*buffer, 0, 99, host, 3); }));
    CHECK(throws(ErrorCode::invalid_argument, "misaligned range",
                 [&] { stream.fill(*buffer, 2, 96, host, 4); }));
    CHECK_NOTHROW(stream.write(*buffer, 100, host, 0));
    CHECK_NOTHROW(stream.synchronize());
}

STREAM_TEST(fill_repeats_any_pattern) {
    const u64 pattern = 0x0123456789abcdef;
    const u8 guard = 0x55;
    for (const u64 bytes : {u64{8}, u64{800}, u64{65544}, (u64{5} << 20) + 8}) {
        for (const u32 size : {1, 2, 4, 8}) {
            for (const u64 offset : {u64{8}, u64{size}, u64{37} * size, u64{256}}) {
                std::vector<u8> got(bytes + 1024);
                const auto buffer = device.allocate(got.size());
                stream.fill(*buffer, 0, got.size(), &guard, 1);
                stream.fill(*buffer, offset, bytes, &pattern, size);
                stream.read(got.data(), *buffer, 0, got.size());
                stream.synchronize();
                u64 wrong = 0;
                for (u64 i = 0; i < got.size(); ++i) {
                    const bool inside = i >= offset && i < offset + bytes;
                    const u8 expected =
                        inside ? static_cast<u8>(pattern >> 8 * ((i - offset) % size)) : guard;
                    wrong += got[i] != expected;
                }
                CAPTURE(size);
                CAPTURE(offset);
                CHECK(wrong == 0);
            }
        }
    }
}

CONCORD_STRUCT(FillTest, f32 a; f32 b; u32 c;)
CONCORD_STRUCT(FillBytesTest, u8 a[3];)

STREAM_TEST(fill_writes_a_value_to_every_element) {
    const auto check = [&](auto guard, auto value) {
        using T = decltype(value);
        const std::vector<T> before(1000, guard);
        const Array<T> x(stream, before);
        for (const u64 n : {0, 1, 2, 3, 700}) {
            fill(stream, x.span(), guard);
            fill(stream, x.span().part(7, n), value);
            std::vector<T> expected = before;
            std::fill_n(expected.begin() + 7, n, value);
            const std::vector<T> got = x.to_host(stream);
            const bool same = std::memcmp(got.data(), expected.data(), expected.size() * sizeof(T)) == 0;
            CHECK(same);
        }
    };
    check(u8{1}, u8{200});
    check(0.0f, 2.5f);
    check(i64{-1}, i64{7});
    check(FillTest{}, FillTest{1.5f, 1.5f, 3});
    check(FillTest{1, 2, 3}, FillTest{});
    check(FillBytesTest{}, FillBytesTest{{1, 2, 3}});
    const Array<f32> floats(stream, {1, 2});
    fill(stream, floats, 3);
    fill(stream, floats.view().part(0, 1), 4.0f);
    CHECK(floats.to_host(stream) == std::vector<f32>{4, 3});
    CHECK(throws(ErrorCode::invalid_argument, "view of f32", [&] { fill(stream, floats.view(), 4.0); }));
}

STREAM_TEST(large_transfers_at_odd_offsets_arrive) {
    const u64 bytes = (u64{37} << 20) + 13;
    const auto values = random_values<u8>(bytes);
    const auto first = device.allocate(bytes + 5), second = device.allocate(bytes + 11);
    stream.write(*first, 5, values.data(), bytes);
    stream.copy(*second, 11, *first, 5, bytes);
    std::vector<u8> got(bytes);
    stream.read(got.data(), *second, 11, bytes);
    stream.synchronize();
    CHECK(got == values);
}

STREAM_TEST(pageable_transfers_of_any_size_arrive) {
    const u64 MiB = u64{1} << 20, most = 33 * MiB;
    const auto values = random_values<u64>(most / 8 + 1);
    const auto* bytes_of = reinterpret_cast<const u8*>(values.data());
    const auto buffer = device.allocate(most + 64);
    std::vector<u8> got(most);
    // Sizes around the threshold between driver and staging ring, its chunks and its length.
    for (const u64 bytes : {MiB, MiB + 1, 4 * MiB - 1, 4 * MiB, 4 * MiB + 1, 16 * MiB + 257, 32 * MiB + 3}) {
        for (const u64 offset : {u64{0}, u64{3}}) {
            CAPTURE(bytes);
            CAPTURE(offset);
            const u8 poison = 0x5a;
            stream.fill(*buffer, 0, most + 64, &poison, 1);
            stream.write(*buffer, offset, bytes_of + offset, bytes);
            std::memset(got.data(), 0, bytes);
            stream.read(got.data(), *buffer, offset, bytes);
            u8 behind = 0;
            stream.read(&behind, *buffer, offset + bytes, 1);
            stream.synchronize();
            CHECK(std::memcmp(got.data(), bytes_of + offset, bytes) == 0);
            CHECK(behind == poison);
        }
    }
}

STREAM_TEST(pageable_transfers_keep_to_the_streams_order) {
    const u64 bytes = (u64{9} << 20) + 5;
    const auto buffer = device.allocate(bytes), copy = device.allocate(bytes);
    std::vector<u8> host(bytes), got(bytes);
    for (u8 round = 1; round < 6; ++round) {
        std::memset(host.data(), round, bytes);
        const u8 poison = 0;
        stream.fill(*buffer, 0, bytes, &poison, 1);
        stream.write(*buffer, 0, host.data(), bytes);
        stream.copy(*copy, 0, *buffer, 0, bytes);
        stream.fill(*buffer, 0, bytes, &poison, 1);
        stream.read(got.data(), *copy, 0, bytes);
        stream.fill(*copy, 0, bytes, &poison, 1);
        stream.synchronize();
        CHECK(got == host);
    }
}

STREAM_TEST(work_runs_in_order) {
    const auto buffer = device.allocate(4096);
    std::vector<u8> got(4096);
    std::vector<int> order;
    for (int i = 0; i < 20; ++i) {
        const u8 value = static_cast<u8>(i);
        stream.fill(*buffer, 0, 4096, &value, 1);
        stream.read(got.data(), *buffer, 0, 4096);
        stream.callback([&, i] { order.push_back(got[0] == i && got[4095] == i ? i : -1); });
    }
    stream.synchronize();
    REQUIRE(order.size() == 20);
    for (int i = 0; i < 20; ++i)
        CHECK(order[static_cast<std::size_t>(i)] == i);
    CHECK(stream.idle());
}

STREAM_TEST(calls_return_before_their_work_is_done) {
    std::atomic<bool> release = false, reached = false;
    stream.callback([&] {
        while (!release)
            std::this_thread::yield();
    });
    stream.callback([&] { reached = true; });
    const auto event = device.create_event();
    stream.record(*event);
    CHECK_FALSE(reached);
    CHECK_FALSE(event->done());
    CHECK_FALSE(stream.idle());
    release = true;
    stream.synchronize();
    CHECK(reached);
    CHECK(event->done());
}

// The rule is documented in docs/concepts.md.
STREAM_TEST(short_work_on_an_empty_stream_of_the_cpu_runs_in_the_call) {
    REQUIRES(device.info().backend == "tbb", test::needs::tbb);
    const auto kernel = countdown_kernel(device);
    const auto buffer = device.allocate(8 * sizeof(u32));
    const auto* const seen = static_cast<const u32*>(backend::memory_of(*buffer).host_pointer());
    const auto count_down = [&](u64 groups, u32 steps) {
        const KernelArgument arguments[] = {{.buffer = buffer.get(), .element_size = 4, .type = Type::u32},
                                            {.value = &steps, .size = 4, .type = Type::u32}};
        stream.launch(*kernel, LaunchShape::linear(groups, 1), arguments);
    };
    const u32 value = 7;
    // The first launch of a shape may take any time, and the system may interrupt others.
    bool ran = false;
    for (int i = 0; i < 100 && !ran; ++i) {
        stream.fill(*buffer, 0, buffer->size(), &value, sizeof value);
        CHECK(stream.idle());
        CHECK(seen[0] == 7);
        count_down(1, 100);
        ran = stream.idle();
        stream.synchronize();
    }
    CHECK(ran);
    CHECK(seen[0] == counted_down(0, 100));
    CHECK(seen[1] == 7);

    // Work behind a callback waits for it, and does not block the caller.
    std::atomic<bool> may_continue = false;
    stream.callback([&] {
        while (!may_continue)
            std::this_thread::yield();
    });
    count_down(1, 100);
    const u32 other = 9;
    stream.fill(*buffer, 4, 4, &other, sizeof other);
    CHECK(seen[1] == 7);
    may_continue = true;
    stream.synchronize();
    CHECK(seen[1] == 9);
}

DEVICE_TEST(streams_overlap_and_wait_for_events) {
    const auto one = device.create_stream(), two = device.create_stream();
    const auto buffer = device.allocate(1 << 20);
    const auto event = device.create_event();
    std::atomic<bool> release = false;
    one->callback([&] {
        while (!release)
            std::this_thread::yield();
    });
    const u8 value = 42;
    one->fill(*buffer, 0, 1 << 20, &value, 1);
    one->record(*event);

    // The other stream proceeds while the first one is blocked ...
    const auto elsewhere = device.allocate(4096), back = device.allocate_host(4096);
    two->fill(*elsewhere, 0, 4096, &value, 1);
    two->copy(*back, 0, *elsewhere, 0, 4096);
    two->synchronize();
    CHECK(static_cast<const u8*>(back->host_pointer())[4095] == value);
    CHECK_FALSE(event->done());

    // ... until it has to wait for the event.
    two->wait(*event);
    const auto host = device.allocate_host(1 << 20);
    two->copy(*host, 0, *buffer, 0, 1 << 20);
    release = true;
    two->synchronize();
    const u8* got = static_cast<const u8*>(host->host_pointer());
    CHECK(std::count(got, got + (1 << 20), value) == 1 << 20);
    one->synchronize();
}

STREAM_TEST(events_measure_device_time) {
    const auto begin = device.create_event(), end = device.create_event();
    CHECK(begin->done());  // never recorded
    CHECK_NOTHROW(begin->synchronize());
    CHECK(throws(ErrorCode::invalid_argument, "never recorded",
                 [&] { (void)end->milliseconds_since(*begin); }));
    const auto buffer = device.allocate(64 << 20);
    const u8 value = 1;
    stream.fill(*buffer, 0, 64 << 20, &value, 1);  // first touch
    stream.record(*begin);
    for (int i = 0; i < 10; ++i)
        stream.fill(*buffer, 0, 64 << 20, &value, 1);
    stream.record(*end);
    const double ms = end->milliseconds_since(*begin);
    CHECK(ms > 0.01);  // 640 MiB in 10 us would be 67 TB/s
    CHECK(ms < 60000);
    CHECK(begin->milliseconds_since(*begin) == 0);
}

STREAM_TEST(synchronize_throws_the_exception_of_a_callback_once) {
    bool later = false;
    stream.callback([] { throw std::runtime_error("from the callback"); });
    stream.callback([&] { later = true; });
    CHECK_THROWS_WITH(stream.synchronize(), "from the callback");
    CHECK(later);
    CHECK_NOTHROW(stream.synchronize());
    CHECK(throws(ErrorCode::invalid_argument, "empty", [&] { stream.callback({}); }));
    CHECK(throws(ErrorCode::invalid_argument, "empty", [&] { stream.callback(nullptr); }));
    CHECK(throws(ErrorCode::invalid_argument, "empty", [&] { stream.callback(std::function<void()>()); }));
    void (*const none)() = nullptr;
    CHECK(throws(ErrorCode::invalid_argument, "empty", [&] { stream.callback(none); }));
}

DEVICE_TEST(destroying_a_stream_waits_for_its_work) {
    std::atomic<bool> ran = false;
    {
        const auto stream = device.create_stream();
        stream->callback([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ran = true;
        });
    }
    CHECK(ran);
}

STREAM_TEST(zeros_belong_to_the_stream) {
    Buffer& zeros = zero_counters(stream);
    CHECK(&zero_counters(stream) == &zeros);
    CHECK(zeros.size() == 256);
    std::vector<u8> got(256, 1);
    stream.read(got.data(), zeros, 0, 256);
    stream.synchronize();
    CHECK(std::count(got.begin(), got.end(), 0) == 256);
    CHECK(&zero_counters(*device.create_stream()) != &zeros);
}

STREAM_TEST(one_stream_may_be_used_by_several_threads) {
    const Array<u32> counter(stream, std::vector<u32>(4));
    std::atomic<int> callbacks = 0;
    {
        std::vector<std::jthread> threads;
        for (u64 t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (u32 i = 0; i < 50; ++i) {
                    stream.fill(*counter.buffer(), 4 * t, 4, &i, 4);
                    stream.callback([&] { ++callbacks; });
                    if (i % 10 == 0) stream.synchronize();
                }
            });
        }
    }
    CHECK(counter.to_host(stream) == std::vector<u32>(4, 49));
    CHECK(callbacks == 200);
}

// Every launch has more groups than earlier ones, which may still run on other streams. Every second stream has a
// separate kernel of the same source.
DEVICE_TEST(streams_run_one_kernel_concurrently_with_different_grids) {
    constexpr u32 streams = 4, launches = 50, most = streams * launches, steps = 20000;
    std::vector<u32> expected(most);
    for (u32 i = 0; i < most; ++i)
        expected[i] = counted_down(i, steps);
    const auto kernel = countdown_kernel(device);
    std::atomic<int> wrong = 0;
    auto run = [&](u32 t) {
        const auto stream = device.create_stream();
        const auto mine = t % 2 == 0 ? kernel : countdown_kernel(device);
        const Array<u32> out(*stream, u64{most} * launches);
        for (u32 i = 0; i < launches; ++i) {
            const u32 groups = streams * i + t + 1;
            launch(*stream, *mine, {.groups_x = groups}, out.span().part(u64{most} * i, groups), steps);
        }
        const auto got = out.to_host(*stream);
        for (u32 i = 0; i < launches; ++i)
            wrong += !std::equal(expected.begin(), expected.begin() + streams * i + t + 1,
                                 got.begin() + i64{most} * i);
    };
    {
        std::vector<std::jthread> threads;
        for (u32 t = 0; t < streams; ++t) {
            threads.emplace_back([&, t] {
                try {
                    run(t);
                } catch (const std::exception&) {
                    ++wrong;
                }
            });
        }
    }
    CHECK(wrong == 0);
}

DEVICE_TEST(a_launch_does_not_wait_for_launches_of_other_streams) {
    const auto one = device.create_stream(), two = device.create_stream();
    const auto kernel = countdown_kernel(device);
    const Array<u32> first(*one, 3), second(*two, 7);
    one->synchronize();
    std::atomic<bool> release = false;
    one->callback([&] {
        while (!release)
            std::this_thread::yield();
    });
    launch(*one, *kernel, {.groups_x = 3}, first, u32{100});
    launch(*two, *kernel, {.groups_x = 7}, second, u32{100});
    CHECK(second.to_host(*two)[6] == counted_down(6, 100));
    CHECK_FALSE(one->idle());
    release = true;
    CHECK(first.to_host(*one)[2] == counted_down(2, 100));
}

TEST_SUITE_END();
