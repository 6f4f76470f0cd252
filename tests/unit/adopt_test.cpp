// Memory, queues, events and contexts of other owners: no copies, ordering, what is read-only, and when memory is
// released.
#include "devices.hpp"
#include "spin.hpp"

#include <concord/dlpack.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <iterator>
#include <numeric>
#include <thread>

#include <dlfcn.h>
#include <sys/mman.h>
#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#define CONCORD_TEST_OPENCL 1
#endif
#if __has_include(<cuda.h>)
#include <cuda.h>
#define CONCORD_TEST_CUDA 1
#endif

using namespace concord;
using test::is_simulated;
using test::random_values;
using test::throws;

namespace {

// Whether the device uses host memory in place.
bool shares_host_memory(const Device& device) {
    return device.traits().shares_host_memory;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(host_memory_is_borrowed_in_place) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    const u64 in_use = device.memory_use().in_use;
    // Every alignment of elements within a base.
    for (u64 first = 0; first < 70; ++first) {
        CAPTURE(first);
        std::vector<i32> own = random_values<i32>(1000);
        std::vector<i32> expected = own;
        std::sort(expected.begin() + static_cast<i64>(first), expected.end() - 3);
        const std::span<i32> part = std::span(own).subspan(first, 1000 - first - 3);
        const auto borrowed = Array<i32>::borrow(device, part);
        CHECK(borrowed.size() == part.size());
        CHECK(static_cast<std::byte*>(borrowed.buffer()->host_pointer()) + borrowed.buffer()->begin() ==
              static_cast<void*>(part.data()));
        sort(*stream, borrowed, borrowed);
        stream->synchronize();
        CHECK(own == expected);
        CHECK(borrowed.to_host(*stream) == std::vector<i32>(part.begin(), part.end()));
        CHECK(borrowed.clone(*stream).to_host(*stream) == std::vector<i32>(part.begin(), part.end()));
        CHECK(sum(*stream, borrowed.span().part(1, 5)).get() ==
              std::accumulate(part.begin() + 1, part.begin() + 6, 0));
    }
    CHECK(device.memory_use().in_use <= in_use + (u64{1} << 20));  // scratch of the calls only
    CHECK(Array<i32>::borrow(device, std::span<i32>()).size() == 0);
}

DEVICE_TEST(memory_that_is_adopted_twice_is_not_input_and_output) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    std::vector<f32> own = random_values<f32>(1000);
    const auto a = Array<f32>::borrow(device, std::span(own));
    const auto b = Array<f32>::borrow(device, std::span(own).first(500));
    const auto c = Array<f32>::borrow(device, std::span(own).last(500));
    CHECK(throws(ErrorCode::invalid_argument, "adopted twice",
                 [&] { sort(*stream, a, Array<f32>::borrow(device, std::span(own))); }));
    CHECK(throws(ErrorCode::invalid_argument, "adopted twice", [&] { overlap(a.view(), c.view()); }));
    CHECK_FALSE(overlap(b.view(), c.view()));
    map(*stream, b, c, MapFunction::negate);
    stream->synchronize();
    CHECK(own[500] == -own[0]);
}

DEVICE_TEST(borrowed_matrices_keep_their_pitch) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    const std::vector<f32> x = random_values<f32>(30 * 41 + 5);
    std::vector<f32> y(20 * 30, 0);
    const auto in = Array<f32>::borrow(device, std::span(x).subspan(5));
    const auto out = Array<f32>::borrow(device, std::span(y));
    transpose(*stream, Matrix(in, 30, 20, 41), Matrix(out, 20, 30));
    stream->synchronize();
    for (u64 r = 0; r < 30; ++r) {
        for (u64 c = 0; c < 20; ++c)
            REQUIRE(y[c * 30 + r] == x[5 + r * 41 + c]);
    }
}

DEVICE_TEST(read_only_memory_is_not_written) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    const std::vector<u32> own(100, 7);
    const auto in = Array<u32>::borrow(device, std::span<const u32>(own));
    const Array<u32> out(*stream, 100), one(*stream, 1);
    const Array<u64> count(*stream, 1);
    CHECK(in.buffer()->read_only());
    CHECK(sum(*stream, in).get() == 700);
    CHECK(sort(*stream, in).to_host(*stream) == own);
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("map: out is read-only memory", [&] { map(*stream, out, in, MapFunction::copy); });
    refused("sort: out is read-only memory", [&] { sort(*stream, in, in); });
    refused("scan: out is read-only memory", [&] { scan(*stream, out, in); });
    refused("reduce: out is read-only memory", [&] { reduce(*stream, out, in.span().part(0, 1)); });
    refused("histogram: counters is read-only memory",
            [&] { histogram(*stream, out, in, HistogramBins::modulo()); });
    refused("compact: out is read-only memory", [&] { compact(*stream, out, in, count, KeepRule::odd); });
    refused("transpose: out is read-only memory",
            [&] { transpose(*stream, Matrix(out, 10, 10), Matrix(in, 10, 10)); });
    refused("Stream::fill: read-only memory", [&] {
        const u8 zero = 0;
        stream->fill(*in.buffer(), in.view().offset, 4, &zero, 1);
    });
    refused("Stream::write: read-only memory",
            [&] { stream->write(*in.buffer(), in.view().offset, own.data(), 4); });
    refused("Stream::copy: read-only memory",
            [&] { stream->copy(*in.buffer(), in.view().offset, *out.buffer(), 0, 4); });
    CHECK(own == std::vector<u32>(100, 7));
}

DEVICE_TEST(adopted_memory_is_released_once_and_after_its_work) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    const auto own = std::make_shared<std::vector<u32>>(1 << 20, 3);
    int released = 0;
    u32 last = 0;
    {
        const Array<u32> adopted(device.adopt_host({.handle = own->data(),
                                                    .bytes = own->size() * sizeof(u32),
                                                    .release =
                                                        [&] {
                                                            ++released;
                                                            last = own->back();
                                                        }}),
                                 own->size());
        add(*stream, adopted, adopted, adopted);
        add(*stream, adopted, adopted, adopted);
        CHECK(released == 0);
    }
    CHECK(released == 1);
    CHECK(last == 12);
}

// The stream is never empty while the memory is dropped.
DEVICE_TEST(adopted_memory_is_released_while_another_thread_feeds_the_stream) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    std::vector<u32> own(1000, 3);
    std::atomic<int> released = 0;
    auto adopted = device.adopt_host(
        {.handle = own.data(), .bytes = own.size() * sizeof(u32), .release = [&] { ++released; }});
    const auto spin = test::spin_kernel(device);
    const Array<u32> out(*stream, 1);
    const auto feed = [&] {
        launch(*stream, *spin, LaunchShape::linear(1, 1), out.span(), u32{1000000});
        auto event = device.create_event();
        stream->record(*event);
        return event;
    };
    const u32 zero = 0;
    stream->fill(*adopted, adopted->begin(), own.size() * sizeof(u32), &zero, sizeof zero);
    std::atomic<bool> stop = false;
    // Enough launches that other load does not let the queue run empty.
    std::deque<std::shared_ptr<Event>> pending;
    for (int i = 0; i < 16; ++i)
        pending.push_back(feed());
    std::future<bool> feeder = std::async(std::launch::async, [&] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!stop && std::chrono::steady_clock::now() < end) {
            pending.front()->synchronize();
            pending.pop_front();
            pending.push_back(feed());
        }
        return stop.load();
    });
    adopted.reset();
    CHECK(released == 1);
    CHECK(own.back() == 0);
    stop = true;
    CHECK(feeder.get());  // it has not given up
    stream->synchronize();
}

// A callback that waited for its own stream would never return.
DEVICE_TEST(adopted_memory_is_released_in_a_callback_of_its_stream) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    const auto stream = device.create_stream();
    std::vector<u32> own(1000, 3);
    std::atomic<int> released = 0;
    const u32 zero = 0;
    const auto used = [&] {
        auto buffer = device.adopt_host(
            {.handle = own.data(), .bytes = own.size() * sizeof(u32), .release = [&] { ++released; }});
        stream->fill(*buffer, buffer->begin(), own.size() * sizeof(u32), &zero, sizeof zero);
        return buffer;
    };
    int expected = 0, seen = -1;
    SUBCASE("dropped by the callback") {
        stream->callback([&, buffer = used()]() mutable {
            buffer.reset();
            seen = released;
        });
        expected = 1;
    }
    SUBCASE("held by the callback's function") {
        stream->callback([&, buffer = used()] { seen = buffer->size() > 0 ? released.load() : -1; });
    }
    SUBCASE("used again behind the callback") {
        auto buffer = used();
        std::promise<void> enqueued;
        stream->callback([&, ready = enqueued.get_future().share()] {
            ready.wait();
            buffer.reset();
            seen = released;
        });
        stream->fill(*buffer, buffer->begin(), 4, &zero, sizeof zero);
        enqueued.set_value();
        stream->synchronize();
    }
    SUBCASE("used again behind the callback, on a stream that is destroyed") {
        auto buffer = used();
        std::promise<void> enqueued;
        const auto short_lived = device.create_stream();
        short_lived->callback([&, ready = enqueued.get_future().share()] {
            ready.wait();
            buffer.reset();
            seen = released;
        });
        short_lived->fill(*buffer, buffer->begin(), 4, &zero, sizeof zero);
        enqueued.set_value();
    }
    stream->synchronize();
    CHECK(seen == expected);
    CHECK(released == 1);
}

DEVICE_TEST(trim_in_a_callback_keeps_memory_that_later_work_of_the_stream_uses) {
    REQUIRES(!is_simulated(device), test::needs::real_cuda);  // which calls it with the stream's lock held
    const auto stream = device.create_stream();
    device.trim();
    u64 cached = 0;
    const u32 zero = 0;
    auto buffer = device.allocate(1 << 20);
    stream->callback([&] {
        stream->fill(*buffer, 0, 4, &zero, sizeof zero);
        buffer.reset();
        device.trim();
        cached = device.memory_use().cached;
    });
    stream->synchronize();
    CHECK(cached >= 1 << 20);
    device.trim();
    CHECK(device.memory_use().cached < 1 << 20);
}

DEVICE_TEST(memory_that_cannot_be_adopted_is_refused) {
    REQUIRES(shares_host_memory(device), test::needs::host_memory);
    std::vector<f32> own(10);
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("Device::adopt_host: null handle", [&] { device.adopt_host({.bytes = 4}); });
    refused("Device::adopt_host: zero bytes", [&] { device.adopt_host({.handle = own.data()}); });
    refused("exceeds 2^60 bytes", [&] { device.adopt_host({.handle = own.data(), .bytes = ~u64{0}}); });
    auto* const odd = reinterpret_cast<std::byte*>(own.data()) + 2;
    refused("array: misaligned offset",
            [&] { Array<f32>(device.adopt_host({.handle = odd, .bytes = 32}), 8); });
    refused("array: range exceeds the buffer",
            [&] { Array<f32>(device.adopt_host({.handle = own.data(), .bytes = 40}), 11); });
    const auto buffer = device.adopt_host({.handle = own.data() + 1, .bytes = 36});
    if (buffer->begin() >= 4)
        refused("begins before the adopted memory", [&] { Span<f32>(*buffer, buffer->begin() / 4 - 1, 2); });
    if (device.traits().dlpack_type == dlpack::DeviceType::cpu) {
        CHECK(throws(ErrorCode::unsupported, "cannot adopt streams", [&] { device.adopt_stream(nullptr); }));
        CHECK(throws(ErrorCode::unsupported, "cannot adopt events", [&] { device.adopt_event(own.data()); }));
    }
}

#ifdef CONCORD_TEST_OPENCL

namespace {

// The functions of the loader that Concord uses, too.
template <class F>
F* opencl_function(const char* name, F*) {
    static void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    return loader == nullptr ? nullptr : reinterpret_cast<F*>(dlsym(loader, name));
}
#define FUNCTION(name) opencl_function(#name, static_cast<decltype(&::name)>(nullptr))

}  // namespace

// A program of plain OpenCL uses its own buffer and queue; nothing is copied, and nothing waits in between.
DEVICE_TEST(buffers_and_queues_of_opencl_are_adopted) {
    REQUIRES(device.traits().dlpack_type == dlpack::DeviceType::opencl, test::needs::opencl_memory);
    auto* const context = static_cast<cl_context>(device.native_handle());
    REQUIRE(context != nullptr);
    cl_device_id id = nullptr;
    REQUIRE(FUNCTION(clGetContextInfo)(context, CL_CONTEXT_DEVICES, sizeof id, &id, nullptr) == CL_SUCCESS);
    cl_int status = CL_SUCCESS;
    cl_command_queue queue = FUNCTION(clCreateCommandQueue)(context, id, 0, &status);
    REQUIRE(status == CL_SUCCESS);
    constexpr u64 n = 100000;
    cl_mem memory = FUNCTION(clCreateBuffer)(context, CL_MEM_READ_WRITE, n * 4, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    std::vector<u32> x = random_values<u32>(n), y(n);
    {
        const auto stream = device.adopt_stream(queue);
        CHECK(stream->native_handle() == queue);
        const auto adopted = Array<u32>::adopt(device, {.handle = memory, .bytes = n * 4});
        CHECK(adopted.buffer()->native_handle() == memory);
        // The owner's write, Concord's sort and the owner's read are ordered by the queue.
        CHECK(FUNCTION(clEnqueueWriteBuffer)(queue, memory, CL_FALSE, 0, n * 4, x.data(), 0, nullptr,
                                             nullptr) == CL_SUCCESS);
        sort(*stream, adopted, adopted);
        CHECK(FUNCTION(clEnqueueReadBuffer)(queue, memory, CL_TRUE, 0, n * 4, y.data(), 0, nullptr,
                                            nullptr) == CL_SUCCESS);
        std::sort(x.begin(), x.end());
        CHECK(y == x);
        const auto event = device.create_event();
        CHECK(event->native_handle() == nullptr);
        stream->record(*event);
        auto* const mark = static_cast<cl_event>(event->native_handle());
        CHECK(FUNCTION(clWaitForEvents)(1, &mark) == CL_SUCCESS);
        CHECK(throws(ErrorCode::invalid_argument, "the cl_mem has 400000 bytes, got 400004",
                     [&] { device.adopt({.handle = memory, .bytes = n * 4 + 4}); }));
        CHECK(throws(ErrorCode::invalid_argument, "null handle; pass the cl_command_queue",
                     [&] { device.adopt_stream(nullptr); }));
    }
    // Handles of anything except the driver's objects are refused before anyone follows them.
    void* nothing = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::array<void*, 64> zeros{}, chain{};
    chain.fill(chain.data());
    const std::uintptr_t number = 12345672;
    void *numbered = nullptr, *odd = reinterpret_cast<std::byte*>(zeros.data()) + 1;
    std::memcpy(&numbered, &number, sizeof number);
    for (void* const wrong :
         {nothing, static_cast<void*>(zeros.data()), static_cast<void*>(chain.data()), numbered, odd}) {
        CHECK(throws(ErrorCode::invalid_argument, "not a cl_command_queue, got 0x",
                     [&] { device.adopt_stream(wrong); }));
        CHECK(throws(ErrorCode::invalid_argument, "not a cl_mem, got 0x",
                     [&] { device.adopt({.handle = wrong, .bytes = 4}); }));
        CHECK(throws(ErrorCode::invalid_argument, "not a cl_event, got 0x",
                     [&] { device.adopt_event(wrong); }));
    }
    ::munmap(nothing, 4096);
    // The owner's references are left alone.
    cl_uint references = 0;
    FUNCTION(clGetMemObjectInfo)(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr);
    CHECK(references == 1);
    // PoCL's events keep queues.
    CHECK(FUNCTION(clFinish)(queue) == CL_SUCCESS);
    cl_context other = FUNCTION(clCreateContext)(nullptr, 1, &id, nullptr, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    cl_mem foreign = FUNCTION(clCreateBuffer)(other, CL_MEM_READ_WRITE, 64, nullptr, &status);
    cl_command_queue apart = FUNCTION(clCreateCommandQueue)(other, id, 0, &status);
    CHECK(throws(ErrorCode::wrong_device, "belongs to another context; create it in Device::native_handle()",
                 [&] { device.adopt({.handle = foreign, .bytes = 64}); }));
    CHECK(throws(ErrorCode::wrong_device, "belongs to another context or device",
                 [&] { device.adopt_stream(apart); }));
    FUNCTION(clReleaseCommandQueue)(apart);
    FUNCTION(clReleaseMemObject)(foreign);
    FUNCTION(clReleaseContext)(other);
    FUNCTION(clReleaseMemObject)(memory);
    FUNCTION(clReleaseCommandQueue)(queue);
}

namespace {

struct Context {
    cl_context context = nullptr;
    cl_device_id id = nullptr;
};

// The context of a device of Concord.
Context context_of(const Device& device) {
    Context own{static_cast<cl_context>(device.native_handle()), nullptr};
    REQUIRE(FUNCTION(clGetContextInfo)(own.context, CL_CONTEXT_DEVICES, sizeof own.id, &own.id, nullptr) ==
            CL_SUCCESS);
    return own;
}

cl_uint references(cl_event event) {
    cl_uint count = 0;
    CHECK(FUNCTION(clGetEventInfo)(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, nullptr) ==
          CL_SUCCESS);
    return count;
}

}  // namespace

DEVICE_TEST(events_of_opencl_are_adopted) {
    REQUIRES(device.traits().dlpack_type == dlpack::DeviceType::opencl, test::needs::opencl_memory);
    const auto [context, id] = context_of(device);
    cl_int status = CL_SUCCESS;
    cl_event gate = FUNCTION(clCreateUserEvent)(context, &status);
    REQUIRE(status == CL_SUCCESS);
    const auto stream = device.create_stream();
    const Array<u32> x(*stream, std::vector<u32>(1000, 1));
    {
        const auto event = device.adopt_event(gate);
        CHECK(references(gate) == 2);
        CHECK(event->native_handle() == gate);
        CHECK_FALSE(event->done());
        stream->wait(*event);
        add(*stream, x, x, x);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK_FALSE(stream->idle());
        // The caller's reference may go first.
        CHECK(FUNCTION(clSetUserEventStatus)(gate, CL_COMPLETE) == CL_SUCCESS);
        event->synchronize();
        CHECK(event->done());
        CHECK(x.to_host(*stream) == std::vector<u32>(1000, 2));
        CHECK(throws(ErrorCode::unsupported, "an adopted cl_event cannot be recorded",
                     [&] { stream->record(*event); }));
        CHECK(event->native_handle() == gate);
    }
    CHECK(references(gate) == 1);
    FUNCTION(clReleaseEvent)(gate);

    // The event of a command in a queue that nobody has flushed.
    cl_command_queue queue = FUNCTION(clCreateCommandQueue)(context, id, 0, &status);
    REQUIRE(status == CL_SUCCESS);
    cl_mem memory = FUNCTION(clCreateBuffer)(context, CL_MEM_READ_WRITE, 4000, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    const cl_uint seven = 7;
    cl_event filled = nullptr;
    CHECK(FUNCTION(clEnqueueFillBuffer)(queue, memory, &seven, 4, 0, 4000, 0, nullptr, &filled) ==
          CL_SUCCESS);
    const auto event = device.adopt_event(filled);
    FUNCTION(clReleaseEvent)(filled);
    stream->wait(*event);
    const auto adopted = Array<u32>::adopt(device, {.handle = memory, .bytes = 4000});
    CHECK(sum(*stream, adopted).get() == 7000);
    CHECK(event->done());
    FUNCTION(clReleaseMemObject)(memory);
    FUNCTION(clReleaseCommandQueue)(queue);

    CHECK(throws(ErrorCode::invalid_argument, "Device::adopt_event: null handle; pass the cl_event",
                 [&] { device.adopt_event(nullptr); }));
    cl_context other = FUNCTION(clCreateContext)(nullptr, 1, &id, nullptr, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    cl_event foreign = FUNCTION(clCreateUserEvent)(other, &status);
    CHECK(throws(ErrorCode::wrong_device, "the cl_event belongs to another context",
                 [&] { device.adopt_event(foreign); }));
    CHECK(references(foreign) == 1);
    FUNCTION(clSetUserEventStatus)(foreign, CL_COMPLETE);
    FUNCTION(clReleaseEvent)(foreign);
    FUNCTION(clReleaseContext)(other);
}

namespace {

// Everything that an adopted context is for: memory and queues of both owners, kernels, the pool.
void use(Device& device, cl_context context, cl_device_id id) {
    cl_int status = CL_SUCCESS;
    cl_command_queue queue = FUNCTION(clCreateCommandQueue)(context, id, CL_QUEUE_PROFILING_ENABLE, &status);
    REQUIRE(status == CL_SUCCESS);
    constexpr u64 n = 50000;
    std::vector<u32> x = random_values<u32>(n), y(n);
    cl_mem memory =
        FUNCTION(clCreateBuffer)(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * 4, x.data(), &status);
    REQUIRE(status == CL_SUCCESS);
    {
        const auto stream = device.adopt_stream(queue);
        const auto adopted = Array<u32>::adopt(device, {.handle = memory, .bytes = n * 4});
        const Array<u32> own = sort(*stream, adopted);
        CHECK(FUNCTION(clEnqueueCopyBuffer)(queue, static_cast<cl_mem>(own.buffer()->native_handle()), memory,
                                            own.view().offset, 0, n * 4, 0, nullptr, nullptr) == CL_SUCCESS);
        CHECK(adopted.to_host(*stream) == own.to_host(*stream));
        std::sort(x.begin(), x.end());
        CHECK(own.to_host(*stream) == x);
        CHECK(device.memory_use().in_use >= n * 4);
    }
    FUNCTION(clReleaseMemObject)(memory);
    FUNCTION(clReleaseCommandQueue)(queue);
}

}  // namespace

DEVICE_TEST(contexts_of_opencl_are_adopted) {
    REQUIRES(device.traits().dlpack_type == dlpack::DeviceType::opencl, test::needs::opencl_memory);
    const auto [own, id] = context_of(device);
    cl_int status = CL_SUCCESS;
    cl_context context = FUNCTION(clCreateContext)(nullptr, 1, &id, nullptr, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    const auto adopted = adopt_device("opencl", {.context = context, .device = id});
    CHECK(adopted->native_handle() == context);
    CHECK(adopted->info().selector.starts_with("opencl@context"));
    CHECK(adopted->info().name == device.info().name);
    CHECK(adopted->traits().shares_host_memory == device.traits().shares_host_memory);
    // One object per context and device.
    CHECK(adopt_device("opencl", {.context = context}) == adopted);
    CHECK(open_device(adopted->info().selector) == adopted);
    CHECK(adopt_device("opencl", {.context = own}).get() == &device);
    cl_uint count = 0;
    FUNCTION(clGetContextInfo)(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    CHECK(count > 1);
    use(*adopted, context, id);
    FUNCTION(clReleaseContext)(context);  // the device keeps it
    use(*adopted, context, id);

    const auto stream = adopted->create_stream();
    const Array<u32> elsewhere(device, 10);
    CHECK(throws(ErrorCode::wrong_device, "buffer of another device",
                 [&] { stream->read(&count, *elsewhere.buffer(), 0, 4); }));
    std::vector<std::string> listed = device_selectors();
    CHECK(std::count(listed.begin(), listed.end(), adopted->info().selector) == 0);

    const auto refused = [&](const char* words, const ForeignDevice& foreign) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] { adopt_device("opencl", foreign); }));
    };
    refused("adopt_device: null handle; pass the context", {});
    auto* const not_a_device = reinterpret_cast<cl_device_id>(&count);
    refused("the cl_device_id is not a device of the cl_context",
            {.context = context, .device = not_a_device});
    CHECK(throws(ErrorCode::unsupported, "the backend cannot adopt contexts",
                 [&] { adopt_device("tbb", {.context = context}); }));
    CHECK(throws(ErrorCode::unavailable, "unknown backend, got 'opencl:0'",
                 [&] { adopt_device("opencl:0", {.context = context}); }));
}

// Kernels are compiled for one device of the context.
DEVICE_TEST(contexts_with_several_devices_are_adopted) {
    REQUIRES(device.traits().dlpack_type == dlpack::DeviceType::opencl, test::needs::opencl_memory);
    const auto [own, id] = context_of(device);
    cl_platform_id platform = nullptr;
    FUNCTION(clGetDeviceInfo)(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
    cl_device_id ids[64] = {};
    cl_uint count = 0;
    REQUIRE(FUNCTION(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 64, ids, &count) == CL_SUCCESS);
    REQUIRES(count > 1, test::needs::two_in_platform);
    cl_int status = CL_SUCCESS;
    cl_context context = FUNCTION(clCreateContext)(nullptr, 2, ids, nullptr, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    CHECK(throws(ErrorCode::invalid_argument, "the cl_context has 2 devices; pass one of them",
                 [&] { adopt_device("opencl", {.context = context}); }));
    const auto first = adopt_device("opencl", {.context = context, .device = ids[0]});
    const auto second = adopt_device("opencl", {.context = context, .device = ids[1]});
    CHECK(first != second);
    use(*first, context, ids[0]);
    use(*second, context, ids[1]);
    FUNCTION(clReleaseContext)(context);
}

// A buffer on shared virtual memory is that memory: kernels that get the pointer and Concord see the same numbers.
DEVICE_TEST(shared_virtual_memory_of_opencl_is_adopted) {
    REQUIRES(device.traits().dlpack_type == dlpack::DeviceType::opencl, test::needs::opencl_memory);
    const auto [context, id] = context_of(device);
    cl_device_svm_capabilities svm = 0;
    FUNCTION(clGetDeviceInfo)(id, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr);
    REQUIRES((svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0, test::needs::svm);
    constexpr u32 n = 20000;
    auto* const x = static_cast<u32*>(FUNCTION(clSVMAlloc)(context, CL_MEM_READ_WRITE, n * 4, 0));
    REQUIRE(x != nullptr);
    cl_int status = CL_SUCCESS;
    cl_command_queue queue = FUNCTION(clCreateCommandQueue)(context, id, 0, &status);
    REQUIRE(status == CL_SUCCESS);
    const char* source =
        "__kernel void count_down(__global uint* x, uint n) { x[get_global_id(0)] = n - get_global_id(0); }"
        "__kernel void address(__global uint* x, __global ulong* to) { *to = (ulong)(uintptr_t)x; }";
    cl_program program = FUNCTION(clCreateProgramWithSource)(context, 1, &source, nullptr, &status);
    REQUIRE(FUNCTION(clBuildProgram)(program, 1, &id, "", nullptr, nullptr) == CL_SUCCESS);
    cl_kernel count_down = FUNCTION(clCreateKernel)(program, "count_down", &status);
    cl_kernel address = FUNCTION(clCreateKernel)(program, "address", &status);
    REQUIRE(status == CL_SUCCESS);
    const std::size_t items = n, one = 1;
    {
        const auto stream = device.adopt_stream(queue);
        const auto adopted = Array<u32>::borrow(device, std::span(x, n));
        const Array<u64> seen(*stream, 1);
        auto memory = static_cast<cl_mem>(adopted.buffer()->native_handle());
        auto to = static_cast<cl_mem>(seen.buffer()->native_handle());
        CHECK(FUNCTION(clSetKernelArgSVMPointer)(count_down, 0, x) == CL_SUCCESS);
        CHECK(FUNCTION(clSetKernelArg)(count_down, 1, sizeof n, &n) == CL_SUCCESS);
        CHECK(FUNCTION(clEnqueueNDRangeKernel)(queue, count_down, 1, nullptr, &items, nullptr, 0, nullptr,
                                               nullptr) == CL_SUCCESS);
        sort(*stream, adopted, adopted);
        // The device's address of the buffer is the pointer.
        CHECK(FUNCTION(clSetKernelArg)(address, 0, sizeof memory, &memory) == CL_SUCCESS);
        CHECK(FUNCTION(clSetKernelArg)(address, 1, sizeof to, &to) == CL_SUCCESS);
        CHECK(FUNCTION(clEnqueueNDRangeKernel)(queue, address, 1, nullptr, &one, nullptr, 0, nullptr,
                                               nullptr) == CL_SUCCESS);
        CHECK(seen.to_host(*stream).front() + adopted.view().offset == reinterpret_cast<std::uintptr_t>(x));
        CHECK(adopted.buffer()->begin() == 0);  // the driver aligns like Concord
        CHECK(adopted.buffer()->host_pointer() == (shares_host_memory(device) ? x : nullptr));
        CHECK(FUNCTION(clEnqueueSVMMap)(queue, CL_TRUE, CL_MAP_READ, x, n * 4, 0, nullptr, nullptr) ==
              CL_SUCCESS);
        std::vector<u32> expected(n);
        std::iota(expected.begin(), expected.end(), 1);
        CHECK(std::equal(expected.begin(), expected.end(), x));
        CHECK(FUNCTION(clEnqueueSVMUnmap)(queue, x, 0, nullptr, nullptr) == CL_SUCCESS);
        if (!shares_host_memory(device)) {
            alignas(128) u32 own[64] = {};
            CHECK(throws(ErrorCode::unsupported, "only if it is shared virtual memory of its context",
                         [&] { Array<u32>::borrow(device, std::span<u32>(own)); }));
        }
    }
    FUNCTION(clReleaseKernel)(count_down);
    FUNCTION(clReleaseKernel)(address);
    FUNCTION(clReleaseProgram)(program);
    CHECK(FUNCTION(clFinish)(queue) == CL_SUCCESS);
    FUNCTION(clReleaseCommandQueue)(queue);
    FUNCTION(clSVMFree)(context, x);
}

#undef FUNCTION
#else
TEST_CASE("memory, queues, events and contexts of OpenCL are adopted") {
    REQUIRES(false, test::needs::opencl_headers);
}
#endif

#ifdef CONCORD_TEST_CUDA

namespace {

// Functions of the driver that Concord uses, too. The name is that of the library's symbol.
template <class F>
F* cuda_function(const char* name, F*) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver == nullptr ? nullptr : reinterpret_cast<F*>(dlsym(driver, name));
}
#define CONCORD_SYMBOL(name) #name
#define FUNCTION(name) cuda_function(CONCORD_SYMBOL(name), static_cast<decltype(&::name)>(nullptr))

void* pointer_of(CUdeviceptr address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
    return reinterpret_cast<void*>(address);
}

// Makes the context of the device current.
struct CurrentContext {
    explicit CurrentContext(const Device& device) {
        REQUIRE(FUNCTION(cuCtxPushCurrent)(static_cast<CUcontext>(device.native_handle())) == CUDA_SUCCESS);
    }
    ~CurrentContext() {
        CUcontext popped = nullptr;
        FUNCTION(cuCtxPopCurrent)(&popped);
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
};

CUstream create_stream_of_cuda() {
    CUstream stream = nullptr;
    REQUIRE(FUNCTION(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    return stream;
}

bool has_gpu(const Device& device) {
    return device.traits().dlpack_type == dlpack::DeviceType::cuda && device.traits().runs;
}

}  // namespace

DEVICE_TEST(memory_streams_and_events_of_cuda_are_adopted) {
    REQUIRES(has_gpu(device), test::needs::cuda);
    const CurrentContext current(device);
    constexpr u64 n = 100000;
    CUdeviceptr memory = 0;
    REQUIRE(FUNCTION(cuMemAlloc)(&memory, n * 4) == CUDA_SUCCESS);
    CUstream queue = create_stream_of_cuda(), uploads = create_stream_of_cuda();
    CUevent uploaded = nullptr, recorded = nullptr;
    REQUIRE(FUNCTION(cuEventCreate)(&uploaded, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    REQUIRE(FUNCTION(cuEventCreate)(&recorded, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
    std::vector<u32> x = random_values<u32>(n), y(n);
    {
        const auto stream = device.adopt_stream(queue);
        const auto event = device.adopt_event(uploaded);
        CHECK(stream->native_handle() == queue);
        CHECK(event->native_handle() == uploaded);
        CHECK(event->done());  // never recorded
        // Addresses without memory are refused before the driver follows them.
        const std::uintptr_t number = 12345672;
        void* wrong = nullptr;
        std::memcpy(&wrong, &number, sizeof number);
        CHECK(throws(ErrorCode::invalid_argument, "not a CUstream, got 12345672",
                     [&] { device.adopt_stream(wrong); }));
        CHECK(throws(ErrorCode::invalid_argument, "not a CUevent, got 12345672",
                     [&] { device.adopt_event(wrong); }));
        const auto adopted = Array<u32>::adopt(device, {.handle = pointer_of(memory), .bytes = n * 4});
        CHECK(FUNCTION(cuMemcpyHtoDAsync)(memory, x.data(), n * 4, uploads) == CUDA_SUCCESS);
        CHECK(FUNCTION(cuEventRecord)(uploaded, uploads) == CUDA_SUCCESS);
        stream->wait(*event);
        if (!is_simulated(device)) sort(*stream, adopted, adopted);
        CHECK(FUNCTION(cuMemcpyDtoHAsync)(y.data(), memory, n * 4, queue) == CUDA_SUCCESS);
        // The owner waits for a mark of Concord in its own event.
        const auto mark = device.adopt_event(recorded);
        stream->record(*mark);
        CHECK(FUNCTION(cuEventSynchronize)(recorded) == CUDA_SUCCESS);
        CHECK(mark->done());
        mark->synchronize();
        if (!is_simulated(device)) std::sort(x.begin(), x.end());
        CHECK(y == x);
        CHECK(throws(ErrorCode::invalid_argument, "Device::adopt_event: null handle; pass the CUevent",
                     [&] { device.adopt_event(nullptr); }));
    }
    // Concord destroys nothing of the owner.
    CHECK(FUNCTION(cuEventQuery)(uploaded) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuEventDestroy)(uploaded) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuEventDestroy)(recorded) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuStreamDestroy)(queue) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuStreamDestroy)(uploads) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuMemFree)(memory) == CUDA_SUCCESS);
}

DEVICE_TEST(primary_contexts_of_cuda_are_adopted) {
    REQUIRES(has_gpu(device), test::needs::cuda);
    CHECK(adopt_device("cuda", {.context = device.native_handle()}).get() == &device);
    CUdevice ordinal = 0;
    CUcontext own = nullptr;
    {
        const CurrentContext current(device);
        REQUIRE(FUNCTION(cuCtxGetDevice)(&ordinal) == CUDA_SUCCESS);
    }
    using Create = CUresult(CUcontext*, unsigned, CUdevice);  // headers of CUDA 13 declare a later form only
    REQUIRE(cuda_function("cuCtxCreate_v2", static_cast<Create*>(nullptr))(&own, 0, ordinal) == CUDA_SUCCESS);
    CHECK(throws(ErrorCode::unsupported, "not the primary context of its device",
                 [&] { adopt_device("cuda", {.context = own}); }));
    CHECK(FUNCTION(cuCtxDestroy)(own) == CUDA_SUCCESS);
}

// The owner captures its stream, in the mode that forbids most, while Concord works there and elsewhere.
DEVICE_TEST(adopted_streams_of_cuda_are_captured) {
    REQUIRES(has_gpu(device), test::needs::cuda);
    const CurrentContext current(device);
    constexpr u64 n = 100000;
    CUstream queue = create_stream_of_cuda(), joined = create_stream_of_cuda();
    CUevent fork = nullptr, join = nullptr;
    REQUIRE(FUNCTION(cuEventCreate)(&fork, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    REQUIRE(FUNCTION(cuEventCreate)(&join, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    const auto upload = device.create_stream();
    const std::vector<u32> pageable(n, 1);
    const Array<u32> x(*upload, pageable), y(*upload, n), other(*upload, pageable);
    const auto page_locked = device.allocate_host(n * 4);
    auto* const host = static_cast<u32*>(page_locked->host_pointer());
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    const u64 in_use = device.memory_use().in_use;
    {
        const auto stream = device.adopt_stream(queue);
        const auto side = device.adopt_stream(joined);
        const auto event = device.create_event();
        auto scratch = device.allocate(n * 4);
        const Buffer* const address = scratch.get();
        const u32 seven = 7, nine = 9;
        stream->fill(*y.buffer(), y.view().offset, n * 4, &nine, 4);  // before the capture
        device.trim();  // so that the pool has to allocate during the capture
        REQUIRE(FUNCTION(cuStreamBeginCapture)(queue, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        stream->fill(*scratch, 0, n * 4, &seven, 4);
        sort(*stream, other, other);
        CHECK_FALSE(stream->idle());
        stream->record(*event);
        const auto refused = [](const char* words, const auto& f) {
            CHECK(throws(ErrorCode::unsupported, words, f));
        };
        refused("Stream::synchronize: the owner captures the stream", [&] { stream->synchronize(); });
        refused("Stream::callback: the owner captures the stream", [&] { stream->callback([] {}); });
        refused("Stream::write: the owner captures the stream, and the host memory is pageable",
                [&] { stream->write(*x.buffer(), 0, pageable.data(), 16); });
        refused("Stream::read: the owner captures the stream, and the host memory is pageable", [&] {
            u32 one = 0;
            stream->read(&one, *x.buffer(), 0, 4);
        });
        refused("Event::done: the event was recorded while the owner", [&] { event->done(); });
        refused("Event::synchronize: the event was recorded while the owner", [&] { event->synchronize(); });
        const auto future = sum(*stream, other);
        refused("Event::synchronize: the event was recorded while the owner", [&] { future.get(); });
        // Another stream joins the capture and returns to it.
        const auto forked = device.adopt_event(fork);
        stream->record(*forked);
        side->wait(*forked);
        side->copy(*y.buffer(), y.view().offset, *scratch, 0, n * 4);
        CHECK_FALSE(side->idle());
        refused("Stream::synchronize: the owner captures the stream", [&] { side->synchronize(); });
        CHECK(FUNCTION(cuEventRecord)(join, joined) == CUDA_SUCCESS);
        stream->wait(*device.adopt_event(join));
        // So does a stream of Concord.
        const auto third = device.create_stream();
        const auto back = device.create_event();
        third->wait(*event);
        third->fill(*other.buffer(), other.view().offset, 4, &nine, 4);
        CHECK_FALSE(third->idle());
        refused("Stream::synchronize: the owner captures the stream", [&] { third->synchronize(); });
        third->record(*back);
        stream->wait(*back);
        stream->copy(*page_locked, 0, *y.buffer(), y.view().offset, n * 4);
        scratch.reset();
        // Other streams copy, wait, compile and allocate meanwhile. They do not get memory of the graph.
        const auto noise = device.allocate(n * 4, upload.get());
        CHECK(noise.get() != address);
        CHECK(Array<u32>(*upload, pageable).to_host(*upload) == pageable);
        const auto mark = device.create_event();
        upload->record(*mark);
        mark->synchronize();
        CHECK(mark->done());
        upload->callback([] {});
        upload->synchronize();
        device.trim();
        const auto late = device.adopt_stream(queue);  // adoption does not query it
        CHECK_FALSE(late->idle());
        REQUIRE(FUNCTION(cuStreamEndCapture)(queue, &graph) == CUDA_SUCCESS);
        REQUIRE(FUNCTION(cuGraphInstantiateWithFlags)(&ready, graph, 0) == CUDA_SUCCESS);
        stream->synchronize();
        CHECK(stream->idle());
        for (const u32 before : {1U, 2U}) {
            upload->fill(*y.buffer(), y.view().offset, n * 4, &before, 4);
            upload->fill(*noise, 0, n * 4, &before, 4);
            upload->synchronize();
            std::fill_n(host, n, before);
            CHECK(FUNCTION(cuGraphLaunch)(ready, queue) == CUDA_SUCCESS);
            stream->synchronize();
            CHECK(std::count(host, host + n, 7U) == static_cast<i64>(n));
            CHECK(y.to_host(*upload) == std::vector<u32>(n, 7));
        }
        // The memory of the graph stays with the stream, which serves after the capture.
        CHECK(device.memory_use().in_use >= in_use + 2 * n * 4);
        stream->record(*event);
        event->synchronize();
        CHECK(event->done());
        stream->callback([] {});
        stream->write(*x.buffer(), x.view().offset, pageable.data(), n * 4);
        stream->synchronize();
    }
    CHECK(device.memory_use().in_use == in_use);
    CHECK(FUNCTION(cuGraphExecDestroy)(ready) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuGraphDestroy)(graph) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuEventDestroy)(fork) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuEventDestroy)(join) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuStreamDestroy)(queue) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuStreamDestroy)(joined) == CUDA_SUCCESS);
}

// A kernel overlaps the one in front of it only if both are consecutive launches on a stream of Concord. The simulated
// driver refuses other overlaps and counts them.
DEVICE_TEST(kernels_overlap_directly_after_kernels) {
    REQUIRES(has_gpu(device), test::needs::cuda);
    REQUIRES(is_simulated(device), test::needs::simulated_cuda);
    const CurrentContext current(device);
    auto* const count = cuda_function("simulated_programmatic_launches", static_cast<int (*)()>(nullptr));
    REQUIRE((count != nullptr));
    const auto overlaps = [&](int expected, const auto& f) {
        const int before = count();
        f();
        CHECK(count() - before == expected);
    };
    constexpr u64 n = 1000;
    const auto stream = device.create_stream(), second = device.create_stream();
    const Array<f32> x(*stream, n), y(*stream, n), z(*second, n);
    const auto event = device.create_event(), other = device.create_event();
    const auto call = [&] { map(*stream, x, y, MapFunction::abs); };
    const f64 one = 1;
    const Array<f64> wide(*stream, n);
    stream->synchronize();
    overlaps(0, call);
    overlaps(3, [&] {
        for (int i = 0; i < 3; ++i)
            call();
    });
    // Work that is not a kernel, before the call. Fills with eight bytes are kernels.
    const std::pair<const char*, std::function<void()>> others[] = {
        {"fill", [&] { stream->fill(*y.buffer(), y.view().offset, 4, &one, 4); }},
        {"copy", [&] { stream->copy(*y.buffer(), y.view().offset, *x.buffer(), x.view().offset, 4); }},
        {"write", [&] { stream->write(*y.buffer(), y.view().offset, &one, 4); }},
        {"record", [&] { stream->record(*event); }},
        {"wait",
         [&] {
             second->record(*other);
             stream->wait(*other);
         }},
        {"callback", [&] { stream->callback([] {}); }}};
    for (const auto& [name, work] : others) {
        CAPTURE(name);
        overlaps(0, [&] {
            work();
            call();
        });
        overlaps(1, call);
    }
    overlaps(1, [&] { stream->fill(*wide.buffer(), wide.view().offset, n * 8, &one, 8); });
    // Each stream has its own order.
    overlaps(0, [&] { map(*second, z, z, MapFunction::abs); });
    overlaps(1, call);
    // A recording starts with a launch of its own, and no kernel overlaps a replay.
    std::shared_ptr<Recording> recording;
    overlaps(2, [&] {
        stream->begin_recording();
        for (int i = 0; i < 3; ++i)
            call();
        recording = stream->end_recording();
    });
    overlaps(0, [&] {
        recording->replay(*stream);
        call();
    });
    // Streams of another owner, whose work between the calls Concord does not see.
    CUstream queue = create_stream_of_cuda();
    {
        const auto adopted = device.adopt_stream(queue);
        overlaps(0, [&] {
            for (int i = 0; i < 3; ++i)
                map(*adopted, x, y, MapFunction::abs);
        });
        adopted->synchronize();
    }
    CHECK(FUNCTION(cuStreamDestroy)(queue) == CUDA_SUCCESS);
}

// Every replay has the result of the calls, although other calls use the pool between replays.
DEVICE_TEST(graphs_of_captured_calls_are_replayed) {
    REQUIRES(has_gpu(device), test::needs::cuda);
    REQUIRES(!is_simulated(device), test::needs::real_cuda);
    const CurrentContext current(device);
    constexpr u64 n = 100000;
    CUstream queue = create_stream_of_cuda();
    const auto upload = device.create_stream();
    const Array<f32> x(*upload, n), y(*upload, n), kept(*upload, n);
    const Array<u64> count(*upload, 1);
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    {
        const auto stream = device.adopt_stream(queue);
        REQUIRE(FUNCTION(cuStreamBeginCapture)(queue, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        sort(*stream, x, y);
        scan(*stream, y, y);
        compact(*stream, x, kept, count, KeepRule::positive);
        REQUIRE(FUNCTION(cuStreamEndCapture)(queue, &graph) == CUDA_SUCCESS);
        REQUIRE(FUNCTION(cuGraphInstantiateWithFlags)(&ready, graph, 0) == CUDA_SUCCESS);
        const Array<f32> other(*upload, random_values<f32>(n));
        for (u32 seed = 1; seed < 4; ++seed) {
            CAPTURE(seed);
            std::vector<f32> values(n);
            for (u64 i = 0; i < n; ++i)
                values[i] = static_cast<f32>((i * 7919 + seed) % 32);
            upload->write(*x.buffer(), x.view().offset, values.data(), n * 4);
            upload->synchronize();
            const Array<f32> sorted = sort(*upload, other);
            CHECK(FUNCTION(cuGraphLaunch)(ready, queue) == CUDA_SUCCESS);
            scan(*upload, other, sorted);
            stream->synchronize();
            std::vector<f32> positive;
            std::copy_if(values.begin(), values.end(), std::back_inserter(positive),
                         [](f32 v) { return v > 0; });
            CHECK(count.to_host(*upload).front() == positive.size());
            std::vector<f32> got = kept.to_host(*upload);
            got.resize(positive.size());
            CHECK(got == positive);
            std::sort(values.begin(), values.end());
            std::vector<f32> sums(n);
            std::inclusive_scan(values.begin(), values.end(), sums.begin());  // exact: integers below 2^24
            CHECK(y.to_host(*upload) == sums);
        }
    }
    CHECK(FUNCTION(cuGraphExecDestroy)(ready) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuGraphDestroy)(graph) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuStreamDestroy)(queue) == CUDA_SUCCESS);
}

// Adopted memory that the graph uses, or that earlier work of the stream uses, is released with the stream.
DEVICE_TEST(adopted_memory_outlives_a_capture) {
    REQUIRES(has_gpu(device), test::needs::cuda);
    const CurrentContext current(device);
    CUstream queue = create_stream_of_cuda();
    CUdeviceptr memory[2] = {};
    for (CUdeviceptr& each : memory)
        REQUIRE(FUNCTION(cuMemAlloc)(&each, 4096) == CUDA_SUCCESS);
    int released = 0;
    const auto adopt = [&](CUdeviceptr address) {
        return device.adopt({.handle = pointer_of(address), .bytes = 4096, .release = [&] { ++released; }});
    };
    CUgraph graph = nullptr;
    {
        const auto stream = device.adopt_stream(queue);
        const u32 zero = 0;
        auto before = adopt(memory[0]), captured = adopt(memory[1]);
        stream->fill(*before, before->begin(), 4096, &zero, 4);
        REQUIRE(FUNCTION(cuStreamBeginCapture)(queue, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        stream->fill(*captured, captured->begin(), 4096, &zero, 4);
        before.reset();
        captured.reset();
        CHECK(released == 0);
        REQUIRE(FUNCTION(cuStreamEndCapture)(queue, &graph) == CUDA_SUCCESS);
        CHECK(released == 0);
    }
    CHECK(released == 2);
    CHECK(FUNCTION(cuGraphDestroy)(graph) == CUDA_SUCCESS);
    for (const CUdeviceptr each : memory)
        CHECK(FUNCTION(cuMemFree)(each) == CUDA_SUCCESS);
    CHECK(FUNCTION(cuStreamDestroy)(queue) == CUDA_SUCCESS);
}

#undef FUNCTION
#else
TEST_CASE("memory, streams, events and contexts of CUDA are adopted") {
    REQUIRES(false, test::needs::cuda_headers);
}
#endif

TEST_SUITE_END();
