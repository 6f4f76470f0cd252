#include <concord/device.hpp>

#include "buffer_pool.hpp"
#include "kernel_key.hpp"

#include <chrono>
#include <mutex>

namespace concord {

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

// Entries are only added, so that a look-up takes no lock; they stay where they are until the device goes. Each has a
// lock of its own, so that threads compile different kernels at once and the same kernel once.
struct Device::Kernels {
    struct Entry {
        explicit Entry(std::string_view key) : key(key) {}

        const std::string key;  // KernelKey::bytes()
        std::unique_ptr<Entry> next;
        std::mutex mutex;
        std::shared_ptr<Kernel> kernel;
        std::atomic<bool> is_ready = false;  // kernel stays as it is from here on
    };
    // A list of entries: `first` is what readers see, `owner` keeps it.
    struct Bucket {
        std::atomic<Entry*> first = nullptr;
        std::unique_ptr<Entry> owner;
    };

    static Entry* find(Entry* entry, std::string_view key) {
        while (entry != nullptr && entry->key != key)
            entry = entry->next.get();
        return entry;
    }
    Entry& of(const KernelKey& key) {
        Bucket& bucket = buckets[key.hash() % std::size(buckets)];
        if (Entry* entry = find(bucket.first.load(std::memory_order_acquire), key.bytes())) return *entry;
        const std::lock_guard lock(mutex);
        if (Entry* entry = find(bucket.owner.get(), key.bytes())) return *entry;
        auto added = std::make_unique<Entry>(key.bytes());
        added->next = std::move(bucket.owner);
        bucket.owner = std::move(added);
        bucket.first.store(bucket.owner.get(), std::memory_order_release);
        return *bucket.owner;
    }

    std::mutex mutex;  // of those that add
    Bucket buckets[1024];
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

std::shared_ptr<Kernel> Device::kernel(const KernelSpec& spec) {
    Kernels::Entry& entry = kernels_->of(KernelKey(spec, traits_.dialect));
    if (entry.is_ready.load(std::memory_order_acquire)) return entry.kernel;
    const std::lock_guard lock(entry.mutex);
    if (!entry.kernel) entry.kernel = compile(spec);
    entry.is_ready.store(true, std::memory_order_release);
    return entry.kernel;
}

std::shared_ptr<Kernel> Device::compile(const KernelSpec& spec) {
    const bool has = traits_.dialect == Dialect::host ? static_cast<bool>(spec.host)
                     : traits_.dialect == Dialect::cuda
                         ? spec.source != nullptr && !spec.source->cuda().empty()
                         : spec.source != nullptr && !spec.source->opencl().empty();
    if (!has)
        throw Error(ErrorCode::unsupported, "Device::compile",
                    "kernel " + std::string(spec.entry) + " has no text in " +
                        std::string(name_of(traits_.dialect)) + ", which " + info_.selector + " needs");
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
