#pragma once
/// Devices of one host that reach one another's memory without the host's help.
///
/// Where can_reach(a, b) is true, streams of a copy from and to buffers of b (Stream::copy) and wait for events of b
/// (Stream::wait); for all else objects of two devices in one call stay wrong_device, and recordings take no such copies.

#include <concord/device.hpp>

#include <string>

namespace concord {

/// Whether streams of `from` can copy from and to memory of `to`, and wait for its events. True of a device and itself. If not,
/// and `why` is given, the reason is written there. The first call for two devices may take the driver a while.
bool can_reach(const Device& from, const Device& to, std::string* why = nullptr);

}  // namespace concord
