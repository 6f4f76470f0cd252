#pragma once
/// What a device is (DeviceInfo) and how algorithms should plan for it (DeviceTraits).

#include <string>
#include <vector>

#include <concord/types.hpp>

namespace concord {

/// The three languages that a kernel is written in.
enum class Dialect { cuda, opencl, host };

std::string_view name_of(Dialect dialect);

/// For people and for logs.
struct DeviceInfo {
    std::string selector;  ///< what opens this device again: "cuda:0", "opencl:1", "tbb"
    std::string backend;   ///< "cuda", "opencl", "tbb"
    std::string name;      ///< "NVIDIA H200"
    std::string driver;    ///< driver and platform with versions; part of kernel cache keys
    /// `auto` takes the lowest: 0 a GPU by its own backend, 1 a GPU by another, 2 the CPU by its own, 3 by
    /// another.
    u32 rank = 2;
};

/// For planning. Algorithms look at these and never at the backend.
struct DeviceTraits {
    Dialect dialect = Dialect::host;
    /// true: groups of many work-items that meet at barriers (GPUs). false: one work-item per group, each working through
    /// a contiguous tile with wide vectors (oneTBB, OpenCL on a CPU).
    bool many_items = false;
    u32 units = 1;           ///< multiprocessors, compute units or worker threads
    u32 max_group_size = 1;  ///< most work-items of a group
    u32 max_resident_items =
        1;                    ///< most work-items that one unit holds at once (one where many_items is false)
    u32 sub_group_width = 1;  ///< lanes that run in lock-step (a warp); 1 if there is no such thing
    u64 local_memory = 0;     ///< bytes of group-local memory that one group may use
    u64 global_memory = 0;    ///< bytes of the device
    u64 max_allocation = 0;   ///< bytes of the largest single buffer
    u64 cache =
        0;  ///< bytes past which data will not stay close: last-level on a GPU, all private L2 on a CPU
    u64 parameter_bytes = 1024;  ///< bytes of a kernel's parameters that every driver of this kind takes
    /// Kernels and operators are compiled from source at run time. Else kernels are functions (HostKernel), and an
    /// operator that is text alone cannot run.
    bool compiles_source = false;
    /// One call of the kernel does a whole group's work: every launch has groups of one work-item, and the kernel
    /// loops. Else groups of many work-items run too, even where many_items says that they do not pay off.
    bool serial_groups = false;
    bool shuffles = false;  ///< lanes of a sub-group can exchange registers
    /// Kernels start copies from global to local memory that take no registers, and wait for them later.
    bool async_copy = false;
    /// A parameter may be a buffer in constant memory. Else parameters that are values lie there.
    bool constant_buffers = false;
    /// The compiler gives work-items only as many registers as leave room for KernelSpec::max_group_size of them.
    /// Else a kernel that wants many registers has to keep to small groups, or to keep its tile in local memory.
    bool bounds_registers = false;
    bool device_fence = false;  ///< a group may publish memory that another group of the same launch reads
    bool forward_progress = false;    ///< a group that has started keeps running while another spins
    bool fp64 = true;                 ///< f64 arithmetic
    bool exact_divide_sqrt = true;    ///< f32 divide and square root are correctly rounded
    bool shares_host_memory = false;  ///< buffers are host memory: host_pointer() is never null
    bool uses_host_memory = false;    ///< kernels work in memory of the caller's, without a copy
    bool runs = true;                 ///< false for a device that only compiles ("cuda@sm_90")
};

/// One line of what the driver tells of a device.
struct DeviceProperty {
    std::string name;
    std::string value;
};

}  // namespace concord
