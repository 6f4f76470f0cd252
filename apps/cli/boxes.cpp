#include "boxes.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace concord::app {
namespace {

// Calls f(byte in the file's elements, byte in the box, bytes) for pieces of a box that are contiguous in both.
template <class F>
void each_piece(const VolumeExtents& shape, const StencilBox& box, u64 size, F f) {
    constexpr u64 most = u64{32} << 20;
    const u64 planes = box.z_end - box.z_begin, rows = box.y_end - box.y_begin,
              width = box.width(shape.columns);
    const bool has_rows = width == shape.columns, has_planes = has_rows && rows == shape.rows;
    // A run is the whole box, a plane of it, or a row.
    const u64 runs = has_planes ? 1 : has_rows ? planes : planes * rows;
    const u64 length = runs == 0 ? 0 : planes * rows * width / runs * size;
    for (u64 run = 0; run < runs; ++run) {
        const u64 z = box.z_begin + (has_rows ? run : run / rows),
                  y = box.y_begin + (has_rows ? 0 : run % rows);
        const u64 from = ((z * shape.rows + y) * shape.columns + (has_rows ? 0 : box.x_begin)) * size;
        for (u64 at = 0; at < length; at += most)
            f(from + at, run * length + at, std::min(most, length - at));
    }
}

// Two page-locked buffers that alternate, so that file access overlaps with copies of the device.
class Turns {
  public:
    Turns(Stream& stream, u64 bytes) : stream_(stream) {
        for (Turn& turn : turns_)
            turn = {stream.device().allocate_host(bytes), stream.device().create_event()};
    }

    // The next buffer. Waits until the stream no longer uses it.
    Buffer& next() {
        now_ = 1 - now_;
        turns_[now_].done->synchronize();
        return *turns_[now_].buffer;
    }
    // Marks that the stream's copy of the buffer is enqueued.
    void asked() { stream_.record(*turns_[now_].done); }

  private:
    struct Turn {
        std::shared_ptr<Buffer> buffer;
        std::shared_ptr<Event> done;
    };
    Stream& stream_;
    Turn turns_[2];
    u32 now_ = 0;
};

u64 largest_piece(const VolumeExtents& shape, const StencilBox& box, u64 size) {
    u64 largest = 0;
    each_piece(shape, box, size, [&](u64, u64, u64 bytes) { largest = std::max(largest, bytes); });
    return largest;
}

}  // namespace

void read_box(Stream& stream, Buffer& to, const PipelineSource& from, const VolumeExtents& shape,
              const StencilBox& box) {
    const u64 size = size_of(from.type());
    auto* const host = static_cast<std::byte*>(to.host_pointer());
    if (host != nullptr)
        return each_piece(shape, box, size,
                          [&](u64 of_file, u64 at, u64 bytes) { from.read(host + at, of_file, bytes); });
    Turns turns(stream, largest_piece(shape, box, size));
    each_piece(shape, box, size, [&](u64 of_file, u64 at, u64 bytes) {
        Buffer& staged = turns.next();
        from.read(staged.host_pointer(), of_file, bytes);
        stream.copy(to, at, staged, 0, bytes);
        turns.asked();
    });
    stream.synchronize();
}

void write_box(Stream& stream, const Buffer& from, RankFile& to, const VolumeExtents& shape,
               const StencilBox& box, u64 size) {
    const auto* const host = static_cast<const std::byte*>(const_cast<Buffer&>(from).host_pointer());
    if (host != nullptr) {
        stream.synchronize();
        return each_piece(shape, box, size, [&](u64 of_file, u64 at, u64 bytes) {
            to.write(of_file, {host + at, bytes});
        });
    }
    Turns turns(stream, largest_piece(shape, box, size));
    std::function<void()> before;  // writes the previous piece
    each_piece(shape, box, size, [&](u64 of_file, u64 at, u64 bytes) {
        Buffer& staged = turns.next();
        stream.copy(staged, 0, from, at, bytes);
        const auto event = stream.device().create_event();
        stream.record(*event);
        if (before) before();
        before = [&to, &staged, event, of_file, bytes] {
            event->synchronize();
            to.write(of_file, {static_cast<const std::byte*>(staged.host_pointer()), bytes});
        };
    });
    if (before) before();
}

void combine_ranks(Communicator& ranks, BoxesRun& run) {
    struct Told {
        double compile, upload, kernel, download;
        double messages;
        u64 bytes;
    };
    const Told mine{run.compile, run.upload, run.kernel, run.download, run.messages, run.bytes};
    run.messages = 0;
    run.bytes = 0;
    for (const auto& bytes : ranks.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        Told told{};
        std::memcpy(&told, bytes.data(), sizeof told);
        run.compile = std::max(run.compile, told.compile);
        run.upload = std::max(run.upload, told.upload);
        run.kernel = std::max(run.kernel, told.kernel);
        run.download = std::max(run.download, told.download);
        run.messages += told.messages;
        run.bytes += told.bytes;
    }
}

}  // namespace concord::app
