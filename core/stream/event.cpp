#include "device/access.hpp"
#include "stream/interruption.hpp"
#include "system/forked.hpp"

#include <concord/error.hpp>

namespace concord {

Event::Event(std::shared_ptr<Device> device, std::unique_ptr<backend::Event> event)
    : device_(std::move(device)), event_(std::move(event)) {}

Event::~Event() {
    if (detail::in_forked_child) (void)event_.release();  // its driver cannot be called
}

void* Event::native_handle() const noexcept {
    return recorded_ ? event_->native_handle() : nullptr;
}

bool Event::done() const {
    detail::check_not_forked("Event::done");
    return !recorded_ || event_->done();
}

void Event::synchronize() const {
    detail::check_not_forked("Event::synchronize");
    if (!recorded_) return;
    detail::wait_interruptibly([this] { return event_->done(); });
    event_->synchronize();
}

double Event::milliseconds_since(const Event& start) const {
    constexpr const char* call = "Event::milliseconds_since";
    detail::check_not_forked(call);
    if (&start.device() != &device())
        throw Error(ErrorCode::wrong_device, call,
                    "event of another device, got " + start.device().info().selector + "; pass an event of " +
                        device().info().selector);
    if (!start.recorded_ || !recorded_)
        throw Error(ErrorCode::invalid_argument, call,
                    std::string("the ") + (recorded_ ? "start" : "end") +
                        " event was never recorded; call Stream::record first");
    return event_->milliseconds_since(*start.event_);
}

}  // namespace concord
