#include "opencl_kernel.hpp"

#include "opencl_device.hpp"
#include "opencl_pocl.hpp"
#include "opencl_traits.hpp"

namespace concord::opencl {
namespace {

constexpr const char* launch_call = "Stream::launch";

template <class T>
T kernel_value(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info question) {
    T value{};
    // A driver that does not know the value leaves zero.
    static_cast<void>(cl().clGetKernelWorkGroupInfo(kernel, device, question, sizeof value, &value, nullptr));
    return value;
}

// The element type for a type name of OpenCL or Concord, "uint" or "u32*". Empty for other types.
std::optional<Type> type_of_parameter(std::string_view name) {
    if (!name.empty() && name.back() == '*') name.remove_suffix(1);
    return detail::type_spelled(name);
}

}  // namespace

OpenClKernel::OpenClKernel(OpenClDevice& device, std::string name, KernelHandle kernel)
    : device_(device),
      name_(std::move(name)),
      label_(name_ + " on " + device.info().selector),
      kernel_(std::move(kernel)) {
    const cl_device_id id = device.id();
    cl_uint count = 0;
    check(cl().clGetKernelInfo(kernel_.get(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr),
          "Device::compile", "clGetKernelInfo");
    for (cl_uint place = 0; place < count; ++place)
        signature_.push_back(parameter(place));
    const auto sizes = ask_value<std::array<std::size_t, 3>>(id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
    limits_ = {.size = group_limit_of(kernel_.get(), id),
               .sizes = {sizes[0], sizes[1], sizes[2]},
               .local_memory = device_.traits().local_memory,
               .static_local = kernel_value<cl_ulong>(kernel_.get(), id, CL_KERNEL_LOCAL_MEM_SIZE)};
    private_bytes_ = kernel_value<cl_ulong>(kernel_.get(), id, CL_KERNEL_PRIVATE_MEM_SIZE);
    max_global_ = ask_value<cl_uint>(id, CL_DEVICE_ADDRESS_BITS) == 32 ? ~u32{0} : ~u64{0};
    copies_ = is_pocl_cpu(id) ? Copies::of_text(text_of(kernel_.get()) + name_) : Copies::of_one_kernel();
}

OpenClKernel::~OpenClKernel() {
    const bool tracked = copies_->tracked();
    copies_.reset();
    if (tracked) Copies::sweep();
}

KernelAttributes OpenClKernel::attributes() const {
    KernelAttributes attributes;
    attributes.local_bytes = static_cast<i64>(limits_.static_local);
    attributes.spill_bytes = static_cast<i64>(private_bytes_);
    attributes.max_group_size = static_cast<i64>(limits_.size);
    return attributes;
}

Grid OpenClKernel::grid_of(const LaunchShape& shape) const {
    const std::array<u64, 3> groups = {shape.groups_x, shape.groups_y, shape.groups_z};
    const std::array<u64, 3> group_size = {shape.group_size_x, shape.group_size_y, shape.group_size_z};
    Grid grid{.dimensions = 1, .global = {}, .local = {}};
    for (std::size_t i = 0; i < 3; ++i) {
        if (groups[i] > max_global_ / group_size[i])
            backend::refuse_launch(label_, "grid too large, got " + std::to_string(groups[i]) +
                                               " groups of " + std::to_string(group_size[i]) +
                                               " work-items in one dimension; the limit is " +
                                               std::to_string(max_global_) + " work-items");
        grid.global[i] = groups[i] * group_size[i];
        grid.local[i] = group_size[i];
        if (grid.global[i] > 1) grid.dimensions = static_cast<cl_uint>(i + 1);
    }
    return grid;
}

// Needed for checks: PoCL accepts values of a wrong size, and crashes on a value that is passed for a buffer.
OpenClKernel::Parameter OpenClKernel::parameter(cl_uint place) const {
    Parameter parameter;
    cl_kernel_arg_address_qualifier space = 0;
    char type[32] = {};
    if (cl().clGetKernelArgInfo(kernel_.get(), place, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                                nullptr) != CL_SUCCESS)
        return parameter;
    parameter.kind = space == CL_KERNEL_ARG_ADDRESS_PRIVATE ? Parameter::Kind::value
                     : space == CL_KERNEL_ARG_ADDRESS_LOCAL ? Parameter::Kind::local
                                                            : Parameter::Kind::buffer;
    if (cl().clGetKernelArgInfo(kernel_.get(), place, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr) ==
        CL_SUCCESS)
        parameter.type = type_of_parameter(type);
    return parameter;
}

// The arguments of a launch. A buffer's offset and local memory are parameters of the OpenCL kernel only.
std::vector<KernelParameter> OpenClKernel::parameters() const {
    std::vector<KernelParameter> parameters;
    for (std::size_t place = 0; place < signature_.size(); ++place) {
        const Parameter& parameter = signature_[place];
        if (parameter.kind == Parameter::Kind::unknown) return {};
        if (parameter.kind == Parameter::Kind::local) continue;
        const bool is_buffer = parameter.kind == Parameter::Kind::buffer;
        parameters.push_back({.is_buffer = is_buffer, .type = parameter.type});
        if (!is_buffer) continue;
        // A kernel without a u64 after a buffer does not follow Concord's convention: its arguments are unknown.
        if (++place == signature_.size() || signature_[place].kind != Parameter::Kind::value ||
            signature_[place].type != Type::u64)
            return {};
    }
    return parameters;
}

void OpenClKernel::set(cl_kernel kernel, cl_uint place, Parameter::Kind kind, std::size_t size,
                       const void* value) const {
    const Parameter& wanted = signature_[place];
    const std::size_t wanted_size = wanted.type ? size_of(*wanted.type) : 0;
    const bool fits =
        wanted.kind == Parameter::Kind::unknown ||
        (wanted.kind == kind && (kind != Parameter::Kind::value || wanted_size == 0 || wanted_size == size));
    const cl_int status = fits ? cl().clSetKernelArg(kernel, place, size, value) : CL_INVALID_ARG_VALUE;
    if (status == CL_SUCCESS) [[likely]]
        return;
    constexpr const char* kinds[] = {"an argument", "a value", "a buffer", "group-local memory"};
    auto describe = [&](Parameter::Kind what, std::size_t bytes) {
        const std::string text = kinds[static_cast<std::size_t>(what)];
        return what == Parameter::Kind::value && bytes > 0 ? text + " of " + std::to_string(bytes) + " bytes"
                                                           : text;
    };
    fail(status, launch_call,
         name_ + ": parameter " + std::to_string(place) + " of the OpenCL kernel is " +
             describe(wanted.kind, wanted_size) + ", got " + describe(kind, size));
}

cl_kernel OpenClKernel::copy(std::size_t number) const {
    if (number == 0) return kernel_.get();
    if (more_.size() < number) more_.resize(number);
    KernelHandle& kernel = more_[number - 1];
    if (!kernel) kernel = compile_copy(device_, kernel_.get(), name_, number);
    return kernel.get();
}

void OpenClKernel::set_arguments(cl_kernel kernel, const LaunchShape& shape,
                                 std::span<const KernelArgument> arguments) const {
    cl_uint place = 0;
    for (const KernelArgument& argument : arguments) {
        if (argument.buffer == nullptr) {
            set(kernel, place++, Parameter::Kind::value, argument.size, argument.value);
            continue;
        }
        const cl_mem memory = static_cast<const OpenClMemory&>(backend::memory_of(*argument.buffer)).memory();
        const cl_ulong offset = argument.offset / argument.element_size;
        set(kernel, place++, Parameter::Kind::buffer, sizeof memory, &memory);
        set(kernel, place++, Parameter::Kind::value, sizeof offset, &offset);
    }
    if (shape.local_bytes > 0) set(kernel, place++, Parameter::Kind::local, shape.local_bytes, nullptr);
}

template <class Set>
void OpenClKernel::enqueue_with(cl_command_queue queue, const LaunchShape& shape, const Set& set,
                                cl_event* event) const {
    const Grid grid = grid_of(shape);

    const std::lock_guard lock(copies_->mutex());
    const std::size_t number = copies_->tracked() ? copies_->number_for(queue, grid) : 0;
    // PoCL compiles for each group size and for small or large grids.
    if (copies_->tracked() && !(grid == last_grid_)) {
        check_pocl(launch_call);
        last_grid_ = grid;
    }
    const cl_kernel kernel = copy(number);
    set(kernel);
    EventHandle run;
    if (event == nullptr && copies_->tracked()) event = run.out();
    const cl_int status = cl().clEnqueueNDRangeKernel(
        queue, kernel, grid.dimensions, nullptr, grid.global.data(), grid.local.data(), 0, nullptr, event);
    if (status != CL_SUCCESS) [[unlikely]]
        fail(status, launch_call,
             name_ + ": clEnqueueNDRangeKernel failed for " + std::to_string(shape.groups_x) + " x " +
                 std::to_string(shape.groups_y) + " x " + std::to_string(shape.groups_z) + " groups of " +
                 std::to_string(shape.group_size_x) + " x " + std::to_string(shape.group_size_y) + " x " +
                 std::to_string(shape.group_size_z) + " work-items");
    if (!copies_->tracked()) return;
    if (!run) {
        check(cl().clRetainEvent(*event), launch_call, "clRetainEvent");
        run = EventHandle(*event);
    }
    copies_->launched(number, queue, grid, std::move(run));
}

void OpenClKernel::enqueue(cl_command_queue queue, const LaunchShape& shape,
                           std::span<const KernelArgument> arguments, cl_event* event) const {
    backend::check_group(label_, limits_, shape);
    std::size_t given = shape.local_bytes > 0 ? 1 : 0;
    for (const KernelArgument& argument : arguments)
        given += argument.buffer != nullptr ? 2 : 1;
    backend::check_argument_count(label_, given, signature_.size(),
                                  "OpenCL parameters (a buffer counts twice, local memory once)");

    enqueue_with(
        queue, shape, [&](cl_kernel kernel) { set_arguments(kernel, shape, arguments); }, event);
}

void OpenClKernel::enqueue_fill(cl_command_queue queue, const LaunchShape& shape, cl_mem memory, u64 offset,
                                u64 bytes, u64 value, cl_event* event) const {
    const auto set_all = [&](cl_kernel kernel) {
        set(kernel, 0, Parameter::Kind::buffer, sizeof memory, &memory);
        cl_uint place = 1;
        for (const cl_ulong number : {cl_ulong{offset}, cl_ulong{bytes}, cl_ulong{value}})
            set(kernel, place++, Parameter::Kind::value, sizeof number, &number);
    };
    enqueue_with(queue, shape, set_all, event);
}

}  // namespace concord::opencl
