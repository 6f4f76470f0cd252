#include "device/access.hpp"
#include "memory/buffer_state.hpp"

#include <concord/internal/host_range.hpp>

#include <algorithm>

namespace concord {
namespace {

class HostRange final : public backend::Memory {
  public:
    explicit HostRange(void* data) : data_(data) {}
    void* host_pointer() noexcept override { return data_; }

  private:
    void* data_;
};

}  // namespace

Buffer::Buffer(Device& device, Kind kind, u64 bytes, std::unique_ptr<backend::Memory> memory)
    : device_(device),
      kind_(kind),
      size_(bytes),
      capacity_(bytes),
      memory_(std::move(memory)),
      state_(std::make_unique<detail::BufferState>()) {}

Buffer::~Buffer() = default;

u64 Buffer::begin() const noexcept {
    return memory_->begin();
}

void* Buffer::host_pointer() noexcept {
    return memory_->host_pointer();
}

void* Buffer::native_handle() noexcept {
    return memory_->native_handle();
}

namespace detail {

std::shared_ptr<Buffer> host_range(Device& device, const void* data, u64 bytes) {
    return Access::make<Buffer>(device, Buffer::Kind::device, bytes,
                                std::make_unique<HostRange>(const_cast<void*>(data)));
}

void BufferState::note_use(Stream& stream, const std::shared_ptr<StreamProgress>& progress, u64 ticket) {
    const std::lock_guard lock(mutex);
    for (Use& use : uses) {
        // The weak pointer distinguishes a stream from a later one at the same address.
        if (use.id == &stream && !use.stream.expired()) {
            use.ticket = std::max(use.ticket, ticket);
            return;
        }
    }
    std::erase_if(uses, [](const Use& use) { return use.progress->ended.load(); });
    uses.push_back({stream.weak_from_this(), progress, &stream, ticket});
}

}  // namespace detail
}  // namespace concord
