#pragma once
// Preconditions of test cases. REQUIRES skips the rest of a case and records the reason. At the end of a run,
// skip_report.cpp prints all skips. It fails the run if they differ from the program's table of skips, or if a case
// neither asserts anything nor is skipped.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord::test {

// What cases may require.
namespace needs {
inline constexpr std::string_view                                           //
    host_memory = "buffers in host memory",                                 //
    own_memory = "memory that the host cannot access",                      //
    compiler = "kernels that are compiled at run time",                     //
    host_kernels = "kernels that are functions of this program",            //
    opencl = "OpenCL C",                                                    //
    opencl_memory = "memory of OpenCL",                                     //
    parameter_types = "a compiler that reports the parameters of kernels",  //
    fp64 = "f64 arithmetic",                                                //
    matrix_units = "tensor cores for f64",                                  //
    many_items = "many work-items per group",                               //
    partitioned = "the variant 'partitioned' of scan",                      //
    two_units = "two compute units",                                        //
    tbb = "the oneTBB device",                                              //
    another_device = "a device next to the oneTBB device",                  //
    sibling = "a second device of the backend",                             //
    reachable = "a second device of the backend with peer access",          //
    cuda = "a CUDA device",                                                 //
    second_cuda = "a second CUDA device",                                   //
    simulated_cuda = "the simulated CUDA driver",                           //
    real_cuda = "a CUDA driver that runs kernels",                          //
    two_in_platform = "an OpenCL platform with two devices",                //
    svm = "shared virtual memory of OpenCL",                                //
    opencl_headers = "CL/cl.h in the build (apt-get install opencl-headers)",
    cuda_headers = "cuda.h in the build (set CONCORD_CUDA_INCLUDE)",
    nvrtc = "NVRTC (install it, or set CONCORD_NVRTC)",
    cuda_toolkit = "headers of CUDA's toolkit (install it, or set CUDA_HOME)",
    cuda_mma = "crt/mma.h of CUDA's toolkit (or of nvidia-cuda-nvcc-cu12, next to NVRTC's PyPI package)",
    comma_locale = "a locale with a decimal comma (apt-get install locales)",
    numpy = "NumPy (apt-get install python3-numpy)",
    test_modules = "modules for tests (set CONCORD_TEST_MODULES to the build's test-modules)";
}  // namespace needs

// Kinds of devices, as flags.
namespace kinds {
inline constexpr unsigned none = 1,  // a case without a device
    tbb = 2,                         //
    tbb_isa = 4,                     // a selector such as tbb@avx2, next to tbb
    opencl = 8,                      // one work-item per group
    opencl_many = 16,                // many work-items per group
    cuda = 32,                       //
    cuda_simulated = 64,             // kernels do nothing
    cuda_compiler = 128,             // only compiles
    minimal = 256,                   // tests/backend/minimal
    other = 512;                     // another backend; its skips are not compared with the table
}

// Cases that are skipped for one reason.
struct SkipRule {
    std::string_view need = {};  // the requirement
    unsigned on = 0;             // kinds of devices on which the cases are always skipped
    unsigned maybe_on = 0;       // kinds of devices on which they may be skipped
    std::vector<std::string_view> cases = {};
};

// The program's table of skips: all that are expected. Every program of tests defines it.
std::span<const SkipRule> skip_rules();

// Records that the rest of the current case is skipped.
void skip_case(std::string_view need);

// Number of assertions so far, on all threads.
std::size_t assertions();

// Assigns assertions and skips to a device during its life.
class OnDevice {
  public:
    OnDevice(const std::string& selector, unsigned kind);
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

// Prints the skips after a run of doctest that ended with `status`. Returns the status of the program: 1 if the run or
// the table of skips is wrong, and 77, which ctest shows as skipped, if all cases were skipped.
int report_skips(int status);

}  // namespace concord::test

// Skips the rest of a case unless the condition holds. The need is one of concord::test::needs.
#define REQUIRES(CONDITION, NEED)           \
    do {                                    \
        if (!(CONDITION)) {                 \
            concord::test::skip_case(NEED); \
            return;                         \
        }                                   \
    } while (false)
