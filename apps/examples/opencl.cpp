// A program of plain OpenCL uses Concord on its own buffer and command queue: a kernel of the program makes numbers,
// Concord sorts them where they are, and the program reads them. The host waits only for the reads.
//
// Build, with Concord installed in DIR (in the build tree: example-opencl):
//     c++ -std=c++20 -O2 -ffp-contract=off opencl.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord -lOpenCL
// Run:
//     ./a.out              # the first OpenCL device; opencl:1 is the second
//     pthread-haswell: 1048576 sorted numbers from 0 to 4294967231

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <concord/concord.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <stdexcept>

namespace {

constexpr cl_uint n = 1 << 20;

const char* source =
    "__kernel void make_numbers(__global uint* x) {"
    "    uint i = get_global_id(0);"
    "    x[i] = (i * 2654435761u) ^ (i << 7);"
    "}";

void check(cl_int status, const char* function) {
    if (status != CL_SUCCESS) throw std::runtime_error(function + (": status " + std::to_string(status)));
}

}  // namespace

int main(int argc, char** argv) try {
    const auto device = concord::open_device(argc > 1 ? argv[1] : "opencl");
    // Buffers and queues that Concord adopts belong to its context.
    auto* const context = static_cast<cl_context>(device->native_handle());
    cl_device_id id = nullptr;
    check(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof id, &id, nullptr), "clGetContextInfo");

    cl_int status = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &status);
    check(status, "clCreateCommandQueue");
    cl_mem numbers = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof(cl_uint), nullptr, &status);
    check(status, "clCreateBuffer");
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &id, "", nullptr, nullptr), "clBuildProgram");
    cl_kernel make_numbers = clCreateKernel(program, "make_numbers", &status);
    check(status, "clCreateKernel");

    check(clSetKernelArg(make_numbers, 0, sizeof numbers, &numbers), "clSetKernelArg");
    const std::size_t items = n;
    check(clEnqueueNDRangeKernel(queue, make_numbers, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    std::array<cl_uint, 2> ends{};
    bool is_sorted = false;
    {
        // The queue orders the kernel above, Concord's work and the reads below.
        const auto stream = device->adopt_stream(queue);
        const auto x =
            concord::Array<concord::u32>::adopt(*device, {.handle = numbers, .bytes = n * sizeof(cl_uint)});
        concord::sort(*stream, x, x);
        for (const std::size_t end : {0, 1})
            check(clEnqueueReadBuffer(queue, numbers, CL_FALSE, end * (n - 1) * sizeof(cl_uint),
                                      sizeof(cl_uint), &ends[end], 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
        const std::vector<concord::u32> all = x.to_host(*stream);
        is_sorted = std::is_sorted(all.begin(), all.end()) && ends[0] == all.front() && ends[1] == all.back();
    }
    std::cout << device->info().name << ": " << n << " sorted numbers from " << ends[0] << " to " << ends[1]
              << '\n';
    clReleaseKernel(make_numbers);
    clReleaseProgram(program);
    clReleaseMemObject(numbers);
    clReleaseCommandQueue(queue);
    if (is_sorted) return 0;
    std::cerr << "the numbers are not sorted\n";
    return 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
