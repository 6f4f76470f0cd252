#pragma once
/// Baselines: what a user would otherwise call, measured beside Concord's variants in the same process.

#include <concord/lab/work.hpp>

#include <string>
#include <vector>

namespace concord::lab {

/// A library's own way to do a piece of work. Rows of a table like variants, but never chosen by `auto`.
struct Baseline {
    std::string algorithm;  ///< whose work it does
    std::string name;       ///< "cub", "tbb"
    std::string library;    ///< with its version: "CUB 3.0.1"
    /// Whether it can do this work (algorithm, operator by its title, types) on this device, and if not, why.
    std::function<detail::Support(const Device&, const Work&)> supports;
    /// Takes what it needs (scratch, plans) and returns the call. The call does the work once: it either puts
    /// it into the stream's native queue and returns, or, on the CPU, does it before it returns.
    std::function<std::function<void()>(Stream&, const Work&, std::span<const View> in,
                                        std::span<const View> out)>
        prepare;
    /// Whether the call blocks until its work is done, so that it is timed by the host's clock.
    bool blocking = false;
    /// Results of floats are not in Concord's order, so they are held to the bounds of OperationOrder::unspecified.
    OperationOrder order = OperationOrder::unspecified;
};

/// The baselines of every module concord-baselines-*.so beside the library, in the order of the modules'
/// names. What cannot be loaded is logged as a warning and left out. Modules are loaded the first time.
const std::vector<Baseline>& baselines();

/// The entry point of such a module.
#define CONCORD_BASELINE_MODULE(FUNCTION)                                       \
    extern "C" __attribute__((visibility("default"))) void concord_baselines_1( \
        std::vector<concord::lab::Baseline>& list) {                            \
        FUNCTION(list);                                                         \
    }

/// The address of a view's first element as CUDA and the CPU know it (OpenCL: Buffer::native_handle() and an
/// offset).
template <class T>
T* native_pointer(const View& view) {
    return reinterpret_cast<T*>(static_cast<char*>(view.buffer->native_handle()) + view.offset);
}

}  // namespace concord::lab
