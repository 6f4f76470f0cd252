// Calls that a program must not make give errors, on every device: ranges without buffers, null pointers, and any call
// in a child of fork().
#include "devices.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(arrays_are_copied_by_clone_and_listed_values_are_values) {
    static_assert(!std::is_copy_constructible_v<Array<f32>> && !std::is_copy_assignable_v<Array<f32>>);
    const auto stream = device.create_stream();
    const Array<i32> seven(*stream, 7), one(*stream, {7}), two(*stream, {7, 8});
    CHECK(seven.size() == 7);
    CHECK(one.to_host(*stream) == std::vector<i32>{7});
    CHECK(two.to_host(*stream) == std::vector<i32>{7, 8});
    const Array<i32> copy = two.clone(*stream);
    map(*stream, two, two, MapFunction::negate);
    CHECK(copy.to_host(*stream) == std::vector<i32>{7, 8});
    CHECK(two.to_host(*stream) == std::vector<i32>{-7, -8});
    CHECK(Array<i32>().clone(*stream).size() == 0);
}

// Whether a call takes an output of this type.
// clang-format off
template <class Out>
concept map_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { map(s, in, out, MapFunction::copy); };
template <class Out>
concept add_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { add(s, in, in, out); };
template <class Out>
concept reduce_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { reduce(s, in, out); };
template <class Out>
concept scan_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { scan(s, in, out); };
template <class Out>
concept sort_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { sort(s, in, out); };
template <class Out>
concept compact_takes = requires(Stream& s, const Out& out, const Array<f32>& in, const Array<u64>& count) { compact(s, in, out, count, KeepRule::nonzero); };
template <class Out>
concept transpose_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { transpose(s, Matrix(in, 1, 1), Matrix(out, 1, 1)); };
template <class Out>
concept matmul_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { matmul(s, Matrix(in, 1, 1), Matrix(in, 1, 1), Matrix(out, 1, 1)); };
template <class Out>
concept convolve_takes = requires(Stream& s, const Out& out, const Array<f32>& in) { convolve(s, Matrix(in, 1, 1), ConvolveMask(), Matrix(out, 1, 1)); };
template <class Out>
concept stencil_takes = requires(Stream& s, const Out& out, const Array<f32>& in, const StarCoefficients& star) { stencil(s, Volume(in, 1, 1, 1), star, Volume(out, 1, 1, 1)); };
// clang-format on
template <class Out>
constexpr int calls_that_take =
    map_takes<Out> + add_takes<Out> + reduce_takes<Out> + scan_takes<Out> + sort_takes<Out> +
    compact_takes<Out> + transpose_takes<Out> + matmul_takes<Out> + convolve_takes<Out> + stencil_takes<Out>;
static_assert(calls_that_take<Array<f32>> == 10 && calls_that_take<Span<f32>> == 10);
static_assert(calls_that_take<Span<const f32>> == 0);

// Spans and arrays do not compile: tests/meta/refused_calls.cpp.
STREAM_TEST(views_of_mixed_element_types_are_refused) {
    const Array<f32> floats(stream, 16);
    const Array<f64> doubles(stream, 16), element(stream, 1);
    const Array<u64> counts(stream, 1);
    const View in = floats.view(), out = doubles.view(), one = element.view(), count = counts.view();
    const auto refused = [&](const std::string& call, const auto& f) {
        CAPTURE(call);
        CHECK(throws(ErrorCode::invalid_argument, call + ": ", f));
    };
    refused("map", [&] { map(stream, in, out, MapFunction::copy); });
    refused("add", [&] { add(stream, in, in, out); });
    refused("reduce", [&] { reduce(stream, in, one); });
    refused("scan", [&] { scan(stream, in, out); });
    refused("sort", [&] { sort(stream, in, out); });
    refused("compact", [&] { compact(stream, in, out, count, KeepRule::nonzero); });
}

STREAM_TEST(arrays_that_were_moved_from_give_errors) {
    Array<f32> first(stream, std::vector<f32>{1, 2, 3});
    const Array<f32> second = std::move(first);
    const Array<f32>& moved = first;  // NOLINT(bugprone-use-after-move)
    const std::string_view words = "range without a buffer; it was moved from or never allocated";
    CHECK(throws(ErrorCode::invalid_argument, words, [&] { (void)moved.to_host(stream); }));
    CHECK(throws(ErrorCode::invalid_argument, words, [&] { (void)moved.view().device(); }));
    CHECK(throws(ErrorCode::invalid_argument, words, [&] { (void)moved.span(); }));
    CHECK(throws(ErrorCode::invalid_argument, words, [&] { map(stream, moved, second, MapFunction::copy); }));
    CHECK(second.to_host(stream) == std::vector<f32>{1, 2, 3});
    CHECK(Array<f32>().to_host(stream).empty());
}

STREAM_TEST(futures_that_were_moved_from_give_errors) {
    const Array<f32> x(stream, std::vector<f32>{1, 2, 3});
    Future<f32> first = sum(stream, x);
    const Future<f32> second = std::move(first);
    // NOLINTBEGIN(bugprone-use-after-move)
    CHECK(throws(ErrorCode::invalid_argument, "Future::get: the value was moved to another future",
                 [&] { (void)first.get(); }));
    CHECK(throws(ErrorCode::invalid_argument, "Future::ready: the value was moved to another future",
                 [&] { (void)first.ready(); }));
    // NOLINTEND(bugprone-use-after-move)
    CHECK(second.get() == 6);
    first = sum(stream, x);
    CHECK(first.get() == 6);
}

STREAM_TEST(futures_need_an_element) {
    const Array<f32> none(stream, 0), some(stream, std::vector<f32>{5, 6});
    for (const Span<const f32>& empty :
         {Span<const f32>(), Span<const f32>(none), Span<const f32>(some).part(2, 0)})
        CHECK(
            throws(ErrorCode::invalid_argument, "Future: empty range", [&] { Future<f32>(stream, empty); }));
    CHECK(Future<f32>(stream, some).get() == 5);
}

STREAM_TEST(null_host_pointers_give_errors) {
    const auto buffer = device.allocate(64);
    const auto refused = [](const char* call, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, std::string(call) + ": null host pointer", f));
    };
    refused("Stream::write", [&] { stream.write(*buffer, 0, nullptr, 64); });
    refused("Stream::read", [&] { stream.read(nullptr, *buffer, 0, 64); });
    refused("Stream::fill", [&] { stream.fill(*buffer, 0, 64, nullptr, 4); });
    refused("Stream::write",
            [&] { Array<f32>(stream, std::span<const f32>(static_cast<f32*>(nullptr), 3)); });
    refused("HostSource", [] { HostSource(nullptr, 3, Type::f32); });
    refused("HostSink", [] { HostSink(nullptr, 3, Type::f32); });
    // Without bytes there is nothing to point to.
    CHECK_NOTHROW(stream.write(*buffer, 0, nullptr, 0));
    CHECK_NOTHROW(stream.read(nullptr, *buffer, 0, 0));
    CHECK_NOTHROW(HostSource(nullptr, 0, Type::f32));
    CHECK_NOTHROW(stream.synchronize());
}

namespace {

// What the child of the test below does. Returns the number of the first call that is not an error.
int first_usable_call(Device& device, std::shared_ptr<Stream> stream, std::shared_ptr<Event> event,
                      const Array<f32>& array, Future<f32>& future) {
    const auto refused = [](auto f) {
        try {
            f();
        } catch (const Error& error) {
            return error.code() == ErrorCode::unavailable &&
                   std::string_view(error.what()).find("child of fork()") != std::string_view::npos;
        }
        return false;
    };
    f32 value = 0;
    const bool all[] = {refused([&] { (void)array.to_host(*stream); }),
                        refused([&] { stream->synchronize(); }),
                        refused([&] { (void)stream->idle(); }),
                        refused([&] { stream->write(*array.buffer(), 0, &value, 4); }),
                        refused([&] { stream->fill(*array.buffer(), 0, 4, &value, 4); }),
                        refused([&] { map(*stream, array, array, MapFunction::negate); }),
                        refused([&] { (void)sum(*stream, array); }),
                        refused([&] { stream->record(*event); }),
                        refused([&] { event->synchronize(); }),
                        refused([&] { (void)event->done(); }),
                        refused([&] { (void)future.get(); }),
                        refused([&] { (void)device.allocate(4); }),
                        refused([&] { (void)device.create_stream(); }),
                        refused([] { (void)open_device("tbb"); }),
                        refused([] { (void)backends(); })};
    for (int i = 0; const bool right : all) {
        ++i;
        if (!right) return i;
    }
    event.reset();
    stream.reset();  // must not wait for threads that do not exist
    return 0;
}

}  // namespace

DEVICE_TEST(calls_in_a_child_of_fork_give_errors) {
    auto stream = device.create_stream();
    auto event = device.create_event();
    const Array<f32> array(*stream, test::random_values<f32>(1 << 20));
    stream->record(*event);
    Future<f32> future = sum(*stream, array);
    const f32 total = future.get();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(first_usable_call(device, std::move(stream), std::move(event), array, future));
    int status = -1;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (waitpid(child, &status, WNOHANG) == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (status == -1) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        FAIL("the child hangs");
    }
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    // The parent's devices still work.
    CHECK(sum(*stream, array).get() == total);
}

TEST_SUITE_END();
