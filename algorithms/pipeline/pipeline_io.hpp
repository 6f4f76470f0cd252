#pragma once
/// Where a pipeline's elements come from and go to: host memory, files, or what you derive from PipelineSource and PipelineSink.

#include <concord/buffer.hpp>
#include <concord/types.hpp>

#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

namespace concord {

namespace detail {
/// Elements one after another in host memory: a vector, a span, an array.
template <class R>
concept HostRange = requires(R& range) {
    std::data(range);
    std::size(range);
};
template <class R>
using HostElement = std::remove_cvref_t<decltype(*std::data(std::declval<R&>()))>;
}  // namespace detail

/// Elements that are read piece by piece. A pipeline reads each element once, in order, from the thread that called it.
class PipelineSource {
  public:
    PipelineSource(Type type, u64 count);
    virtual ~PipelineSource() = default;
    PipelineSource(const PipelineSource&) = delete;
    PipelineSource& operator=(const PipelineSource&) = delete;

    Type type() const { return type_; }
    u64 count() const { return count_; }
    u64 bytes() const { return count_ * size_of(type_); }
    /// Copies `bytes` bytes, from byte `first` on, to `to`. What it throws ends the pipeline, and comes out of it.
    virtual void read(void* to, u64 first, u64 bytes) const = 0;
    /// The elements, if they lie in memory, aligned, for as long as the source lives; else null.
    virtual const void* data() const { return nullptr; }
    /// The page-locked buffer that data() points into, if it does; else null. The buffer's device takes them from there.
    virtual std::shared_ptr<Buffer> page_locked() const { return nullptr; }

  private:
    Type type_;
    u64 count_;
};

/// Takes results, in order, from the thread that called the pipeline.
class PipelineSink {
  public:
    /// room: how many elements it takes.
    PipelineSink(Type type, u64 room);
    virtual ~PipelineSink() = default;
    PipelineSink(const PipelineSink&) = delete;
    PipelineSink& operator=(const PipelineSink&) = delete;

    Type type() const { return type_; }
    u64 room() const { return room_; }
    /// Takes the next bytes. What it throws ends the pipeline, and comes out of it.
    virtual void write(const void* from, u64 bytes) = 0;
    /// Where the elements are to lie, if that is memory, aligned; else null. A pipeline may put them there itself, and then
    /// does not call write().
    virtual void* data() { return nullptr; }
    /// The page-locked buffer that data() points into, if it does; else null. The buffer's device puts them there.
    virtual std::shared_ptr<Buffer> page_locked() { return nullptr; }

  private:
    Type type_;
    u64 room_;
};

/// Host memory of the caller's, which outlives the source. A file that is mapped into memory will do, but one that shrinks
/// meanwhile ends the process (SIGBUS): FileSource does not mind.
class HostSource final : public PipelineSource {
  public:
    HostSource(const void* data, u64 count, Type type) : PipelineSource(type, count), data_(data) {}
    /// A vector, a span, an array.
    template <detail::HostRange R>
    explicit HostSource(const R& range)
        : HostSource(std::data(range), std::size(range), type_of<detail::HostElement<const R>>()) {}

    /// Page-locked memory (Device::allocate_host), from byte `offset` on: its device copies at full rate, and the host not at
    /// all. Throws invalid_argument for other buffers, and if it is too short.
    HostSource(std::shared_ptr<Buffer> page_locked, u64 offset, u64 count, Type type);

    void read(void* to, u64 first, u64 bytes) const override;
    const void* data() const override { return data_; }
    std::shared_ptr<Buffer> page_locked() const override { return page_locked_; }

  private:
    const void* data_;
    std::shared_ptr<Buffer> page_locked_;
};

/// Host memory of the caller's, which outlives the sink. It may be exactly that of a HostSource of elements of the same size.
class HostSink final : public PipelineSink {
  public:
    HostSink(void* data, u64 room, Type type) : PipelineSink(type, room), data_(data) {}
    template <detail::HostRange R>
    explicit HostSink(R& range)
        : HostSink(std::data(range), std::size(range), type_of<detail::HostElement<R>>()) {}

    /// Page-locked memory, as of HostSource.
    HostSink(std::shared_ptr<Buffer> page_locked, u64 offset, u64 room, Type type);

    void write(const void* from, u64 bytes) override;
    void* data() override { return data_; }
    std::shared_ptr<Buffer> page_locked() override { return page_locked_; }

  private:
    void* data_;
    std::shared_ptr<Buffer> page_locked_;
    u64 written_ = 0;
};

/// Elements in a file. It is read, not mapped, so that one that shrinks meanwhile is an error (io) like any other.
class FileSource final : public PipelineSource {
  public:
    /// The file's `count` elements from byte `offset` on. Throws io if it cannot be opened, or is too short.
    FileSource(const std::string& path, u64 offset, u64 count, Type type);
    /// An open file, which the caller closes after the source is gone; `name` is for messages.
    FileSource(int file, std::string name, u64 offset, u64 count, Type type);
    ~FileSource() override;

    /// Throws io if the file ends too early or cannot be read.
    void read(void* to, u64 first, u64 bytes) const override;

  private:
    void check_size() const;

    int file_;
    bool owns_;
    std::string name_;
    u64 offset_;
};

/// Writes to an open file, from where it stands, which the caller closes. What was written stays when a pipeline fails.
class FileSink final : public PipelineSink {
  public:
    FileSink(int file, std::string name, u64 room, Type type);
    /// Throws io, with the reason: a full disk, say.
    void write(const void* from, u64 bytes) override;

  private:
    int file_;
    std::string name_;
};

}  // namespace concord
