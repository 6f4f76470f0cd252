#include <concord/detail/checked_size.hpp>
#include <concord/error.hpp>
#include <concord/internal/host_copy.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/log.hpp>
#include <concord/pipeline_io.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace concord {
namespace {

// Calls f for parts of [0, bytes) in parallel: one thread reads slower than a device transfers.
void in_parts(u64 bytes, const std::function<void(u64 begin, u64 end)>& f) {
    constexpr u64 least = u64{2} << 20, max_threads = 8;
    const u64 threads = std::clamp<u64>(bytes / least, 1, std::min<u64>(detail::host_threads(), max_threads));
    const u64 part = (bytes / threads + 4095) / 4096 * 4096;
    std::vector<std::exception_ptr> thrown(threads);
    auto run = [&](u64 i) {
        try {
            const u64 begin = std::min(bytes, i * part);
            f(begin, i + 1 == threads ? bytes : std::min(bytes, begin + part));
        } catch (...) {
            thrown[i] = std::current_exception();
        }
    };
    std::atomic<u64> next = 0;
    auto work = [&] {
        for (u64 i = next++; i < threads; i = next++)
            run(i);
    };
    {
        std::vector<std::jthread> helpers;
        try {
            while (helpers.size() + 1 < threads)
                helpers.emplace_back(work);
        } catch (const std::exception& error) {
            detail::log_debug(std::string("fewer threads for file access: ") + error.what());
        }
        work();
    }
    for (const std::exception_ptr& error : thrown) {
        if (error) std::rethrow_exception(error);
    }
}

[[noreturn]] void fail(const std::string& name, const std::string& why) {
    throw Error(ErrorCode::io, name, why);
}

void check_pointer(const char* call, const void* data, u64 count) {
    if (data == nullptr && count > 0)
        throw Error(ErrorCode::invalid_argument, call, "null host pointer; pass the address of the elements");
}

// Returns the address of the elements in page-locked memory. Throws invalid_argument if they do not fit.
void* page_locked_memory(const char* call, Buffer* buffer, u64 offset, u64 count, Type type) {
    auto refuse = [&](const std::string& why) { throw Error(ErrorCode::invalid_argument, call, why); };
    if (buffer == nullptr || buffer->kind() != Buffer::Kind::host)
        refuse("the buffer must be page-locked host memory; allocate it with Device::allocate_host");
    if (offset % size_of(type) != 0)
        refuse("the offset must be a multiple of " + std::to_string(size_of(type)) + " bytes for " +
               std::string(name_of(type)) + ", got " + std::to_string(offset));
    if (offset > buffer->size() || count * size_of(type) > buffer->size() - offset)
        refuse("the range exceeds the buffer of " + std::to_string(buffer->size()) + " bytes, got " +
               std::to_string(count) + " elements of " + std::string(name_of(type)) + " at byte " +
               std::to_string(offset));
    return static_cast<std::byte*>(buffer->host_pointer()) + offset;
}

}  // namespace

PipelineSource::PipelineSource(Type type, u64 count) : type_(type), count_(count) {
    (void)detail::checked_bytes("PipelineSource", count, size_of(type));
}

PipelineSink::PipelineSink(Type type, u64 room) : type_(type), room_(room) {
    (void)detail::checked_bytes("PipelineSink", room, size_of(type));
}

HostSource::HostSource(const void* data, u64 count, Type type) : PipelineSource(type, count), data_(data) {
    check_pointer("HostSource", data, count);
}

HostSink::HostSink(void* data, u64 room, Type type) : PipelineSink(type, room), data_(data) {
    check_pointer("HostSink", data, room);
}

HostSource::HostSource(std::shared_ptr<Buffer> page_locked, u64 offset, u64 count, Type type)
    : PipelineSource(type, count),
      data_(page_locked_memory("HostSource", page_locked.get(), offset, count, type)),
      page_locked_(std::move(page_locked)) {}

HostSink::HostSink(std::shared_ptr<Buffer> page_locked, u64 offset, u64 room, Type type)
    : PipelineSink(type, room),
      data_(page_locked_memory("HostSink", page_locked.get(), offset, room, type)),
      page_locked_(std::move(page_locked)) {}

void HostSource::read(void* to, u64 first, u64 bytes) const {
    detail::copy_in_parallel(to, static_cast<const std::byte*>(data_) + first, bytes);
}

void HostSink::write(const void* from, u64 bytes) {
    if (bytes > room() * size_of(type()) - written_)
        throw Error(ErrorCode::invalid_argument, "HostSink",
                    "the sink is full; it has room for " + std::to_string(room()) + " elements");
    detail::copy_in_parallel(static_cast<std::byte*>(data_) + written_, from, bytes);
    written_ += bytes;
}

FileSource::FileSource(const std::string& path, u64 offset, u64 count, Type type)
    : PipelineSource(type, count),
      opened_(std::make_unique<detail::InputFile>(path, "FileSource")),
      file_(opened_->descriptor()),
      name_(path),
      offset_(offset) {
    check_size();
}

FileSource::FileSource(int file, std::string name, u64 offset, u64 count, Type type)
    : PipelineSource(type, count), file_(file), name_(std::move(name)), offset_(offset) {
    check_size();
}

FileSource::~FileSource() = default;

void FileSource::check_size() const {
    struct stat status {};
    if (::fstat(file_, &status) != 0)
        fail(name_, std::string("cannot read the file: ") + std::strerror(errno));
    const u64 there = static_cast<u64>(status.st_size);
    if (offset_ > there || bytes() > there - offset_)
        fail(name_, "the file is too short, got " + std::to_string(there) + " bytes; expected at least " +
                        std::to_string(bytes()) + " bytes after byte " + std::to_string(offset_));
}

void FileSource::read(void* to, u64 first, u64 bytes) const {
    in_parts(bytes, [&](u64 begin, u64 end) {
        while (begin < end) {
            constexpr u64 limit = u64{1} << 30;  // one call reads less than 2 GiB
            const ssize_t n =
                ::pread(file_, static_cast<std::byte*>(to) + begin, std::min(end - begin, limit),
                        static_cast<off_t>(offset_ + first + begin));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail(name_, std::string("cannot read the file: ") + std::strerror(errno));
            if (n == 0)
                fail(name_, "the file was truncated while it was read; it ends before byte " +
                                std::to_string(offset_ + first + end));
            begin += static_cast<u64>(n);
        }
    });
}

FileSink::FileSink(int file, std::string name, u64 room, Type type)
    : PipelineSink(type, room), file_(file), name_(std::move(name)) {}

void FileSink::write(const void* from, u64 bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes > 0) {
        constexpr u64 limit = u64{1} << 30;
        const ssize_t n = ::write(file_, at, std::min(bytes, limit));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(name_, std::string("cannot write the file: ") + std::strerror(errno));
        at += n;
        bytes -= static_cast<u64>(n);
    }
}

}  // namespace concord
