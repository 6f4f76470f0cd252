#include "opencl_self_test.hpp"

#include "opencl_traits.hpp"

#include <concord/backend/program_cache.hpp>
#include <concord/internal/environment.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

namespace concord::opencl {
namespace {

constexpr const char* call = "open_device";

// Sums of groups, which need barriers and local memory, at offsets in both buffers.
const char* const source = R"(
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void self_test(__global const uint* in, ulong in_at, __global uint* out, ulong out_at, __local uint* sums) {
    const uint id = get_local_id(0);
    const uint own = in[in_at + get_global_id(0)];
    sums[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (id < step) sums[id] += sums[id + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[out_at + get_global_id(0)] = sums[0] + 3 * own;
}
)";

class SelfTest {
  public:
    SelfTest(cl_device_id device, cl_context context, cl_command_queue queue, const DeviceInfo& info)
        : device_(device), context_(context), queue_(queue), info_(info) {}

    // Returns the limit of work-items per group, at most `size`: the largest group that a kernel is compiled for.
    u32 run(u32 size) {
        finish_waits();
        u32 group = std::bit_floor(size);
        KernelHandle kernel = build(group);
        for (u64 limit; (limit = group_limit_of(kernel.get(), device_)) < group;) {
            if (limit == 0) refuse("the limit of work-items per group is 0 for a kernel");
            group = static_cast<u32>(std::bit_floor(limit));
            kernel = build(group);
        }
        sum_groups(kernel.get(), group);
        return group == std::bit_floor(size) ? size : group;
    }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(ErrorCode::unavailable, call,
                    info_.selector + " failed the self-test of its driver (" + info_.driver + "): " + why +
                        "; use another version of the driver, or set CONCORD_OPENCL_SELF_TEST=off to use "
                        "the device nevertheless");
    }

    MemoryHandle buffer(std::size_t bytes) const {
        cl_int status = CL_SUCCESS;
        MemoryHandle memory(cl().clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status));
        check(status, call, "clCreateBuffer");
        return memory;
    }

    // After a flush as well: rusticl of Mesa 22.3 then forgets what it has to wait for.
    void finish_waits() {
        constexpr std::size_t bytes = std::size_t{1} << 20;
        constexpr int fills = 64;  // take longer than the queries below
        const MemoryHandle memory = buffer(bytes);
        const cl_ulong2 zero = {};
        EventHandle fill;
        for (int i = 0; i < fills; ++i) {
            fill = EventHandle();
            check(cl().clEnqueueFillBuffer(queue_, memory.get(), &zero, sizeof zero, 0, bytes, 0, nullptr,
                                           fill.out()),
                  call, "clEnqueueFillBuffer");
        }
        check(cl().clFlush(queue_), call, "clFlush");
        check(cl().clFinish(queue_), call, "clFinish");
        cl_int state = CL_COMPLETE;
        check(
            cl().clGetEventInfo(fill.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
            call, "clGetEventInfo");
        if (state == CL_COMPLETE) return;
        const cl_event event = fill.get();
        cl().clWaitForEvents(1, &event);  // before the buffer is freed
        refuse("clFinish returned before a command had ended");
    }

    KernelHandle build(u32 group) const {
        cl_int status = CL_SUCCESS;
        const char* text = source;
        const ProgramHandle program(cl().clCreateProgramWithSource(context_, 1, &text, nullptr, &status));
        check(status, call, "clCreateProgramWithSource");
        const std::string options = "-cl-std=CL1.2 -DGROUP=" + std::to_string(group);
        status = cl().clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
        if (status != CL_SUCCESS)
            refuse("a kernel in OpenCL C 1.2 does not compile (" + status_text(status) + ")");
        KernelHandle kernel(cl().clCreateKernel(program.get(), "self_test", &status));
        check(status, call, "clCreateKernel");
        return kernel;
    }

    void sum_groups(cl_kernel kernel, std::size_t group) {
        constexpr std::size_t groups = 3;
        constexpr cl_uint untouched = 0x5bc65d6e;
        const std::size_t items = groups * group;
        const cl_ulong in_at = 5, out_at = 7;
        std::vector<cl_uint> in(items + 16), out(items + 16), expected(items + 16, untouched);
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = static_cast<cl_uint>(i * 2654435761U);
        for (std::size_t i = 0; i < items; ++i) {
            const auto first = in.begin() + static_cast<std::ptrdiff_t>(in_at + i / group * group);
            expected[out_at + i] = 3 * in[in_at + i];
            for (std::size_t k = 0; k < group; ++k)
                expected[out_at + i] += first[static_cast<std::ptrdiff_t>(k)];
        }
        const std::size_t bytes = in.size() * sizeof(cl_uint);
        const MemoryHandle from = buffer(bytes), to = buffer(bytes);
        const cl_mem from_memory = from.get(), to_memory = to.get();
        check(
            cl().clEnqueueWriteBuffer(queue_, from_memory, CL_TRUE, 0, bytes, in.data(), 0, nullptr, nullptr),
            call, "clEnqueueWriteBuffer");
        check(cl().clEnqueueFillBuffer(queue_, to_memory, &untouched, sizeof untouched, 0, bytes, 0, nullptr,
                                       nullptr),
              call, "clEnqueueFillBuffer");
        cl_uint place = 0;
        const auto set = [&](std::size_t size, const void* value) {
            check(cl().clSetKernelArg(kernel, place++, size, value), call, "clSetKernelArg");
        };
        set(sizeof from_memory, &from_memory);
        set(sizeof in_at, &in_at);
        set(sizeof to_memory, &to_memory);
        set(sizeof out_at, &out_at);
        set(group * sizeof(cl_uint), nullptr);
        const cl_int status =
            cl().clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr);
        if (status != CL_SUCCESS)
            refuse("a launch of " + std::to_string(group) + " work-items per group failed (" +
                   status_text(status) + ")");
        check(cl().clEnqueueReadBuffer(queue_, to_memory, CL_TRUE, 0, bytes, out.data(), 0, nullptr, nullptr),
              call, "clEnqueueReadBuffer");
        const std::string groups_of = " in groups of " + std::to_string(group) + " work-items";
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (out[i] == expected[i]) continue;
            const bool is_inside = i >= out_at && i < out_at + items;
            refuse(is_inside ? "a kernel with barriers and local memory gave a wrong result" + groups_of
                             : "a kernel wrote outside of its output" + groups_of);
        }
    }

    cl_device_id device_;
    cl_context context_;
    cl_command_queue queue_;
    const DeviceInfo& info_;
};

}  // namespace

u32 self_test(cl_device_id device, cl_context context, cl_command_queue queue, const DeviceInfo& info) {
    const u32 most = static_cast<u32>(
        std::clamp<u64>(ask_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), 1, u64{1} << 30));
    if (is_pocl_cpu(device) || detail::environment_variable("CONCORD_OPENCL_SELF_TEST") == "off") return most;
    const std::string key = "opencl | " + info.name + " | self_test\n" + info.driver + "\ngroups of " +
                            std::to_string(most) + "\n" + source;
    u32 limit = 0;
    if (const std::optional<std::string> known = backend::load_program(key))
        std::from_chars(known->data(), known->data() + known->size(), limit);
    if (limit == 0) {
        limit = SelfTest(device, context, queue, info).run(most);
        backend::store_program(key, std::to_string(limit));
    }
    return limit;
}

}  // namespace concord::opencl
