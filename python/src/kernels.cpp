// Kernels of the user from text: concord.kernel.
#include "operators.hpp"

#include <concord/text_kernel.hpp>

using namespace nanobind::literals;

namespace concord::python {

namespace {

// One integer or several as counts.
std::vector<i64> counts_of(const char* call, const char* what, nb::handle object) {
    std::vector<i64> counts;
    if (PyIndex_Check(object.ptr()) != 0) {
        counts.push_back(keyword<i64>(call, what, object, "an integer"));
    } else {
        counts = keyword<std::vector<i64>>(call, what, object, "one to three integers");
    }
    if (counts.empty() || counts.size() > 3)
        refuse(call, std::string(what) + ": got " + short_text(object) + "; expected one to three integers");
    for (const i64 count : counts) {
        if (count < 0)
            refuse(call, std::string(what) + ": got " + short_text(object) +
                             "; expected counts that are not negative");
    }
    return counts;
}

AnyExtents extents_of(const std::vector<i64>& counts) {
    if (counts.size() == 1) return counts[0];
    if (counts.size() == 2) return {counts[0], counts[1]};
    return {counts[0], counts[1], counts[2]};
}

}  // namespace

KernelObject::KernelObject(const std::string& text, const std::vector<i64>& group_size)
    : text_(text), group_size_(group_size), shared_(std::make_shared<Shared>(Shared{made({}), {}})) {}

TextKernel KernelObject::made(const HostKernel& host) const {
    return group_size_.empty() ? index_kernel_from_text(text_, host)
                               : group_kernel_from_text(text_, extents_of(group_size_), host);
}

const TextKernel& KernelObject::on(Device& device) {
    if (device.traits().launch != LaunchModel::host) return kernel();
    if (!shared_->on_host) {
        const nb::object compile = nb::module_::import_("concord._host").attr("compile_kernel");
        const auto* host = static_cast<const HostKernel*>(kernels_at(
            in_python([&] { return compile(text_, kernel().name(), nb::tuple(nb::cast(group_size_))); })));
        // Another thread may have been here while Python code ran. Calls of it use its kernel.
        if (!shared_->on_host) shared_->on_host = made(*host);
    }
    return *shared_->on_host;
}

void KernelObject::call(nb::handle extents, const nb::args& arguments, const Common& common) {
    const char* const name = kernel().name().c_str();
    const std::vector<TextKernel::Parameter>& parameters = kernel().parameters();
    const char* const what = kernel().rank() > 0 ? "extents" : "groups";
    const std::vector<i64> list_of_counts = counts_of(name, what, extents);
    if (kernel().rank() > 0 && list_of_counts.size() != kernel().rank())
        refuse(name, "extents: got " + short_text(extents) + "; " + kernel().signature() + " has " +
                         std::to_string(kernel().rank()) +
                         (kernel().rank() == 1 ? " dimension" : " dimensions"));
    const AnyExtents counts = extents_of(list_of_counts);
    if (arguments.size() != parameters.size())
        refuse(name, "got " + std::to_string(arguments.size()) + " arguments after the " + what + "; " +
                         kernel().signature() + " takes " + std::to_string(parameters.size()));
    Call call(name, common);
    std::vector<const Argument*> buffers(parameters.size());
    std::vector<std::vector<std::byte>> values(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const TextKernel::Parameter& parameter = parameters[i];
        if (!parameter.is_buffer) {
            values[i] = value_bytes(name, parameter.name.c_str(), arguments[i], parameter.type);
            continue;
        }
        const bool writes = !parameter.is_const;
        const Argument& buffer = call.buffer(arguments[i], parameter.name.c_str(), writes);
        // Kernels might write other bytes than 0 and 1.
        if (buffer.type() != parameter.type || (buffer.boolean() && writes))
            refuse(name, parameter.name + " has dtype " + buffer.dtype() + "; expected " +
                             numpy_name(parameter.type) + ", " + kernel().signature());
        buffers[i] = &buffer;
    }
    call.begin();
    const TextKernel& kernel = on(call.device());
    std::vector<KernelArgument> list;
    std::shared_ptr<Buffer> nothing;  // in place of arrays without elements
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const TextKernel::Parameter& parameter = parameters[i];
        if (buffers[i] == nullptr) {
            list.push_back({.value = values[i].data(),
                            .size = static_cast<u32>(values[i].size()),
                            .type = parameter.type});
            continue;
        }
        const Tensor& tensor = buffers[i]->tensor();
        if (!tensor.contiguous())
            refuse(name, parameter.name + ": elements are not contiguous, got the shape " +
                             text_of(tensor.shape()) + "; pass a copy in row-major order");
        View view = buffers[i]->view();
        if (view.buffer == nullptr) {
            if (!nothing) nothing = call.stream().scratch(sizeof(u64));
            view = {nothing.get(), 0, 0, parameter.type};
        }
        if (buffers[i]->boolean()) call.run([&] { view = call.truths(view); });
        list.push_back(detail::argument(view));
    }
    call.run([&] { detail::run_kernel(call.stream(), kernel.definition(), counts.values(), list); });
}

void define_kernels(nb::module_& m) {
    nb::class_<KernelObject>(
        m, "Kernel",
        "A kernel over an index space or of work-groups from text, made by kernel(). Call it to run it.")
        .def_prop_ro(
            "name", [](const KernelObject& k) { return k.kernel().name(); }, "Name in the text.")
        .def_prop_ro(
            "text", [](const KernelObject& k) { return k.text(); }, "The text.")
        .def_prop_ro(
            "signature", [](const KernelObject& k) { return k.kernel().signature(); },
            "Types of the parameters, such as wave(u64, u64, f32*, const f32*, f32).")
        .def_prop_ro(
            "rank", [](const KernelObject& k) { return k.kernel().rank(); },
            "Number of dimensions of the index space: 1, 2 or 3. 0: a kernel of work-groups.")
        .def("__repr__",
             [](const KernelObject& k) { return "<concord.Kernel " + k.kernel().signature() + ">"; })
        .def(
            "__call__",
            [](KernelObject& k, nb::handle extents, const nb::args& arguments, nb::handle device,
               nb::handle stream) {
                k.call(extents, arguments, {device, stream, {}, {}});
            },
            "extents"_a, "arguments"_a, "device"_a = nb::none(), "stream"_a = nb::none(),
            nb::sig("def __call__(self, extents: int | Sequence[int], *arguments: _Values, "
                    "device: _Device | None = None, stream: Any = None) -> None"),
            "Runs the body for each index x < extents[0], y < extents[1], z < extents[2], or for so\n"
            "many work-groups. One dimension also as an integer.\n"
            "arguments: those after the index. Pointers take arrays, which the kernel changes in place\n"
            "unless they are const. Elements are in row-major order.");
    m.def(
        "kernel",
        [](const std::string& text, nb::handle group_size) {
            return KernelObject(text, group_size.is_none() ? std::vector<i64>()
                                                           : counts_of("kernel", "group_size", group_size));
        },
        "text"_a, "group_size"_a = nb::none(),
        nb::sig("def kernel(text: str, group_size: int | Sequence[int] | None = None) -> Kernel"),
        "A kernel over an index space from its definition, for example\n"
        "'void scale(u64 i, f32* x, f32 a) { x[i] *= a; }'. The leading one, two or three parameters\n"
        "of type u64 are the index. The others are values, and pointers to arrays, const for those\n"
        "that are only read. Work-items run in any order and at the same time. It runs on every\n"
        "device, like the functions of function().\n"
        "group_size: one to three integers for a kernel of work-groups with local memory. Its text\n"
        "has no index, and its body consists of phases, as that of CONCORD_GROUP_KERNEL. 0: the\n"
        "device chooses. Calls start with the numbers of groups.");
}

}  // namespace concord::python
