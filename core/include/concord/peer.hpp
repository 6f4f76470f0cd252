#pragma once
/// @file
/// Direct access between devices of one host (peer-to-peer).
///
/// If can_reach(a, b) is true, streams of a can copy from and to buffers of b (Stream::copy) and wait for events of b
/// (Stream::wait). All other calls with objects of two devices throw wrong_device. Recordings cannot hold such copies.

#include <concord/device.hpp>

#include <string>

namespace concord {

/// Whether streams of `from` can copy from and to memory of `to` and wait for its events. True for a device and itself.
///
/// If the result is false and `why` is not null, writes the reason to `why`. The first call for two devices may be
/// slow, because the driver maps memory.
bool can_reach(const Device& from, const Device& to, std::string* why = nullptr);

}  // namespace concord
