#pragma once
// Work that other libraries enqueue on a stream.

#include <concord/stream.hpp>

namespace concord::detail {

// Notes that work which another library has enqueued on Stream::native_handle() uses the buffer. Memory of the pool is
// then reused after that work only.
void note_foreign_use(Stream& stream, const Buffer& buffer);

}  // namespace concord::detail
