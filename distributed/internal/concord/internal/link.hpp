#pragma once
// Links: lasting connections of two ranks that write into each other's device memory.

#include <concord/buffer.hpp>
#include <concord/stream.hpp>

#include <memory>
#include <vector>

namespace concord::detail {

// What a rank offers to another one: buffers that the other rank may write.
struct LinkOffer {
    u32 rank = 0;  // the other rank
    std::vector<std::shared_ptr<Buffer>> buffers;
};

// Whether ranks may connect: CONCORD_LINKS is not "off".
bool links_enabled();

// One end of a link. Turns are symmetric: in each turn both ends write, call signal(), and call wait() once. A signal
// therefore also tells the other end that earlier work of the signalling stream has read what came in earlier turns.
// Destroying the last owner of a remote buffer waits until this end's writes to it are done.
class Link {
  public:
    virtual ~Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // A buffer that the other end offers, as a target of copies and kernels of this rank's device.
    virtual Buffer& remote(u32 index) = 0;
    // Enqueues a signal: earlier work of the stream, such as writes to remote buffers, is complete.
    virtual void signal(Stream& stream) = 0;
    // Makes later work of the stream wait for the other end's signal of this turn. The host may wait until the other
    // end has called signal(), but never for a device. Throws device_failed if the other rank cannot continue.
    virtual void wait(Stream& stream) = 0;

  protected:
    Link() = default;
};

}  // namespace concord::detail
