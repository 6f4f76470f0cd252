// Memory and queues of other owners: no copies, ordering, what is read-only, and when memory is released.
#include "devices.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <dlfcn.h>
#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#define CONCORD_TEST_OPENCL 1
#endif

using namespace concord;
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
    if (!shares_host_memory(device)) return;
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

DEVICE_TEST(borrowed_matrices_keep_their_pitch) {
    if (!shares_host_memory(device)) return;
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
    if (!shares_host_memory(device)) return;
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
    if (!shares_host_memory(device)) return;
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

DEVICE_TEST(memory_that_cannot_be_adopted_is_refused) {
    if (!shares_host_memory(device)) return;
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
    if (device.traits().dialect == Dialect::host)
        CHECK(throws(ErrorCode::unsupported, "cannot adopt streams", [&] { device.adopt_stream(nullptr); }));
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
    if (device.traits().dialect != Dialect::opencl) return;
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

#endif

TEST_SUITE_END();
