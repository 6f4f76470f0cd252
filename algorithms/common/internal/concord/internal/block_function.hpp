#pragma once
// Operators as arguments of host kernels. A kernel whose remaining code does not depend on the operator is compiled
// once. It calls the operator for a block of elements at a time.

#include <concord/host_kernel.hpp>
#include <concord/span.hpp>

namespace concord::detail::host {

// The bound values of an operator, whose type is unknown. The last parameter of a kernel.
struct OperatorValues {};

// A host kernel for the elements of a block, with the operator's values as its last parameter, in the version for the
// instruction set `isa`.
struct BlockFunction {
    HostKernel::Entry entry;
    HostIsa isa;

    // The arguments have exactly the types of the kernel's parameters, except for what pointers point to.
    template <class... A>
    [[gnu::always_inline]] void operator()(const Group& group, const OperatorValues& values,
                                           const A&... arguments) const {
        const void* const list[] = {&arguments..., &values};
        entry(group, list);
    }
    // The function as an argument of a launch. Refers to this object, which must live until the launch returns.
    ValueBytes argument() const { return {std::as_bytes(std::span(this, 1))}; }
};

}  // namespace concord::detail::host
