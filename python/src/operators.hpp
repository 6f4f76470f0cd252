#pragma once
// Functions and kernels of the user from text.

#include "array.hpp"

#include <concord/segmented_reduce.hpp>

#include <initializer_list>
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

// The arguments op and identity of a call that combines elements: a built-in operator, or a function of the user.
class Combination {
  public:
    // elements: of the argument `what`, whose type a function must have. Raises InvalidArgument.
    Combination(const char* call, nb::handle op, nb::handle identity, const Argument& elements,
                const char* what);

    bool is_own() const { return function_ != nullptr; }
    // The built-in operator.
    ReduceOp known() const { return known_; }
    // Of a function. They live as long as this object.
    const Operator& op() const { return *op_; }
    detail::ValueBytes values() const { return {values_}; }
    detail::ValueBytes identity() const { return {identity_}; }
    // Checks the identity of a function, and compiles its kernels for these uses where the device needs them. After
    // Call::begin().
    void begin(Call& call, std::initializer_list<const char*> uses);
    // The function's kernels for the use of that number; null on devices that compile source.
    template <class Kernels>
    const Kernels* host(std::size_t use = 0) const {
        return static_cast<const Kernels*>(hosts_.at(use));
    }
    // The reduction of segments. Without offsets, which the call adds.
    detail::SegmentedReduceProblem segments(const detail::Input& in, const View& offsets,
                                            const View& out) const;

  private:
    const char* call_;
    FunctionObject* function_ = nullptr;
    const Operator* op_ = nullptr;
    ReduceOp known_ = ReduceOp::sum;
    std::vector<std::byte> values_, identity_;
    std::vector<const void*> hosts_;
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
