#include "opencl_staging.hpp"

#include "opencl_event.hpp"

namespace concord::opencl {

OpenClStaging::OpenClStaging(concord::Device& device, cl_command_queue queue)
    : backend::Staging(device), queue_(queue), transfers_(Shape{}.chunks) {}

bool OpenClStaging::write(cl_mem to, u64 offset, const void* from, u64 bytes) {
    memory_ = to;
    offset_ = offset;
    upload_ = true;
    return upload(from, bytes);
}

bool OpenClStaging::read(void* to, cl_mem from, u64 offset, u64 bytes) {
    memory_ = from;
    offset_ = offset;
    upload_ = false;
    return download(to, bytes);
}

void OpenClStaging::start(u32 chunk, std::byte* memory, u64 at, u64 bytes) {
    EventHandle transfer;
    if (upload_) {
        check(cl().clEnqueueWriteBuffer(queue_, memory_, CL_FALSE, offset_ + at, bytes, memory, 0, nullptr,
                                        transfer.out()),
              call(), "clEnqueueWriteBuffer");
    } else {
        check(cl().clEnqueueReadBuffer(queue_, memory_, CL_FALSE, offset_ + at, bytes, memory, 0, nullptr,
                                       transfer.out()),
              call(), "clEnqueueReadBuffer");
    }
    transfers_[chunk] = std::move(transfer);
    check(cl().clFlush(queue_), call(), "clFlush");
}

bool OpenClStaging::ended(u32 chunk) {
    if (!has_ended(transfers_[chunk].get())) return false;
    wait(chunk);  // throws if it failed
    return true;
}

void OpenClStaging::wait(u32 chunk) {
    wait_for(transfers_[chunk].get(), call());
}

}  // namespace concord::opencl
