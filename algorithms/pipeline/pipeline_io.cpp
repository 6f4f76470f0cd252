#include <concord/error.hpp>
#include <concord/internal/host_copy.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/pipeline_io.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace concord {
namespace {

// Calls f for parts of [0, bytes), side by side: one thread alone reads slower than a device takes the bytes.
void in_parts(u64 bytes, const std::function<void(u64 begin, u64 end)>& f) {
    constexpr u64 least = u64{2} << 20, most_threads = 8;
    const u64 threads =
        std::clamp<u64>(bytes / least, 1, std::min<u64>(detail::host_threads(), most_threads));
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
    {
        std::vector<std::jthread> helpers;
        for (u64 i = 1; i < threads; ++i)
            helpers.emplace_back(run, i);
        run(0);
    }
    for (const std::exception_ptr& error : thrown) {
        if (error) std::rethrow_exception(error);
    }
}

void check_bytes(const char* call, Type type, u64 count) {
    if (count > ~u64{0} / size_of(type))
        throw Error(ErrorCode::invalid_argument, call,
                    std::to_string(count) + " elements overflow 64-bit sizes");
}

[[noreturn]] void fail(const std::string& name, const std::string& why) {
    throw Error(ErrorCode::io, name, why);
}

// Where the elements lie in page-locked memory.
void* page_locked_memory(const char* call, Buffer* buffer, u64 offset, u64 count, Type type) {
    auto refuse = [&](const std::string& why) { throw Error(ErrorCode::invalid_argument, call, why); };
    if (buffer == nullptr || buffer->kind() != Buffer::Kind::host)
        refuse("the buffer is not page-locked host memory");
    if (offset % size_of(type) != 0)
        refuse("byte " + std::to_string(offset) + " is no place for " + std::string(name_of(type)));
    if (offset > buffer->size() || count * size_of(type) > buffer->size() - offset)
        refuse(std::to_string(count) + " elements of " + std::string(name_of(type)) + " from byte " +
               std::to_string(offset) + " on are more than the buffer's " + std::to_string(buffer->size()) +
               " bytes");
    return static_cast<std::byte*>(buffer->host_pointer()) + offset;
}

}  // namespace

PipelineSource::PipelineSource(Type type, u64 count) : type_(type), count_(count) {
    check_bytes("PipelineSource", type, count);
}

PipelineSink::PipelineSink(Type type, u64 room) : type_(type), room_(room) {
    check_bytes("PipelineSink", type, room);
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
                    "there is no room for more than " + std::to_string(room()) + " elements");
    detail::copy_in_parallel(static_cast<std::byte*>(data_) + written_, from, bytes);
    written_ += bytes;
}

FileSource::FileSource(const std::string& path, u64 offset, u64 count, Type type)
    : PipelineSource(type, count),
      file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      owns_(true),
      name_(path),
      offset_(offset) {
    if (file_ < 0) fail(name_, std::string("cannot be read: ") + std::strerror(errno));
    try {
        check_size();
    } catch (...) {
        ::close(file_);
        throw;
    }
}

FileSource::FileSource(int file, std::string name, u64 offset, u64 count, Type type)
    : PipelineSource(type, count), file_(file), owns_(false), name_(std::move(name)), offset_(offset) {
    check_size();
}

FileSource::~FileSource() {
    if (owns_) ::close(file_);
}

void FileSource::check_size() const {
    struct stat status {};
    if (::fstat(file_, &status) != 0) fail(name_, std::string("cannot be read: ") + std::strerror(errno));
    const u64 there = static_cast<u64>(status.st_size);
    if (offset_ > there || bytes() > there - offset_)
        fail(name_, std::to_string(bytes()) + " bytes from byte " + std::to_string(offset_) +
                        " on are more than its " + std::to_string(there));
}

void FileSource::read(void* to, u64 first, u64 bytes) const {
    in_parts(bytes, [&](u64 begin, u64 end) {
        while (begin < end) {
            constexpr u64 most = u64{1} << 30;  // one call reads less than 2 GiB
            const ssize_t n = ::pread(file_, static_cast<std::byte*>(to) + begin, std::min(end - begin, most),
                                      static_cast<off_t>(offset_ + first + begin));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail(name_, std::string("cannot be read: ") + std::strerror(errno));
            if (n == 0)
                fail(name_, "it became shorter while it was read: it ends before byte " +
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
        constexpr u64 most = u64{1} << 30;
        const ssize_t n = ::write(file_, at, std::min(bytes, most));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(name_, std::string("cannot be written: ") + std::strerror(errno));
        at += n;
        bytes -= static_cast<u64>(n);
    }
}

}  // namespace concord
