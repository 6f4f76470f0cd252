#include <concord/peer.hpp>

namespace concord {

PeerDevice::~PeerDevice() = default;

bool can_reach(const Device& from, const Device& to, std::string* why) {
    if (&from == &to) return true;
    std::string unused;
    std::string& reason = why != nullptr ? *why : unused;
    const std::string& backend = from.info().backend;
    if (backend != to.info().backend) {
        reason = from.info().selector + " and " + to.info().selector + " are of two backends";
        return false;
    }
    // Making ready changes nothing that a holder of the device would see.
    if (auto* peer = dynamic_cast<PeerDevice*>(&const_cast<Device&>(from))) return peer->reach(to, reason);
    reason = "the backend " + backend + " has no copies between devices";
    return false;
}

}  // namespace concord
