#pragma once
// The CPU as a device. Groups are oneTBB tasks, memory is host memory.

#include <concord/backend.hpp>
#include <concord/internal/host_block.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>

namespace concord::tbb_backend {

// Memory of the device.
class HostMemory final : public backend::Memory {
  public:
    // Throws out_of_memory.
    HostMemory(const backend::Device& device, u64 bytes);
    void* host_pointer() noexcept override { return block_.base(); }

  private:
    detail::HostBlock block_;
};

// Memory of another owner.
class AdoptedMemory final : public backend::Memory {
  public:
    explicit AdoptedMemory(void* pointer) : address_(pointer) {}
    void* host_pointer() noexcept override { return address_.base; }
    u64 begin() const noexcept override { return address_.begin; }

  private:
    detail::AdoptedAddress address_;
};

// How long the recent launches of a kernel took. Launches are told apart by a hash of what determines their work.
class LaunchTimes {
  public:
    // The shorter one of the last two launches with this hash: a disturbance does not count. Long if unknown.
    std::chrono::nanoseconds recent(u64 hash) const {
        const u64 entry = of(hash).load(std::memory_order_relaxed);
        if (entry >> tag_shift != hash >> tag_shift || entry == 0) return std::chrono::seconds(1);
        return std::chrono::nanoseconds(std::min(entry >> time_bits & most, entry & most) * unit);
    }
    void add(u64 hash, std::chrono::nanoseconds time) {
        std::atomic<u64>& entry = of(hash);
        const u64 before = entry.load(std::memory_order_relaxed);
        const u64 last = before >> tag_shift == hash >> tag_shift && before != 0 ? before & most : most;
        const u64 units = std::min(static_cast<u64>(time.count()) / unit + 1, most);
        entry.store(hash >> tag_shift << tag_shift | last << time_bits | units, std::memory_order_relaxed);
    }

  private:
    static constexpr u64 time_bits = 20, tag_shift = 2 * time_bits;
    static constexpr u64 most = (u64{1} << time_bits) - 1, unit = 64;  // nanoseconds
    std::atomic<u64>& of(u64 hash) { return entries_[hash % entries_.size()]; }
    const std::atomic<u64>& of(u64 hash) const { return entries_[hash % entries_.size()]; }
    std::array<std::atomic<u64>, 16> entries_ = {};  // upper bits of the hash, and the last two times
};

// A kernel that is a function. There is nothing to compile.
class HostFunctionKernel final : public backend::Kernel {
  public:
    HostFunctionKernel(const KernelSpec& spec, HostIsa isa)
        : name(spec.entry), entry(spec.host.entry(isa)), signature_(spec.host.parameters) {}
    std::vector<KernelParameter> parameters() const override;
    // Throws invalid_argument unless the arguments match the parameters in number, kind and size.
    void check(std::span<const KernelArgument> arguments) const;

    const std::string name;
    const HostKernel::Entry entry;
    const std::shared_ptr<LaunchTimes> times = std::make_shared<LaunchTimes>();

  private:
    // Whether the last parameter takes any number of arguments.
    bool takes_rest() const { return !signature_.empty() && signature_.back().is_rest; }

    std::span<const HostKernel::Parameter> signature_;
};

class TbbDevice final : public backend::Device {
  public:
    TbbDevice(DeviceInfo info, int threads, HostIsa isa);
    const DeviceInfo& info() const noexcept override { return info_; }
    const DeviceTraits& traits() const noexcept override { return traits_; }
    std::vector<DeviceProperty> properties() const override;
    std::unique_ptr<backend::Memory> allocate(u64 bytes) override;
    std::unique_ptr<backend::Memory> allocate_host(u64 bytes) override;
    std::unique_ptr<backend::Memory> adopt(const ForeignMemory& memory) override;
    std::unique_ptr<backend::Memory> adopt_host(const ForeignMemory& memory) override;
    std::unique_ptr<backend::Kernel> compile(const KernelSpec& spec) override;
    std::unique_ptr<backend::Event> create_event() override;
    std::unique_ptr<backend::Queue> create_queue(concord::Device& device, Priority priority) override;

    // Calls body(first, last) for parts of [0, count), on up to traits().units threads including the caller.
    template <class Body>
    void parallel(u64 count, u64 grain, const Body& body);

  private:
    DeviceInfo info_;
    DeviceTraits traits_;
    tbb::task_arena arena_;
};

// Copies. Copies that exceed the cache use non-temporal stores.
void copy_bytes(TbbDevice& device, void* to, const void* from, u64 bytes);
// Fills with a pattern of 1, 2, 4 or 8 bytes.
void fill_bytes(TbbDevice& device, void* to, const void* pattern, u32 pattern_size, u64 bytes);

}  // namespace concord::tbb_backend

#include "tbb_parallel.hpp"
