#include <concord/detail/float_environment.hpp>
#include <concord/internal/compile_options.hpp>
#include <concord/internal/kernel_key.hpp>
#include <concord/internal/language.hpp>
#include "device/access.hpp"
#include "memory/adopted_memory.hpp"
#include "memory/buffer_pool.hpp"
#include "memory/buffer_state.hpp"
#include "stream/stream_state.hpp"
#include "system/forked.hpp"

#include <concord/detail/checked_size.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

namespace concord {

std::string_view name_of(Dialect dialect) {
    return detail::language_of(dialect).name;
}

namespace detail {

// The cache of compiled kernels. It keeps those that were used last, so that a program that compiles new texts for ever
// does not grow. Each entry has a lock, so that threads compile different kernels concurrently and the same one once.
class Kernels {
  public:
    // The kernel of a key. Calls make() if there is none.
    template <class Make>
    std::shared_ptr<Kernel> of(const KernelKey& key, const Make& make) {
        Bucket& bucket = buckets_[key.hash() % std::size(buckets_)];
        std::shared_ptr<Entry> entry;
        bool is_new = false;
        {
            const std::lock_guard lock(bucket.mutex);
            const auto found = std::find_if(bucket.entries.begin(), bucket.entries.end(),
                                            [&](const auto& e) { return e->key == key.bytes(); });
            is_new = found == bucket.entries.end();
            entry = is_new ? bucket.entries.emplace_back(std::make_shared<Entry>(key.bytes())) : *found;
            entry->used = is_new ? ++time_ : time_.load(std::memory_order_relaxed);
            if (entry->kernel) return entry->kernel;
        }
        if (is_new && ++count_ > max_kernels) remove_oldest();
        const std::lock_guard lock(entry->mutex);
        if (std::shared_ptr<Kernel> kernel = finished(bucket, *entry)) return kernel;
        std::shared_ptr<Kernel> made = make();
        const std::lock_guard in_bucket(bucket.mutex);
        entry->kernel = made;
        return made;
    }

  private:
    struct Entry {
        explicit Entry(std::string_view key) : key(key) {}

        const std::string key;  // KernelKey::bytes()
        std::mutex mutex;       // of the thread that compiles
        std::shared_ptr<Kernel> kernel;
        u64 used = 0;  // time of the last use
    };
    struct Bucket {
        std::mutex mutex;  // for the list, and for `kernel` and `used` of its entries
        std::vector<std::shared_ptr<Entry>> entries;
    };

    static std::shared_ptr<Kernel> finished(Bucket& bucket, const Entry& entry) {
        const std::lock_guard lock(bucket.mutex);
        return entry.kernel;
    }
    // Removes the entry that was not used for the longest time. Work that uses its kernel, and a thread that compiles
    // it, keep what they need.
    void remove_oldest() {
        const std::lock_guard lock(removing_);
        Bucket* of_oldest = nullptr;
        u64 oldest = ~u64{0};
        for (Bucket& bucket : buckets_) {
            const std::lock_guard in_bucket(bucket.mutex);
            for (const auto& entry : bucket.entries) {
                if (entry->used >= oldest) continue;
                oldest = entry->used;
                of_oldest = &bucket;
            }
        }
        if (of_oldest == nullptr) return;
        std::shared_ptr<Entry> removed;  // its kernel ends without the lock of the bucket
        const std::lock_guard in_bucket(of_oldest->mutex);
        std::vector<std::shared_ptr<Entry>>& entries = of_oldest->entries;
        const auto at = std::min_element(entries.begin(), entries.end(),
                                         [](const auto& a, const auto& b) { return a->used < b->used; });
        removed = std::move(*at);
        entries.erase(at);
        --count_;
    }

    std::atomic<u64> time_ = 0;   // the number of entries that were made
    std::atomic<u64> count_ = 0;  // the number of entries
    std::mutex removing_;
    Bucket buckets_[1024];
};

// Members are destroyed in reverse order: kernels and cached memory before the backend's device.
struct DeviceState {
    DeviceState(Device& device, std::unique_ptr<backend::Device> made)
        : backend(std::move(made)),
          host_pool([&device, this](u64 capacity) {
              return Access::make<Buffer>(device, Buffer::Kind::host, capacity,
                                          backend->allocate_host(capacity));
          }),
          pool([&device, this](u64 capacity) {
              return Access::make<Buffer>(device, Buffer::Kind::device, capacity,
                                          backend->allocate(capacity));
          }) {}

    std::unique_ptr<backend::Device> backend;
    BufferPool host_pool;
    BufferPool pool;
    Kernels kernels;
    std::atomic<bool> afresh = false;
};

backend::Device& Access::device(const Device& device) noexcept {
    return *device.state_->backend;
}

void refuse_compile_only(std::string_view call, std::string_view selector) {
    throw Error(ErrorCode::unavailable, call,
                error_message("compile-only device", quoted(selector),
                              "select one that runs kernels (see `concord devices`)"));
}

}  // namespace detail

using detail::Access;
using detail::check_not_forked;

Device::Device(std::unique_ptr<backend::Device> device)
    : info_(device->info()),
      traits_(device->traits()),
      state_(std::make_unique<detail::DeviceState>(*this, std::move(device))) {}

Device::~Device() = default;

std::vector<DeviceProperty> Device::properties() const {
    check_not_forked("Device::properties");
    return state_->backend->properties();
}

std::shared_ptr<Stream> Device::create_stream(Priority priority) {
    check_not_forked("Device::create_stream");
    return Access::make<Stream>(shared_from_this(), state_->backend->create_queue(*this, priority));
}

std::shared_ptr<Event> Device::create_event() {
    check_not_forked("Device::create_event");
    return Access::make<Event>(shared_from_this(), state_->backend->create_event());
}

std::shared_ptr<Buffer> Device::allocate(u64 bytes, Stream* home) {
    check_not_forked("Device::allocate");
    if (home != nullptr && &home->device() != this)
        throw Error(ErrorCode::wrong_device, "Device::allocate",
                    "stream of another device, got " + home->device().info().selector +
                        "; pass a stream of " + info_.selector);
    // A recording, and a graph that the owner of the stream captures, may be replayed on any stream, so that the order
    // of this stream guarantees nothing.
    if (home != nullptr && (home->is_recording() || Access::state(*home).queue->captured())) home = nullptr;
    return state_->pool.take(bytes, home, shared_from_this());
}

std::shared_ptr<Buffer> Device::allocate_host(u64 bytes) {
    check_not_forked("Device::allocate_host");
    return state_->host_pool.take(bytes, nullptr, shared_from_this());
}

namespace {

// The buffer of adopted memory.
std::shared_ptr<Buffer> adopted(
    Device& device, const char* call, ForeignMemory memory,
    std::unique_ptr<backend::Memory> (backend::Device::*adopt)(const ForeignMemory&), backend::Device& by) {
    check_not_forked(call);
    if (memory.handle == nullptr || memory.bytes == 0)
        throw Error(ErrorCode::invalid_argument, call,
                    memory.handle == nullptr ? "null handle; pass the memory" : "zero bytes; pass the size");
    if (memory.bytes > detail::max_bytes) detail::refuse_size(call, memory.bytes, 1);
    std::unique_ptr<backend::Memory> block = (by.*adopt)(memory);
    const u64 end = block->begin() + memory.bytes;
    std::unique_ptr<Buffer> made = Access::make<Buffer>(device, Buffer::Kind::device, end, std::move(block));
    if (memory.read_only) Access::set_read_only(*made);
    auto node = std::make_unique<detail::AdoptedMemory>();
    node->device = device.shared_from_this();
    node->buffer = std::move(made);
    detail::AdoptedMemory& kept = *node;
    std::shared_ptr<Buffer> buffer(kept.buffer.get(), [node = std::move(node)](Buffer* /*last*/) mutable {
        detail::release(std::move(node));
    });
    // Only when nothing can fail any more: an owner whose call throws keeps the memory.
    kept.release = std::move(memory.release);
    Access::state(*buffer).self = buffer;
    Access::state(*buffer).is_adopted = true;
    return buffer;
}

}  // namespace

std::shared_ptr<Buffer> Device::adopt(ForeignMemory memory) {
    return adopted(*this, "Device::adopt", std::move(memory), &backend::Device::adopt, *state_->backend);
}

std::shared_ptr<Buffer> Device::adopt_host(ForeignMemory memory) {
    return adopted(*this, "Device::adopt_host", std::move(memory), &backend::Device::adopt_host,
                   *state_->backend);
}

std::shared_ptr<Stream> Device::adopt_stream(void* handle) {
    check_not_forked("Device::adopt_stream");
    return Access::make<Stream>(shared_from_this(), state_->backend->adopt_queue(*this, handle));
}

std::shared_ptr<Event> Device::adopt_event(void* handle) {
    check_not_forked("Device::adopt_event");
    std::shared_ptr<Event> event =
        Access::make<Event>(shared_from_this(), state_->backend->adopt_event(handle));
    Access::set_recorded(*event);
    return event;
}

void* Device::native_handle() const noexcept {
    return state_->backend->native_handle();
}

namespace backend {
namespace {

[[noreturn]] void refuse_adoption(const char* call, const Device& device, const char* what) {
    throw Error(ErrorCode::unsupported, call, device.info().selector + " cannot adopt " + what);
}

}  // namespace

std::unique_ptr<Memory> Device::adopt(const ForeignMemory& /*memory*/) {
    refuse_adoption("Device::adopt", *this, "memory");
}
std::unique_ptr<Memory> Device::adopt_host(const ForeignMemory& /*memory*/) {
    refuse_adoption("Device::adopt_host", *this, "host memory");
}
std::unique_ptr<Queue> Device::adopt_queue(concord::Device& /*device*/, void* /*handle*/) {
    refuse_adoption("Device::adopt_stream", *this, "streams");
}
std::unique_ptr<Event> Device::adopt_event(void* /*handle*/) {
    refuse_adoption("Device::adopt_event", *this, "events");
}

}  // namespace backend

MemoryUse Device::memory_use() const {
    return state_->pool.use();
}

void Device::trim() {
    check_not_forked("Device::trim");
    state_->pool.trim();
    state_->host_pool.trim();
}

std::shared_ptr<Kernel> Device::kernel(const KernelSpec& spec) {
    check_not_forked("Device::kernel");
    if (spec.fresh) return compile(spec);
    return state_->kernels.of(detail::KernelKey(spec, traits_.dialect), [&] { return compile(spec); });
}

std::shared_ptr<Kernel> Device::compile(const KernelSpec& spec) {
    check_not_forked("Device::compile");
    if (!spec.is_written_in(traits_.dialect))
        throw Error(ErrorCode::unsupported, "Device::compile",
                    "kernel " + std::string(spec.entry) + " has no source in " +
                        std::string(name_of(traits_.dialect)) + ", the language of " + info_.selector);
    if (spec.source != nullptr) detail::check_options(*spec.source);
    detail::check_entry(spec.entry);
    const detail::DefaultFloatEnvironment environment;  // compilers compute constants
    if (!state_->afresh)
        return Access::make<Kernel>(*this, std::string(spec.entry), state_->backend->compile(spec), -1.0);
    KernelSpec fresh = spec;
    fresh.fresh = true;
    const auto start = std::chrono::steady_clock::now();
    std::unique_ptr<backend::Kernel> kernel = state_->backend->compile(fresh);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    return Access::make<Kernel>(*this, std::string(spec.entry), std::move(kernel), time.count());
}

void Device::bypass_kernel_cache(bool on) noexcept {
    state_->afresh = on;
}

}  // namespace concord
