#pragma once
// The parts of check_operand() and check_output(), for calls that also take page-locked buffers, bool or structs.

#include <concord/variant.hpp>

namespace concord::detail {

// Throws wrong_device or invalid_argument unless the view is valid and its buffer belongs to the stream's device.
void check_range(std::string_view call, std::string_view name, const Stream& stream, const View& view);
// The same, and throws invalid_argument for a page-locked buffer.
void check_movable(std::string_view call, std::string_view name, const Stream& stream, const View& view);
// Throws unsupported for structs.
void check_no_struct(std::string_view call, std::string_view name, const View& view);
// check_operand() for calls that also take bool.
void check_stored(std::string_view call, std::string_view name, const Stream& stream, const View& view);
// Throws invalid_argument if the view is on read-only memory.
void check_writable(std::string_view call, std::string_view name, const View& view);

}  // namespace concord::detail
