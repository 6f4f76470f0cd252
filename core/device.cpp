#include <concord/device.hpp>

#include "buffer_pool.hpp"

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace concord {
namespace {

struct HashId {
    std::size_t operator()(const KernelId& id) const noexcept {
        u64 h = 0x9e3779b97f4a7c15;
        for (u64 word : {static_cast<u64>(reinterpret_cast<std::uintptr_t>(id.source)),
                         static_cast<u64>(reinterpret_cast<std::uintptr_t>(id.entry)), id.a, id.b, id.c}) {
            h = (h ^ word) * 0xff51afd7ed558ccd;
            h ^= h >> 32;
        }
        return h;
    }
};

}  // namespace

std::string_view name_of(Dialect dialect) {
    switch (dialect) {
        case Dialect::cuda:
            return "CUDA C++";
        case Dialect::opencl:
            return "OpenCL C";
        case Dialect::host:
            return "C++";
    }
    return "unknown";
}

// Each entry has its own lock, so that threads compile different kernels at once and the same kernel once.
struct Device::Kernels {
    struct Entry {
        std::mutex mutex;
        std::shared_ptr<Kernel> kernel;
    };
    std::shared_mutex mutex;
    std::unordered_map<KernelId, std::shared_ptr<Entry>, HashId> entries;
};

Device::Device()
    : pool_(std::make_unique<BufferPool>([this](u64 capacity) { return do_allocate(capacity); })),
      host_pool_(std::make_unique<BufferPool>([this](u64 capacity) { return do_allocate_host(capacity); })),
      kernels_(std::make_unique<Kernels>()) {}

Device::~Device() = default;

void Device::release_pool() noexcept {
    kernels_.reset();
    pool_.reset();
    host_pool_.reset();
}

std::shared_ptr<Stream> Device::create_stream(Priority priority) {
    return do_create_stream(priority);
}

std::shared_ptr<Event> Device::create_event() {
    return do_create_event();
}

std::shared_ptr<Buffer> Device::allocate(u64 bytes, Stream* home) {
    if (home != nullptr && &home->device() != this)
        throw Error(
            ErrorCode::wrong_device, "Device::allocate",
            "the home stream is of " + home->device().info().selector + ", the memory of " + info_.selector);
    // What is recorded may be replayed on any stream, so that the order of this one promises nothing.
    if (home != nullptr && home->is_recording()) home = nullptr;
    return pool_->take(bytes, home, shared_from_this());
}

std::shared_ptr<Buffer> Device::allocate_host(u64 bytes) {
    return host_pool_->take(bytes, nullptr, shared_from_this());
}

MemoryUse Device::memory_use() const {
    return pool_->use();
}

void Device::trim() {
    pool_->trim();
    host_pool_->trim();
}

std::shared_ptr<Kernel> Device::kernel(const KernelId& id, const std::function<KernelSpec()>& make) {
    std::shared_ptr<Kernels::Entry> entry;
    {
        const std::shared_lock lock(kernels_->mutex);
        if (const auto it = kernels_->entries.find(id); it != kernels_->entries.end()) entry = it->second;
    }
    if (!entry) {
        const std::lock_guard lock(kernels_->mutex);
        std::shared_ptr<Kernels::Entry>& place = kernels_->entries[id];
        if (!place) place = std::make_shared<Kernels::Entry>();
        entry = place;
    }
    const std::lock_guard lock(entry->mutex);
    if (!entry->kernel) entry->kernel = compile(make());
    return entry->kernel;
}

std::shared_ptr<Kernel> Device::compile(const KernelSpec& spec) {
    const bool has = traits_.dialect == Dialect::host ? static_cast<bool>(spec.host)
                     : traits_.dialect == Dialect::cuda
                         ? spec.source != nullptr && !spec.source->cuda.empty()
                         : spec.source != nullptr && !spec.source->opencl.empty();
    if (!has)
        throw Error(ErrorCode::unsupported, "Device::compile",
                    "kernel " + spec.entry + " has no text in " + std::string(name_of(traits_.dialect)) +
                        ", which " + info_.selector + " needs");
    if (!afresh_) return do_compile(spec);
    KernelSpec fresh = spec;
    fresh.fresh = true;
    const auto start = std::chrono::steady_clock::now();
    std::shared_ptr<Kernel> kernel = do_compile(fresh);
    kernel->compile_ms_ =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return kernel;
}

}  // namespace concord
