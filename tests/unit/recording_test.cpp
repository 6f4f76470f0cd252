// Work that is recorded once and replayed. Written once, run for every device.
#include "devices.hpp"

#include <algorithm>

using namespace concord;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(u32, next_of_test, (u32 x), return x + 1;)

TEST_SUITE_BEGIN("device");

STREAM_TEST(a_recording_does_nothing_until_it_is_replayed) {
    const u64 n = 10007;
    const Array<u32> x(stream, std::vector<u32>(n, 5)), y(stream, std::vector<u32>(n, 0));
    stream.begin_recording();
    CHECK(stream.is_recording());
    map(stream, x, x, next_of_test);
    stream.copy(*y.buffer(), 0, *x.buffer(), 0, n * sizeof(u32));
    const u32 mark = 77;
    stream.fill(*y.buffer(), 0, 4, &mark, 4);
    const auto recording = stream.end_recording();
    CHECK_FALSE(stream.is_recording());
    CHECK(recording->size() == 3);
    CHECK(&recording->device() == &device);
    CHECK(x.to_host(stream)[n - 1] == 5);
    for (int i = 0; i < 4; ++i)
        recording->replay(stream);
    CHECK(x.to_host(stream) == std::vector<u32>(n, 9));
    const auto got = y.to_host(stream);
    CHECK(got[0] == mark);
    CHECK(std::count(got.begin(), got.end(), 9) == static_cast<i64>(n - 1));
}

STREAM_TEST(a_recording_keeps_its_memory) {
    const u64 n = 300000;
    const auto values = random_values<u32>(n);
    const Array<u32> out(stream, n), sum(stream, 1);
    std::shared_ptr<Recording> recording;
    const Array<u32> in(stream, n);
    {
        const Array<u32> between(stream, n);
        stream.begin_recording();
        map(stream, in, between, next_of_test);
        scan(stream, between, out);  // uses scratch memory and the workspace of the stream
        reduce(stream, between, sum);
        scan(stream, out, out);
        recording = stream.end_recording();
    }
    for (u32 round = 0; round < 3; ++round) {
        // The pool would reuse here what was released above.
        const Array<u32> elsewhere(stream, values), other(stream, n);
        scan(stream, elsewhere, other);
        stream.write(*in.buffer(), 0, values.data(), n * sizeof(u32));
        recording->replay(stream);
        scan(stream, elsewhere, other);
        std::vector<u32> expected(n), once(n);
        u32 total = 0, twice = 0;
        for (u64 i = 0; i < n; ++i) {
            once[i] = total += values[i] + 1;
            expected[i] = twice += once[i];
        }
        CHECK(out.to_host(stream) == expected);
        CHECK(sum.to_host(stream)[0] == total);
    }
}

DEVICE_TEST(replays_on_several_streams_follow_one_another) {
    const auto one = device.create_stream(), two = device.create_stream();
    const u64 n = 100003;
    const Array<u32> x(*one, std::vector<u32>(n, 0)), sum(*one, 1);
    one->begin_recording();
    map(*one, x, x, next_of_test);
    reduce(*one, x, sum);
    const auto recording = one->end_recording();
    for (int i = 0; i < 10; ++i) {
        recording->replay(*one);
        recording->replay(*two);
    }
    one->synchronize();
    two->synchronize();
    CHECK(x.to_host(*one) == std::vector<u32>(n, 20));
    CHECK(sum.to_host(*one)[0] == 20 * n);
}

DEVICE_TEST(a_recording_outlives_its_stream) {
    std::shared_ptr<Recording> recording;
    std::shared_ptr<Buffer> buffer;
    {
        const auto stream = device.create_stream();
        const Array<u32> x(*stream, std::vector<u32>(1000, 1));
        buffer = x.buffer();
        stream->begin_recording();
        map(*stream, x, x, next_of_test);
        recording = stream->end_recording();
        recording->replay(*stream);
    }
    const auto stream = device.create_stream();
    recording->replay(*stream);
    recording.reset();
    std::vector<u32> got(1000);
    stream->read(got.data(), *buffer, 0, 4000);
    stream->synchronize();
    CHECK(got == std::vector<u32>(1000, 3));
}

STREAM_TEST(a_recording_supports_copies_of_host_buffers) {
    const auto from = device.allocate_host(4096), to = device.allocate_host(4096);
    const auto buffer = device.allocate(4096);
    stream.begin_recording();
    stream.copy(*buffer, 16, *from, 8, 4000);
    stream.copy(*to, 0, *buffer, 16, 4000);
    const auto recording = stream.end_recording();
    for (const int value : {1, 2}) {
        std::memset(from->host_pointer(), value, 4096);
        recording->replay(stream);
        stream.synchronize();
        const u8* got = static_cast<const u8*>(to->host_pointer());
        CHECK(std::count(got, got + 4000, value) == 4000);
    }
}

STREAM_TEST(unsupported_operations_in_a_recording_throw) {
    const Array<u32> x(stream, std::vector<u32>(100, 1));
    CHECK(throws(ErrorCode::invalid_argument, "not recording", [&] { (void)stream.end_recording(); }));
    stream.begin_recording();
    CHECK(throws(ErrorCode::invalid_argument, "already", [&] { stream.begin_recording(); }));
    u32 host = 0;
    const auto event = device.create_event();
    CHECK(throws(ErrorCode::unsupported, "recording", [&] { stream.write(*x.buffer(), 0, &host, 4); }));
    CHECK(throws(ErrorCode::unsupported, "recording", [&] { stream.read(&host, *x.buffer(), 0, 4); }));
    CHECK(throws(ErrorCode::unsupported, "recording", [&] { stream.callback([] {}); }));
    CHECK(throws(ErrorCode::unsupported, "recording", [&] { stream.record(*event); }));
    CHECK(throws(ErrorCode::unsupported, "recording", [&] { stream.wait(*event); }));
    CHECK(throws(ErrorCode::invalid_argument, "exceeds the buffer",
                 [&] { stream.fill(*x.buffer(), 0, 404, &host, 4); }));
    CHECK_NOTHROW(stream.synchronize());
    const auto empty = stream.end_recording();
    CHECK(empty->size() == 0);
    CHECK_NOTHROW(empty->replay(stream));
    stream.begin_recording();
    CHECK(throws(ErrorCode::unsupported, "recording", [&] { empty->replay(stream); }));
    (void)stream.end_recording();
    if (device.info().backend != "tbb") {
        const auto elsewhere = open_device("tbb")->create_stream();
        CHECK(throws(ErrorCode::wrong_device, "tbb", [&] { empty->replay(*elsewhere); }));
    }
    CHECK(x.to_host(stream) == std::vector<u32>(100, 1));
}

STREAM_TEST(an_observer_sees_replayed_launches) {
    const Array<u32> x(stream, std::vector<u32>(1000, 1));
    stream.begin_recording();
    map(stream, x, x, next_of_test);
    const auto recording = stream.end_recording();
    int launches = 0;
    observe_launches(stream, [&](const Kernel&, const LaunchShape&) { ++launches; });
    recording->replay(stream);
    recording->replay(stream);
    observe_launches(stream, {});
    stream.synchronize();
    CHECK(launches == 2);
}

TEST_SUITE_END();
