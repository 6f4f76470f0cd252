// Interruption of calls (detail::Interruptible) and cancelled work (backend::Queue::cancel).
#include "devices.hpp"

#include <concord/detail/host_vector.hpp>
#include <concord/detail/interruption.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace concord;
using test::throws;

namespace {

struct Interrupted {};
std::atomic<u32> checked = 0, checks_before_interruption = 0;

void check_interruption() {
    if (++checked > checks_before_interruption) throw Interrupted{};
}

// Work of a stream that lasts until it is released.
class Obstacle {
  public:
    explicit Obstacle(Stream& stream) {
        stream.callback([released = released_] {
            while (!*released)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    }
    ~Obstacle() { release(); }
    Obstacle(const Obstacle&) = delete;
    Obstacle& operator=(const Obstacle&) = delete;
    void release() { *released_ = true; }

  private:
    const std::shared_ptr<std::atomic<bool>> released_ = std::make_shared<std::atomic<bool>>(false);
};

constexpr u64 groups = 2000;
std::atomic<u64> started = 0;
std::atomic<bool> waits = false;

// Each group takes a millisecond; the first one waits for another group that never comes if `waits`.
void slow_group(const Group& group, u32* out) {
    ++started;
    while (waits && group.x == 0)
        detail::host::yield(group);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    out[group.x] = 1;
}

std::shared_ptr<Kernel> slow_kernel(Device& device) {
    KernelSpec spec;
    spec.entry = "slow_group";
    spec.host = plain_host_kernel<&slow_group>();
    return device.compile(spec);
}

// Starts the kernel on the stream's own thread, not in the call.
void start_slow_kernel(Stream& stream, const Kernel& kernel, const Array<u32>& out) {
    started = 0;
    Obstacle obstacle(stream);
    launch(stream, kernel, LaunchShape::linear(groups, 1), out);
}

void wait_until_started() {
    while (started == 0)
        std::this_thread::yield();
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("calls that wait end with the exception of the check, and the work continues") {
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    const auto event = device->create_event();
    const Array<u32> out(*stream, std::vector<u32>{0});
    const u32 seven = 7;
    stream->synchronize();
    for (const bool of_event : {false, true}) {
        CAPTURE(of_event);
        Obstacle obstacle(*stream);
        stream->fill(*out.buffer(), 0, 4, &seven, 4);
        stream->record(*event);
        checked = 0;
        checks_before_interruption = 2;
        {
            const detail::Interruptible interruptible(&check_interruption);
            if (of_event)
                CHECK_THROWS_AS(event->synchronize(), Interrupted);
            else
                CHECK_THROWS_AS(stream->synchronize(), Interrupted);
        }
        CHECK(checked == 3);
        CHECK(!event->done());
        obstacle.release();
        stream->synchronize();
        CHECK(event->done());
        CHECK(out.to_host(*stream).at(0) == 7);
        CHECK(checked == 3);
    }
}

TEST_CASE("short calls, other threads and calls in an inner scope without a check are not interrupted") {
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    checked = checks_before_interruption = 0;
    const detail::Interruptible interruptible(&check_interruption);
    stream->synchronize();
    const auto wait_200_ms = [&] {
        Obstacle obstacle(*stream);
        std::thread releases([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            obstacle.release();
        });
        stream->synchronize();
        releases.join();
    };
    std::thread(wait_200_ms).join();
    {
        const detail::Interruptible off(nullptr);
        wait_200_ms();
    }
    CHECK(checked == 0);
    Obstacle obstacle(*stream);
    CHECK_THROWS_AS(stream->synchronize(), Interrupted);  // again in the outer scope
    CHECK(checked == 1);
}

TEST_CASE("a cancelled kernel stops between two groups, and the stream works again") {
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    const auto kernel = slow_kernel(*device);
    const Array<u32> out(*stream, groups), after(*stream, std::vector<u32>{1});
    stream->synchronize();
    for (const bool first_group_waits : {false, true}) {
        CAPTURE(first_group_waits);
        waits = first_group_waits;
        start_slow_kernel(*stream, *kernel, out);
        const u32 two = 2;
        stream->fill(*after.buffer(), 0, 4, &two, 4);
        wait_until_started();
        detail::cancel(*stream);
        CHECK(throws(ErrorCode::device_failed, "cancelled", [&] { stream->synchronize(); }));
        CHECK(started > 0);
        CHECK(started < groups);
        CHECK(after.to_host(*stream).at(0) == 1);  // queued work is skipped
        waits = false;
        stream->fill(*after.buffer(), 0, 4, &two, 4);
        CHECK(after.to_host(*stream).at(0) == 2);
        const u32 one = 1;
        stream->fill(*after.buffer(), 0, 4, &one, 4);
        stream->synchronize();
    }
}

TEST_CASE("cancelling an idle stream has no effect") {
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    detail::cancel(*stream);
    CHECK_NOTHROW(stream->synchronize());
    const Array<u32> x(*stream, std::vector<u32>{3});
    stream->synchronize();
    detail::cancel(*stream);
    CHECK(x.to_host(*stream).at(0) == 3);
}

TEST_CASE("callbacks run after cancelled work") {
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    const auto kernel = slow_kernel(*device);
    const Array<u32> out(*stream, groups);
    stream->synchronize();
    start_slow_kernel(*stream, *kernel, out);
    bool called = false;
    stream->callback([&] { called = true; });
    wait_until_started();
    detail::cancel(*stream);
    CHECK(throws(ErrorCode::device_failed, "cancelled", [&] { stream->synchronize(); }));
    CHECK(called);
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("device");

// Backends that cannot stop work run all of it.
STREAM_TEST(cancel_leaves_a_stream_that_works) {
    const Array<f32> x(stream, std::vector<f32>(100000, 1.0F)), sum(stream, 1);
    for (int i = 0; i < 3; ++i) {
        reduce(stream, x, sum);
        detail::cancel(stream);
        try {
            stream.synchronize();
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::device_failed);
            CHECK(std::string(error.what()).find("cancelled") != std::string::npos);
        }
        reduce(stream, x, sum);
        CHECK(sum.to_host(stream).at(0) == 100000);
    }
}

TEST_SUITE_END();
