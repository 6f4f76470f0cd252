#include "device/access.hpp"

#include <concord/peer.hpp>

namespace concord {

bool can_reach(const Device& from, const Device& to, std::string* why) {
    if (&from == &to) return true;
    std::string unused;
    std::string& reason = why != nullptr ? *why : unused;
    const std::string& backend = from.info().backend;
    if (backend != to.info().backend) {
        reason = from.info().selector + " and " + to.info().selector + " have different backends";
        return false;
    }
    return detail::Access::device(from).reach(detail::Access::device(to), reason);
}

bool backend::Device::reach(const Device& /*other*/, std::string& why) {
    why = "the backend " + info().backend + " does not support copies between devices";
    return false;
}

}  // namespace concord
