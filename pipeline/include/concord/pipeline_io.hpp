#pragma once
/// @file
/// Sources and sinks of pipelines: host memory, files, and user classes derived from PipelineSource and PipelineSink.

#include <concord/buffer.hpp>
#include <concord/types.hpp>

#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

namespace concord {

namespace detail {
// Contiguous elements in host memory: a vector, a span, an array.
template <class R>
concept HostRange = requires(R& range) {
    std::data(range);
    std::size(range);
};
template <class R>
using HostElement = std::remove_cvref_t<decltype(*std::data(std::declval<R&>()))>;
class InputFile;
}  // namespace detail

/// Input of a pipeline. A pipeline reads each element once, in order, from the calling thread.
class PipelineSource {
  public:
    /// Creates a source of `count` elements.
    PipelineSource(Type type, u64 count);
    virtual ~PipelineSource() = default;
    PipelineSource(const PipelineSource&) = delete;
    PipelineSource& operator=(const PipelineSource&) = delete;

    /// Returns the element type.
    Type type() const { return type_; }
    /// Returns the number of elements.
    u64 count() const { return count_; }
    /// Returns the size in bytes.
    u64 bytes() const { return count_ * size_of(type_); }
    /// Copies `bytes` bytes, starting at byte `first`, to `to`. An exception ends the pipeline and leaves the call.
    virtual void read(void* to, u64 first, u64 bytes) const = 0;
    /// Returns the elements if they lie in aligned memory for the life of the source; null otherwise.
    virtual const void* data() const { return nullptr; }
    /// Returns the page-locked buffer into which data() points, from which its device uploads directly; null without
    /// one.
    virtual std::shared_ptr<Buffer> page_locked() const { return nullptr; }

  private:
    Type type_;
    u64 count_;
};

/// Output of a pipeline. It receives results in order, from the calling thread.
class PipelineSink {
  public:
    /// Creates a sink for at most `room` elements.
    PipelineSink(Type type, u64 room);
    virtual ~PipelineSink() = default;
    PipelineSink(const PipelineSink&) = delete;
    PipelineSink& operator=(const PipelineSink&) = delete;

    /// Returns the element type.
    Type type() const { return type_; }
    /// Returns the maximum number of elements.
    u64 room() const { return room_; }
    /// Receives the next bytes. An exception ends the pipeline and leaves the call.
    virtual void write(const void* from, u64 bytes) = 0;
    /// Returns the aligned memory for the elements, or null. A pipeline may store them there itself instead of
    /// calling write().
    virtual void* data() { return nullptr; }
    /// Returns the page-locked buffer into which data() points, to which its device downloads directly; null without
    /// one.
    virtual std::shared_ptr<Buffer> page_locked() { return nullptr; }

  private:
    Type type_;
    u64 room_;
};

/// Elements in the caller's host memory, which must outlive the source. For files prefer FileSource: a memory-mapped
/// file that shrinks during the call ends the process (SIGBUS).
class HostSource final : public PipelineSource {
  public:
    /// Reads `count` elements at `data`. Throws invalid_argument if `data` is null and `count` is not 0.
    HostSource(const void* data, u64 count, Type type);
    /// Reads a vector, a span or an array.
    template <detail::HostRange R>
    explicit HostSource(const R& range)
        : HostSource(std::data(range), std::size(range), type_of<detail::HostElement<const R>>()) {}

    /// Reads page-locked memory (Device::allocate_host), starting at byte `offset`. Its device uploads at full rate,
    /// without a copy by the host. Throws invalid_argument for other buffers, and if the buffer is too short.
    HostSource(std::shared_ptr<Buffer> page_locked, u64 offset, u64 count, Type type);

    /// Copies elements with several threads.
    void read(void* to, u64 first, u64 bytes) const override;
    /// Returns the elements.
    const void* data() const override { return data_; }
    /// Returns the page-locked buffer, or null.
    std::shared_ptr<Buffer> page_locked() const override { return page_locked_; }

  private:
    const void* data_;
    std::shared_ptr<Buffer> page_locked_;
};

/// Stores results in the caller's host memory, which must outlive the sink. It may be exactly the memory of a
/// HostSource whose elements have the same size.
class HostSink final : public PipelineSink {
  public:
    /// Stores at most `room` elements at `data`. Throws invalid_argument if `data` is null and `room` is not 0.
    HostSink(void* data, u64 room, Type type);
    /// Stores to a vector, a span or an array.
    template <detail::HostRange R>
    explicit HostSink(R& range)
        : HostSink(std::data(range), std::size(range), type_of<detail::HostElement<R>>()) {}

    /// Stores to page-locked memory, starting at byte `offset`, as for HostSource.
    HostSink(std::shared_ptr<Buffer> page_locked, u64 offset, u64 room, Type type);

    /// Copies elements with several threads. Throws invalid_argument if they exceed the remaining room.
    void write(const void* from, u64 bytes) override;
    /// Returns the memory for the elements.
    void* data() override { return data_; }
    /// Returns the page-locked buffer, or null.
    std::shared_ptr<Buffer> page_locked() override { return page_locked_; }

  private:
    void* data_;
    std::shared_ptr<Buffer> page_locked_;
    u64 written_ = 0;
};

/// Elements in a file. The file is read, not mapped, so a file that shrinks during the call is an ordinary error
/// (io).
class FileSource final : public PipelineSource {
  public:
    /// Reads `count` elements of the file, starting at byte `offset`. Throws io if it is not a regular file, cannot be
    /// opened or is too short.
    FileSource(const std::string& path, u64 offset, u64 count, Type type);
    /// Reads an open file. The caller closes it after the life of the source. name: the file's name for messages.
    FileSource(int file, std::string name, u64 offset, u64 count, Type type);
    ~FileSource() override;

    /// Reads with several threads. Throws io if the file cannot be read or is too short.
    void read(void* to, u64 first, u64 bytes) const override;

  private:
    void check_size() const;

    std::unique_ptr<detail::InputFile> opened_;  // null for the caller's file
    int file_;
    std::string name_;
    u64 offset_;
};

/// Writes to an open file from its current position. The caller closes it. If a pipeline fails, written data stays.
class FileSink final : public PipelineSink {
  public:
    /// Writes at most `room` elements to the file. name: the file's name for messages.
    FileSink(int file, std::string name, u64 room, Type type);
    /// Writes to the file. Throws io with the reason, for example a full disk.
    void write(const void* from, u64 bytes) override;

  private:
    int file_;
    std::string name_;
};

}  // namespace concord
