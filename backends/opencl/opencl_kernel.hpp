#pragma once
// A compiled kernel and how it is launched.

#include "opencl_copies.hpp"
#include "opencl_program.hpp"

#include <concord/backend/launch_limits.hpp>
#include <concord/backend/queue.hpp>

#include <array>

namespace concord::opencl {

class OpenClKernel final : public backend::Kernel {
  public:
    OpenClKernel(OpenClDevice& device, std::string name, KernelHandle kernel);
    ~OpenClKernel() override;
    KernelAttributes attributes() const override;
    std::vector<KernelParameter> parameters() const override;

    // Limit of work-items per group.
    u64 max_group_size() const { return limits_.size; }
    // Throws invalid_argument if the launch does not fit the kernel or the device. `event` is null or receives the
    // command's event.
    void enqueue(cl_command_queue queue, const LaunchShape& shape, std::span<const KernelArgument> arguments,
                 cl_event* event) const;
    // The same for the kernel of fill(), whose arguments are a cl_mem and three numbers.
    void enqueue_fill(cl_command_queue queue, const LaunchShape& shape, cl_mem memory, u64 offset, u64 bytes,
                      u64 value, cl_event* event) const;

  private:
    // What the compiler reports about a parameter. Drivers that report nothing check arguments themselves.
    struct Parameter {
        enum class Kind { unknown, value, buffer, local } kind = Kind::unknown;
        std::optional<Type> type = {};  // of the value or the elements; empty: not an element type
    };
    Grid grid_of(const LaunchShape& shape) const;
    // set: sets the arguments of a cl_kernel.
    template <class Set>
    void enqueue_with(cl_command_queue queue, const LaunchShape& shape, const Set& set,
                      cl_event* event) const;
    void set_arguments(cl_kernel kernel, const LaunchShape& shape,
                       std::span<const KernelArgument> arguments) const;
    Parameter parameter(cl_uint place) const;
    void set(cl_kernel kernel, cl_uint place, Parameter::Kind kind, std::size_t size,
             const void* value) const;
    cl_kernel copy(std::size_t number) const;

    OpenClDevice& device_;
    std::string name_;
    std::string label_;  // name and device, for messages
    KernelHandle kernel_;
    std::vector<Parameter> signature_;
    backend::GroupLimits limits_;
    u64 max_global_ = 0;  // limit of work-items in a launch, by dimension
    u64 private_bytes_ = 0;
    // A cl_kernel holds its arguments until it is enqueued, so that launches hold the copies' mutex.
    std::shared_ptr<Copies> copies_;
    // Of the last launch. With the lock of copies_, like more_.
    mutable Grid last_grid_{};
    mutable std::vector<KernelHandle> more_;  // copies by number - 1; null: not yet compiled
};

}  // namespace concord::opencl
