#include <concord/stream.hpp>

#include <algorithm>

namespace concord {

void Buffer::note_use(Stream& stream, u64 ticket) {
    const std::lock_guard lock(uses_mutex_);
    for (Use& use : uses_) {
        // The weak pointer tells a stream from a later one at the same address.
        if (use.id == &stream && !use.stream.expired()) {
            use.ticket = std::max(use.ticket, ticket);
            return;
        }
    }
    std::erase_if(uses_, [](const Use& use) { return use.ended->load(); });
    uses_.push_back({stream.weak_from_this(), stream.ended_, &stream, ticket});
}

}  // namespace concord
