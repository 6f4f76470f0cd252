#pragma once
// The CPU as a device: groups are oneTBB tasks, memory is host memory.

#include <concord/backend.hpp>

#include <tbb/task_arena.h>

namespace concord::tbb_backend {

/// 64-byte aligned host memory; see tbb_memory.cpp for where it starts.
class HostMemory final : public Buffer {
  public:
    HostMemory(Device& device, Kind kind, u64 bytes);
    ~HostMemory() override;
    void* host_pointer() noexcept override { return base_; }

  private:
    void* mapping_ = nullptr;
    u64 mapped_ = 0;
    std::byte* base_ = nullptr;
};

/// Nothing is left to compile: the function is the kernel.
class HostFunctionKernel final : public Kernel {
  public:
    HostFunctionKernel(std::string name, Device& device, const HostKernel& kernel)
        : Kernel(std::move(name)),
          entry(kernel.entry(host_isa())),
          device_(device),
          signature_(kernel.parameters) {
        std::vector<KernelParameter> parameters;
        for (const HostKernel::Parameter& parameter : signature_)
            parameters.push_back({parameter.pointer, parameter.type});
        set_parameters(std::move(parameters));
    }
    Device& device() const override { return device_; }
    /// Throws invalid_argument unless the arguments have the parameters' number, kinds and sizes.
    void check(std::span<const KernelArgument> arguments) const;

    const HostKernel::Entry entry;

  private:
    Device& device_;  // whose table of kernels holds this
    std::span<const HostKernel::Parameter> signature_;
};

class TbbDevice final : public Device {
  public:
    TbbDevice(DeviceInfo info, int threads);
    ~TbbDevice() override { release_pool(); }
    std::vector<Property> properties() const override;

    /// Calls body(first, last) over parts of [0, count), on up to traits().units threads, this one among
    /// them.
    template <class Body>
    void parallel(u64 count, u64 grain, const Body& body);

  protected:
    std::shared_ptr<Stream> do_create_stream(Priority priority) override;
    std::shared_ptr<Event> do_create_event() override;
    std::unique_ptr<Buffer> do_allocate(u64 bytes) override;
    std::unique_ptr<Buffer> do_allocate_host(u64 bytes) override;
    std::shared_ptr<Kernel> do_compile(const KernelSpec& spec) override;

  private:
    tbb::task_arena arena_;
};

std::shared_ptr<Stream> make_stream(const std::shared_ptr<TbbDevice>& device);
std::shared_ptr<Event> make_event(std::shared_ptr<TbbDevice> device);

/// Copies with the caches in mind: past `cache` bytes with non-temporal stores.
void copy_bytes(TbbDevice& device, void* to, const void* from, u64 bytes);
/// Repeats a pattern of 1, 2, 4 or 8 bytes.
void fill_bytes(TbbDevice& device, void* to, const void* pattern, u32 pattern_size, u64 bytes);

}  // namespace concord::tbb_backend

#include "tbb_parallel.hpp"
