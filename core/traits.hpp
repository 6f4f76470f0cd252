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
    bool compiles_text = false;  ///< kernels and operators given as text can be compiled at run time
    bool shuffles = false;       ///< lanes of a sub-group can exchange registers
    bool device_fence = false;   ///< a group may publish memory that another group of the same launch reads
    bool forward_progress = false;    ///< a group that has started keeps running while another spins
    bool fp64 = true;                 ///< f64 arithmetic
    bool exact_divide_sqrt = true;    ///< f32 divide and square root are correctly rounded
    bool shares_host_memory = false;  ///< buffers are host memory: host_pointer() is never null
    bool runs = true;                 ///< false for a device that only compiles ("cuda@sm_90")
};

/// One line of what the driver tells of a device.
struct Property {
    std::string name;
    std::string value;
};

}  // namespace concord
