#pragma once
// Links: lasting connections of two ranks that write into each other's device memory.

#include <concord/buffer.hpp>
#include <concord/stream.hpp>

#include <memory>
#include <span>
#include <vector>

namespace concord::detail {

// What a rank offers to another one: buffers that the other rank may write.
struct LinkOffer {
    u32 rank = 0;  // the other rank
    std::vector<std::shared_ptr<Buffer>> buffers;
};

// Whether ranks may connect: CONCORD_LINKS is not "off".
bool links_enabled();

// Identifies a device whose kernels can wait for kernels of other devices over links. 0: its kernels cannot, or ranks
// may not connect.
u64 kernel_link_id(const Device& device);
// Whether kernels of all these ranks may wait for each other. Kernels that wait keep a part of a device, so no two
// ranks may share one.
bool may_link_kernels(std::span<const u64> ids);

// One end of a link. Turns are symmetric: in each turn both ends write, call signal(), and call wait() once. A signal
// therefore also tells the other end that the signalling stream has consumed the data of earlier turns.
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

    // For kernels of the two ends that wait for each other. announce() tells the other end that the kernel of a turn is
    // enqueued or follows at once; turns grow. await_announced() waits until the other end has announced a turn, and
    // throws device_failed if it cannot continue. So no kernel waits for one whose rank has thrown. If a device fails
    // while it runs such a kernel, the other one waits for ever. Default: nothing, for ends whose processes end
    // together.
    virtual void announce(u64 /*turn*/) {}
    virtual void await_announced(u64 /*turn*/) {}

  protected:
    Link() = default;
};

}  // namespace concord::detail
