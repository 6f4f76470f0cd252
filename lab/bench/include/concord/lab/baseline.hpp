#pragma once
/// @file
/// Baselines: other libraries' implementations, measured next to Concord's variants in the same process.

#include <concord/lab/work.hpp>

#include <functional>
#include <string>
#include <vector>

namespace concord::lab {

/// Another library's implementation of a piece of work. `auto` never chooses it.
struct Baseline {
    std::string algorithm;  ///< name of the suite whose work it does
    std::string name;       ///< name of the row: "cub", "tbb"
    std::string library;    ///< library with its version: "CUB 3.0.1"
    std::string backend;    ///< backend of the devices that it runs on: "cuda"
    /// Name of the library's function that does this work: "cub::DeviceReduce::Sum". Empty: unknown.
    std::function<std::string(const Work&)> call = {};
    /// Whether it supports this work (algorithm, operator by its title, types) on this device, and the reason if not.
    std::function<detail::Support(const Device&, const Work&)> supports;
    /// Allocates scratch buffers and plans, and returns the call. The call does the work once: it enqueues the work on
    /// the stream's native queue or, on the CPU, completes it before it returns.
    std::function<std::function<void()>(Stream&, const Work&, std::span<const View> in,
                                        std::span<const View> out)>
        prepare;
    /// Whether the call blocks until its work is complete. Then the host clock times it.
    bool blocking = false;
    /// How the library's contract differs from Concord's, such as "finds bins by divisions, which may round to a
    /// neighbour". Its results may differ then. The row shows its time and the number of results that differ. Empty:
    /// the contracts agree, and a result that differs is wrong.
    std::string contract = {};
    /// Order of operations, which selects the error bounds of float results.
    OperationOrder order = OperationOrder::unspecified;
};

/// The baselines of all modules concord-baselines-*.so, by folder and name. They are searched where backends are. Loads
/// the modules on first use. Logs a warning for a module that does not load or fails, and ignores it.
const std::vector<Baseline>& baselines();

/// Defines the entry point of a module of baselines. FUNCTION takes the list and appends to it.
#define CONCORD_BASELINE_MODULE(FUNCTION)                                       \
    extern "C" __attribute__((visibility("default"))) void concord_baselines_3( \
        std::vector<concord::lab::Baseline>& list) {                            \
        FUNCTION(list);                                                         \
    }

/// The address of a view's first element on CUDA devices and on the CPU. OpenCL has no such address: use
/// Buffer::native_handle() and an offset there.
template <class T>
T* native_pointer(const View& view) {
    return reinterpret_cast<T*>(static_cast<char*>(view.buffer->native_handle()) + view.offset);
}

}  // namespace concord::lab
