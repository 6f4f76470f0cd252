#include <concord/backend/staging.hpp>

#include <concord/internal/host_copy.hpp>

#include "kernel/helpers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace concord::backend {
namespace {

// The number of polls before a helper sleeps. They take longer than the transfer of a chunk, about 80 us.
constexpr u32 looks_before_sleep = 256;

}  // namespace

// The host's part of one copy, divided into pieces that threads take in order. Pieces are opened chunk by chunk: when
// the ring has a free chunk (uploads), or when the device has transferred a chunk (downloads).
class Staging::Job {
  public:
    Job(Staging& ring, std::byte* to, const std::byte* from, u64 bytes)
        : ring_(ring), to_(to), from_(from), bytes_(bytes), left_(ring.shape_.chunks) {}

    u64 chunks() const { return divide_up(bytes_, ring_.shape_.chunk_bytes); }
    u64 length(u64 chunk) const {
        return std::min(ring_.shape_.chunk_bytes, bytes_ - chunk * ring_.shape_.chunk_bytes);
    }

    // Opens the pieces of the next chunk.
    void open() {
        const u64 chunk = opened_++;
        const u64 pieces = divide_up(length(chunk), ring_.shape_.piece_bytes);
        left_[chunk % left_.size()].store(pieces, std::memory_order_relaxed);
        // All chunks except the last one have the same number of pieces.
        limit_.store(chunk * pieces_of_chunk() + pieces, std::memory_order_release);
        limit_.notify_all();
    }
    u64 opened() const { return opened_; }
    // Whether all pieces of an open chunk are copied.
    bool is_copied(u64 chunk) const {
        return left_[chunk % left_.size()].load(std::memory_order_acquire) == 0;
    }

    // Copies a piece if one is open.
    bool help() {
        u64 piece = next_.load(std::memory_order_relaxed);
        do {
            const u64 limit = limit_.load(std::memory_order_acquire);
            if (limit == closed || piece >= limit) return false;
        } while (!next_.compare_exchange_weak(piece, piece + 1, std::memory_order_relaxed));
        const Shape& shape = ring_.shape_;
        const u64 chunk = piece / pieces_of_chunk(), in_chunk = piece % pieces_of_chunk() * shape.piece_bytes;
        const u64 at = chunk * shape.chunk_bytes + in_chunk;
        const u64 count = std::min(shape.piece_bytes, length(chunk) - in_chunk);
        std::byte* const staged =
            static_cast<std::byte*>(ring_.chunks_[chunk % left_.size()].memory->host_pointer()) + in_chunk;
        detail::copy_past_cache(to_ != nullptr ? to_ + at : staged, to_ != nullptr ? staged : from_ + at,
                                count);
        left_[chunk % left_.size()].fetch_sub(1, std::memory_order_release);
        return true;
    }
    // Copies pieces until close().
    void help_until_closed() {
        for (u32 looks = 0;;) {
            if (help()) {
                looks = 0;
                continue;
            }
            const u64 limit = limit_.load(std::memory_order_acquire);
            if (limit == closed) return;
            if (next_.load(std::memory_order_relaxed) < limit) continue;
            if (++looks < looks_before_sleep) {
                std::this_thread::yield();
            } else {
                limit_.wait(limit, std::memory_order_acquire);
            }
        }
    }
    // The helpers during one copy.
    class Crew {
      public:
        explicit Crew(Job& job)
            : job_(job), work_([&job] { job.help_until_closed(); }), helpers_(job.useful_helpers(), work_) {}
        ~Crew() { job_.close(); }  // before the destructor of helpers_ waits
        Crew(const Crew&) = delete;
        Crew& operator=(const Crew&) = delete;

      private:
        Job& job_;
        std::function<void()> work_;
        detail::Helpers helpers_;
    };

  private:
    void close() {
        limit_.store(closed, std::memory_order_release);
        limit_.notify_all();
    }
    u32 useful_helpers() const {
        return static_cast<u32>(
            std::min<u64>(ring_.shape_.helpers, divide_up(bytes_, ring_.shape_.piece_bytes) - 1));
    }
    static constexpr u64 closed = ~u64{0};
    static u64 divide_up(u64 n, u64 by) { return (n + by - 1) / by; }
    u64 pieces_of_chunk() const { return divide_up(ring_.shape_.chunk_bytes, ring_.shape_.piece_bytes); }

    Staging& ring_;
    std::byte* to_;          // null: an upload
    const std::byte* from_;  // null: a download
    u64 bytes_;
    u64 opened_ = 0;
    std::vector<std::atomic<u64>> left_;      // by place in the ring: pieces that are not yet copied
    alignas(64) std::atomic<u64> limit_ = 0;  // the pieces before it are open
    alignas(64) std::atomic<u64> next_ = 0;   // the pieces before it are taken
};

Staging::Staging(concord::Device& device) : Staging(device, Shape{}) {}

Staging::Staging(concord::Device& device, const Shape& shape)
    : device_(device), shape_(shape), chunks_(shape.chunks) {}

Staging::~Staging() = default;

bool Staging::prepare(u64 bytes) {
    const u64 needed = std::min<u64>(chunks_.size(), (bytes + shape_.chunk_bytes - 1) / shape_.chunk_bytes);
    try {
        for (u64 i = 0; i < needed; ++i) {
            if (!chunks_[i].memory) chunks_[i].memory = device_.allocate_host(shape_.chunk_bytes);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        return false;
    }
    return true;
}

void Staging::start_chunk(const Job& job, u64 i) {
    const u32 place = static_cast<u32>(i % chunks_.size());
    Chunk& chunk = chunks_[place];
    start(place, static_cast<std::byte*>(chunk.memory->host_pointer()), i * shape_.chunk_bytes,
          job.length(i));
    chunk.in_transfer = true;
}

bool Staging::is_free(u64 i) {
    const u32 place = static_cast<u32>(i % chunks_.size());
    Chunk& chunk = chunks_[place];
    if (chunk.in_transfer && ended(place)) chunk.in_transfer = false;
    return !chunk.in_transfer;
}

void Staging::wait_for_chunk(u64 i) {
    const u32 place = static_cast<u32>(i % chunks_.size());
    if (chunks_[place].in_transfer) wait(place);
    chunks_[place].in_transfer = false;
}

bool Staging::upload(const void* from, u64 bytes) {
    if (!prepare(bytes)) return false;
    Job job(*this, nullptr, static_cast<const std::byte*>(from), bytes);
    const Job::Crew crew(job);
    const u64 count = job.chunks(), ring = chunks_.size();
    for (u64 sent = 0; sent < count;) {
        const u64 opened = job.opened();
        if (opened < count && opened < sent + ring && is_free(opened)) {
            job.open();
        } else if (sent < opened && job.is_copied(sent)) {
            start_chunk(job, sent++);
        } else if (job.help()) {
            continue;
        } else if (sent == opened) {
            wait_for_chunk(opened);  // nothing to copy and nothing to send: all chunks are in transfer
        } else {
            std::this_thread::yield();
        }
    }
    return true;
}

bool Staging::download(void* to, u64 bytes) {
    if (!prepare(bytes)) return false;
    Job job(*this, static_cast<std::byte*>(to), nullptr, bytes);
    const u64 count = job.chunks(), ring = chunks_.size();
    u64 asked = 0;
    for (; asked < std::min(count, ring); ++asked) {
        wait_for_chunk(asked);  // it may be in transfer from an earlier upload
        start_chunk(job, asked);
    }
    wait_for_chunk(0);  // waits for earlier work of the stream; helpers have no pieces before
    const Job::Crew crew(job);
    for (u64 done = 0; done < count;) {
        const u64 opened = job.opened();
        if (opened < asked && is_free(opened)) {
            job.open();
        } else if (done < opened && job.is_copied(done)) {
            // Reuses the place for the chunk one round later.
            if (++done, asked < count) start_chunk(job, asked++);
        } else if (job.help()) {
            continue;
        } else if (done == opened) {
            wait_for_chunk(opened);
        } else {
            std::this_thread::yield();
        }
    }
    return true;
}

}  // namespace concord::backend
