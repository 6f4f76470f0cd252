// Failed operations: after each, the same stream, event and device give right results. Written once, run for every
// device.
#include "pipeline_data.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace concord;
using test::Away;
using test::Pile;
using test::throws;

namespace {

// Throws for one value. Only the CPU runs it: no other language has this function.
template <class T>
T refuse(T x) {
    if (x == 77) throw std::runtime_error("refused 77");
    return x;
}

}  // namespace

CONCORD_FUNCTION(u32, failing_function, (u32 x), return refuse(x) + 1;)
CONCORD_FUNCTION(u32, failing_sum, (u32 x, u32 y), return refuse(x) + refuse(y);)
CONCORD_FUNCTION(i32, failing_keep, (u32 x), return refuse(x) % 2 == 0 ? 1 : 0;)
CONCORD_FUNCTION(u32, failing_bin, (u32 x), return refuse(x) % 16;)
CONCORD_FUNCTION(i32, small_keep, (u32 x), return x < 1000 ? 1 : 0;)
CONCORD_FUNCTION(u32, plain_sum, (u32 x, u32 y), return x + y;)

namespace {

// Enough for several groups per launch in every algorithm.
constexpr u64 many = u64{1} << 20;

// Ones, or ones and a single value that the functions above refuse.
std::vector<u32> ones(bool with_refused) {
    std::vector<u32> values(many, 1);
    if (with_refused) values[many / 2 + 5] = 77;
    return values;
}

// A stream, an event and data that outlive failures.
class Survivor {
  public:
    explicit Survivor(Device& device)
        : device_(device),
          stream_(device.create_stream()),
          event_(device.create_event()),
          ones_(*stream_, ones(false)),
          out_(*stream_, many),
          kept_(*stream_, many) {}

    Device& device() { return device_; }
    Stream& stream() { return *stream_; }
    Event& event() { return *event_; }

    // Checks results of the algorithms whose groups communicate, and the event.
    void check() {
        CHECK_NOTHROW(stream_->synchronize());
        CHECK(stream_->idle());
        const Array<u32> sum(*stream_, 1);
        const Array<u64> count(*stream_, 1);
        reduce(*stream_, ones_, sum);
        CHECK(sum.to_host(*stream_)[0] == many);
        reduce(*stream_, ones_, sum, plain_sum, 0U);
        CHECK(sum.to_host(*stream_)[0] == many);
        scan(*stream_, ones_, out_);
        const auto scanned = out_.to_host(*stream_);
        u64 wrong = 0;
        for (u64 i = 0; i < many; ++i)
            wrong += scanned[i] != i + 1;
        CHECK(wrong == 0);
        compact(*stream_, out_, kept_, count, small_keep);
        CHECK(count.to_host(*stream_)[0] == 999);
        stream_->record(*event_);
        event_->synchronize();
        CHECK(event_->done());
        const auto kept = kept_.to_host(*stream_);
        CHECK(kept[0] == 1);
        CHECK(kept[998] == 999);
        CHECK_NOTHROW(stream_->synchronize());
    }

  private:
    Device& device_;
    std::shared_ptr<Stream> stream_;
    std::shared_ptr<Event> event_;
    Array<u32> ones_, out_, kept_;
};

// A source and a sink that throw something other than Concord's errors.
class FailingSource final : public PipelineSource {
  public:
    FailingSource() : PipelineSource(Type::u32, many) {}
    void read(void* to, u64 first, u64 bytes) const override {
        if (first >= many * 2) throw 5;
        std::memset(to, 0, bytes);
    }
};
class FailingSink final : public PipelineSink {
  public:
    FailingSink() : PipelineSink(Type::u32, many) {}
    void write(const void* /*from*/, u64 /*bytes*/) override {
        if (++writes_ == 3) throw std::runtime_error("no third segment");
    }

  private:
    u32 writes_ = 0;
};

const PipelineOptions short_segments{.segment = u64{256} << 10, .depth = 3};

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(after_a_callback_that_throws_results_are_right) {
    Survivor survivor(device);
    survivor.stream().callback([] { throw std::runtime_error("from the callback"); });
    survivor.stream().record(survivor.event());
    survivor.event().synchronize();
    CHECK_THROWS_WITH(survivor.stream().synchronize(), "from the callback");
    survivor.check();
    survivor.stream().callback([] { throw 5; });
    CHECK_THROWS_AS(survivor.stream().synchronize(), int);
    survivor.check();
}

DEVICE_TEST(after_an_impossible_allocation_results_are_right) {
    Survivor survivor(device);
    for (const u64 bytes : {u64{1} << 55, ~u64{0} - 5}) {
        CHECK(throws(ErrorCode::out_of_memory, "bytes", [&] { (void)survivor.stream().scratch(bytes); }));
        CHECK(throws(ErrorCode::out_of_memory, "bytes", [&] { (void)device.allocate_host(bytes); }));
        CHECK(throws(ErrorCode::out_of_memory, "bytes",
                     [&] { (void)workspace(survivor.stream(), bytes / 2); }));
    }
    survivor.check();
}

DEVICE_TEST(after_a_kernel_that_does_not_compile_results_are_right) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    Survivor survivor(device);
    const Array<u32> in(survivor.stream(), std::vector<u32>(many, 1)), out(survivor.stream(), many);
    const Array<u64> count(survivor.stream(), 1);
    for (int round = 0; round < 2; ++round) {
        Stream& stream = survivor.stream();
        const auto wrong = ErrorCode::compile_failed;
        CHECK(throws(wrong, "refuse", [&] { map(stream, in, out, failing_function); }));
        CHECK(throws(wrong, "refuse", [&] { reduce(stream, in, out.span().part(0, 1), failing_sum, 0U); }));
        CHECK(throws(wrong, "refuse", [&] { scan(stream, in, out, failing_sum, 0U); }));
        CHECK(throws(wrong, "refuse", [&] { compact(stream, in, out, count, failing_keep); }));
        survivor.check();
    }
}

DEVICE_TEST(after_a_launch_that_is_refused_results_are_right) {
    Survivor survivor(device);
    const auto buffer = device.allocate(64);
    const u8 zero = 0;
    CHECK(throws(ErrorCode::invalid_argument, "", [&] { survivor.stream().fill(*buffer, 60, 8, &zero, 1); }));
    CHECK(
        throws(ErrorCode::invalid_argument, "", [&] { survivor.stream().copy(*buffer, 0, *buffer, 1, 60); }));
    survivor.check();
}

// Every variant whose host kernels are compiled for functions of the user.
DEVICE_TEST(after_a_function_that_throws_results_are_right) {
    REQUIRES(device.traits().dialect == Dialect::host, test::needs::host_kernels);  // which can throw
    Survivor survivor(device);
    Stream& stream = survivor.stream();
    const Array<u32> in(stream, ones(true)), out(stream, many), bins(stream, 16);
    const Array<u64> count(stream, 1);
    const auto fails = [&](auto&& call) {
        call();
        // An event after the failure, and work that the failure makes pointless, must not hang.
        stream.record(survivor.event());
        const Array<u32> sum(stream, 1);
        reduce(stream, in, sum);
        survivor.event().synchronize();
        CHECK_THROWS_WITH(stream.synchronize(), "refused 77");
        survivor.check();
    };
    fails([&] { map(stream, in, out, failing_function); });
    for (const char* variant : {"fixed", "serial"}) {
        CAPTURE(variant);
        fails([&] { reduce(stream, in, out.span().part(0, 1), failing_sum, 0U, {.variant = variant}); });
    }
    for (const char* variant : {"partitioned", "serial"}) {
        CAPTURE(variant);
        fails([&] { scan(stream, in, out, failing_sum, 0U, ScanKind::inclusive, {.variant = variant}); });
    }
    for (const char* variant : {"two_pass", "fused", "serial"}) {
        CAPTURE(variant);
        fails([&] { compact(stream, in, out, count, failing_keep, {.variant = variant}); });
        if (std::string_view(variant) != "serial")
            fails([&] { partition(stream, in, out, count, failing_keep, {.variant = variant}); });
    }
    fails([&] { histogram(stream, in, bins, failing_bin); });
}

DEVICE_TEST(after_a_failed_kernel_the_stream_skips_work_until_it_is_synchronized) {
    REQUIRES(device.traits().dialect == Dialect::host, test::needs::host_kernels);
    const auto stream = device.create_stream();
    const Array<u32> in(*stream, ones(true)), out(*stream, many);
    const u32 before = 5, after = 6;
    stream->fill(*out.buffer(), 0, out.view().bytes(), &before, sizeof before);
    stream->synchronize();
    map(*stream, in, out.span().part(0, many), failing_function);
    stream->fill(*out.buffer(), 0, 4, &after, sizeof after);
    bool called = false;
    stream->callback([&] { called = true; });
    CHECK_THROWS_WITH(stream->synchronize(), "refused 77");
    CHECK(called);
    CHECK(out.to_host(*stream)[0] != after);
    stream->fill(*out.buffer(), 0, 4, &after, sizeof after);
    CHECK(out.to_host(*stream)[0] == after);
}

DEVICE_TEST(a_stream_that_waits_for_failed_work_fails_too) {
    REQUIRES(device.traits().dialect == Dialect::host, test::needs::host_kernels);
    Survivor one(device), two(device);
    const Array<u32> in(one.stream(), ones(true)), out(one.stream(), many);
    const u32 after = 6;
    map(one.stream(), in, out, failing_function);
    one.stream().record(one.event());
    two.stream().wait(one.event());
    two.stream().fill(*out.buffer(), 0, 4, &after, sizeof after);
    CHECK_THROWS_WITH(two.stream().synchronize(), "refused 77");
    CHECK_THROWS_WITH(one.stream().synchronize(), "refused 77");
    CHECK(out.to_host(one.stream())[0] != after);
    one.check();
    two.check();
}

// On the CPU, short work runs in the call once the work before it has ended, which may have failed meanwhile.
DEVICE_TEST(short_work_behind_a_failure_is_skipped) {
    REQUIRES(device.traits().dialect == Dialect::host, test::needs::host_kernels);  // which can throw
    const auto stream = device.create_stream(), other = device.create_stream();
    const auto event = device.create_event();
    constexpr u64 few = 64;
    std::vector<u32> refused(few, 1);
    refused[few / 2] = 77;
    const Array<u32> good(*stream, std::vector<u32>(few, 1)), bad(*stream, refused), out(*stream, few),
        target(*stream, 1);
    const u32 before = 7, after = 9;
    for (u32 round = 0; round < 200; ++round) {
        stream->fill(*target.buffer(), 0, 4, &before, 4);
        for (int i = 0; i < 2; ++i)
            map(*stream, good, out, failing_function);
        stream->synchronize();
        std::atomic<bool> may_continue = false;
        stream->callback([&] {
            while (!may_continue)
                std::this_thread::yield();
        });
        map(*stream, bad, out, failing_function);
        may_continue = true;
        std::this_thread::sleep_for(std::chrono::microseconds(round % 20));
        stream->fill(*target.buffer(), 0, 4, &after, 4);
        stream->record(*event);
        other->wait(*event);
        CHECK_THROWS_WITH(stream->synchronize(), "refused 77");
        CHECK_THROWS(other->synchronize());
        CHECK(target.to_host(*stream)[0] == before);
    }
}

DEVICE_TEST(after_a_source_or_a_sink_that_throws_results_are_right) {
    Survivor survivor(device);
    const auto sums = [&](const PipelineSource& in, PipelineSink& out) {
        pipeline_scan(device, in, out, ReduceOp::sum, ScanKind::inclusive, short_segments);
    };
    Pile<u32> pile(many), sum(1), kept(many);
    for (const u64 fails_from : {u64{0}, many / 2}) {
        Away<u32> gone(ones(false)), gone_again(ones(false));
        gone.fails_from = gone_again.fails_from = fails_from;
        CHECK(throws(ErrorCode::io, "gone", [&] { sums(gone, pile); }));
        survivor.check();
        CHECK(throws(ErrorCode::io, "gone",
                     [&] { pipeline_reduce(device, gone_again, sum, ReduceOp::sum, short_segments); }));
        survivor.check();
    }
    CHECK_THROWS_AS(sums(FailingSource(), pile), int);
    survivor.check();
    const Away<u32> there(ones(false));
    FailingSink third;
    CHECK_THROWS_WITH(sums(there, third), "no third segment");
    survivor.check();
    PipelineOptions options = short_segments;
    options.progress = [](u64 /*done*/, u64 /*all*/) { throw std::runtime_error("no progress"); };
    CHECK_THROWS_WITH(pipeline_compact(device, Away<u32>(ones(false)), kept, KeepRule::odd, options),
                      "no progress");
    survivor.check();
    Pile<u32> all(1);
    pipeline_reduce(device, Away<u32>(ones(false)), all, ReduceOp::sum, short_segments);
    CHECK(all.values == std::vector<u32>{many});
}

DEVICE_TEST(after_a_function_that_throws_in_a_pipeline_results_are_right) {
    REQUIRES(device.traits().dialect == Dialect::host, test::needs::host_kernels);
    Survivor survivor(device);
    const auto fails = [&](auto&& call) {
        CHECK_THROWS_WITH(call(), "refused 77");
        survivor.check();
    };
    fails([&] {
        Pile<u32> out(many);
        pipeline_map(device, Away<u32>(ones(true)), out, failing_function, short_segments);
    });
    fails([&] {
        Pile<u32> out(1);
        pipeline_reduce(device, Away<u32>(ones(true)), out, failing_sum, 0U, short_segments);
    });
    fails([&] {
        Pile<u32> out(many);
        pipeline_scan(device, Away<u32>(ones(true)), out, failing_sum, 0U, ScanKind::inclusive,
                      short_segments);
    });
    fails([&] {
        Pile<u32> out(many);
        pipeline_compact(device, Away<u32>(ones(true)), out, failing_keep, short_segments);
    });
    fails([&] {
        Pile<u64> counters(16);
        pipeline_histogram(device, Away<u32>(ones(true)), counters, failing_bin, short_segments);
    });
}

TEST_SUITE_END();
