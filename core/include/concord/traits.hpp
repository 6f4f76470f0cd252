#pragma once
/// @file
/// What a device is (DeviceInfo) and what algorithms plan with (DeviceTraits).

#include <string>
#include <vector>

#include <concord/detail/enum_set.hpp>
#include <concord/types.hpp>

namespace concord {

namespace dlpack {
enum class DeviceType : i32;
}

/// The languages of kernels. Backends may share a language: it says nothing about the API of a device.
enum class Dialect {
    cuda,    ///< CUDA C++, compiled at run time
    opencl,  ///< OpenCL C, compiled at run time
    host     ///< C++, compiled ahead of time
};

/// The name of a language: "CUDA C++", "OpenCL C", "C++".
std::string_view name_of(Dialect dialect);
/// A set of kernel languages, for example `{Dialect::cuda, Dialect::opencl}`.
using Dialects = detail::EnumSet<Dialect>;

/// How a device runs a kernel.
enum class LaunchModel {
    /// Groups of many work-items that synchronise at barriers, as on GPUs. Kernels are compiled from source.
    groups,
    /// One work-item per group processes a contiguous tile with wide vectors, as in OpenCL on CPUs. Kernels are
    /// compiled from source; groups of many work-items run too, but are inefficient.
    single_items,
    /// One call of a function (HostKernel) processes a whole group. Every launch has groups of one work-item. An
    /// operator that exists only as source cannot run.
    host
};
/// A set of launch models.
using LaunchModels = detail::EnumSet<LaunchModel>;

// Another instruction set is an enumerator and a member of the list below, a function of detail::HostEntry with a
// branch in its version(), and a row in core/kernel/host_kernel.cpp. The compiler finds what is missing. No kernel
// changes.

/// Instruction sets that host kernels are compiled for, each with all before it. Concord selects the best one of the
/// machine at run time.
enum class HostIsa {
    baseline,  ///< the compiler's default
    avx2,      ///< AVX2 with FMA and BMI2
    avx512     ///< AVX-512 F, BW, DQ, VL and CD
};
/// All instruction sets.
inline constexpr HostIsa all_host_isas[] = {HostIsa::baseline, HostIsa::avx2, HostIsa::avx512};

/// The name of an instruction set, as in selectors and CONCORD_HOST_ISA: "baseline", "avx2", "avx512".
std::string_view name_of(HostIsa isa);
/// The name of an instruction set for people: "baseline", "AVX2", "AVX-512".
std::string_view title_of(HostIsa isa);

/// Names and versions of a device, for people and logs.
struct DeviceInfo {
    std::string selector;  ///< argument of open_device() for this device: "cuda:0", "opencl:1", "tbb:0"
    std::string backend;   ///< "cuda", "opencl", "tbb"
    std::string name;      ///< "NVIDIA H200"
    std::string driver;    ///< driver and platform with versions; part of the keys of cached kernels
    /// The order in which `auto` prefers devices, lowest first. 0: GPU with a native backend. 1: GPU with another
    /// backend. 2: CPU with a native backend. 3: CPU with another backend.
    u32 rank = 2;
    /// The chip, as tuning tables name it: of a CPU its CPUID vendor, family, model and the instruction set in use, of
    /// a GPU its name, compute capability if known, and the driver's major version. Empty: unknown.
    std::string hardware = {};
    std::string uuid = {};  ///< names the device among all devices of all machines; empty: unknown
};

/// Properties of a device that algorithms plan with. Algorithms never ask for the backend.
struct DeviceTraits {
    Dialect dialect = Dialect::host;         ///< language of the kernels
    LaunchModel launch = LaunchModel::host;  ///< how the device runs kernels
    /// Work-items per group that kernels for groups of many work-items need. Devices with a smaller max_group_size have
    /// LaunchModel::single_items.
    static constexpr u32 min_group_size = 256;
    u32 units = 1;           ///< multiprocessors, compute units or worker threads
    u32 max_group_size = 1;  ///< limit of work-items per group
    u32 max_resident_items =
        1;  ///< work-items that one unit executes concurrently; 1 without LaunchModel::groups
    u32 sub_group_width = 1;  ///< lanes that execute in lock-step (a warp); 1 if unknown or absent
    u64 local_memory = 0;     ///< group-local memory available to one group, in bytes
    u64 global_memory = 0;    ///< device memory in bytes
    u64 max_allocation = 0;   ///< size of the largest buffer that the driver guarantees, in bytes
    /// Bytes of data that stay in cache between two uses: the last-level cache of a GPU, all private L2 caches of a
    /// CPU.
    u64 cache = 0;
    u64 parameter_bytes =
        1024;  ///< total size of a kernel's parameters that every such driver supports, in bytes
    HostIsa host_isa = HostIsa::baseline;  ///< instruction set of host kernels (HostKernel)
    bool shuffles = false;                 ///< lanes of a sub-group can exchange registers
    bool async_copy =
        false;  ///< kernels can copy from global to local memory asynchronously, without using registers
    /// Whether a kernel parameter can be a buffer in constant memory. Otherwise parameters passed by value are
    /// constant.
    bool constant_buffers = false;
    /// Whether the compiler limits registers so that groups of KernelSpec::max_group_size work-items fit. Otherwise
    /// kernels with many registers must use small groups, or keep their tiles in local memory. Devices of OpenCL C must
    /// not set it: with it, launches of `sort` pass local memory for tiles that kernels in OpenCL C declare.
    bool bounds_registers = false;
    bool device_fence = false;  ///< a group can publish memory to another group of the same launch
    bool forward_progress =
        false;  ///< a group that has started keeps running while another group waits for it
    /// Whether kernels can wait for kernels of other devices whose memory they access, by atomic operations.
    bool system_atomics = false;
    bool fp64 = true;  ///< f64 arithmetic is supported
    /// Whether kernels can multiply f64 matrices on tensor cores, by mma.sync in PTX, faster than by f64 arithmetic.
    bool f64_matrix_units = false;
    bool exact_divide_sqrt = true;    ///< f32 divide and square root are correctly rounded
    bool keeps_denormals = true;      ///< arithmetic keeps denormals; otherwise no order is canonical
    bool shares_host_memory = false;  ///< buffers are host memory: host_pointer() is never null
    bool uses_host_memory = false;    ///< kernels can access any host memory without a copy
    bool runs = true;                 ///< false for a device that only compiles ("cuda@sm_90")
    /// DLPack device type of the memory, and so the API that native handles belong to. 0: other libraries cannot use
    /// the memory, and arrays are not exchanged with them (to_dlpack).
    dlpack::DeviceType dlpack_type = {};
};

/// A named value that a driver or a library reports.
struct DeviceProperty {
    std::string name;   ///< the driver's name for it: "MAX_THREADS_PER_BLOCK"
    std::string value;  ///< "1024"
};

}  // namespace concord
