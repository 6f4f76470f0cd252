#pragma once
// Functions and kernels of the user from text.

#include "array.hpp"

#include <map>
#include <set>

namespace concord::python {

// One value of the element type. Raises InvalidArgument, which names the value.
std::vector<std::byte> value_bytes(const char* call, const char* name, nb::handle value, Type type);
// The kernels of a library that concord._host has compiled or found in the cache, as its address of them says.
inline const void* kernels_at(nb::handle address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): Python passes addresses as integers
    return reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(address));
}

// concord.Function: a definition, bound values, its operators by number of free parameters, and kernels for the CPU.
class FunctionObject {
  public:
    explicit FunctionObject(const std::string& text);

    const Operator& whole() const { return whole_; }
    const std::string& text() const { return text_; }
    // The same function with values for its last parameters.
    FunctionObject bind(const nb::args& values) const;
    // The values that are bound.
    const std::vector<nb::object>& values() const { return values_; }
    // The operator whose first `free` parameters are elements. Throws unless the others are bound.
    const Operator& with(const char* call, std::size_t free);
    // The bound values as the C struct that kernels receive.
    std::vector<std::byte> packed(const char* call, const Operator& op) const;
    // Throws unless op(identity, identity) is the identity. Runs the call `reduce` on two such elements, which combines
    // them with more of them, once for each identity and device.
    void check_identity(const char* call, const Operator& op, std::span<const std::byte> values,
                        std::span<const std::byte> identity, Device& device);
    // The kernels for "map", "reduce" or "scan" on a device that does not compile source; null on others. Compiles them
    // with the compiler of the system at the first use.
    const void* host(Device& device, const char* use, std::size_t free);

  private:
    struct Shared {
        std::map<std::size_t, Operator> by_free;
        std::map<std::string, const void*> host;
        std::set<std::string> identities;  // that were checked: device, bound values, identity
    };
    Operator whole_;
    std::string text_;
    std::vector<nb::object> values_;
    std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

// concord.Kernel: a kernel over an index space, or of groups.
class KernelObject {
  public:
    // group_size: empty for a kernel over an index space.
    KernelObject(const std::string& text, const std::vector<i64>& group_size);

    const TextKernel& kernel() const { return shared_->kernel; }
    const std::string& text() const { return text_; }
    // Runs it for each index or group. `arguments` are those after the index.
    void call(nb::handle extents, const nb::args& arguments, const Common& common);

  private:
    // The kernel for the device. On a device that does not compile source its body is compiled with the compiler of the
    // system at the first use.
    const TextKernel& on(Device& device);

    struct Shared {
        TextKernel kernel;
        std::optional<TextKernel> on_host;
    };
    TextKernel made(const HostKernel& host) const;

    std::string text_;
    std::vector<i64> group_size_;
    std::shared_ptr<Shared> shared_;
};

}  // namespace concord::python
