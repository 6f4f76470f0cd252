#pragma once
// How far a stream is. Buffers that it uses share this, so that they can ask while the stream is being destroyed.

#include "memory/adopted_memory.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace concord::detail {

class StreamProgress {
  public:
    std::atomic<bool> ended = false;  // all of its work is done

    // Whether the work up to a ticket is known to be done.
    bool completed(u64 ticket) const { return completed_ >= ticket; }
    void complete(u64 ticket) {
        for (u64 seen = completed_; seen < ticket && !completed_.compare_exchange_weak(seen, ticket);) {
        }
    }

    // Whether the calling thread runs a callback of the stream, whose later work cannot end before it returns.
    bool in_callback() const { return callback_thread_ == std::this_thread::get_id(); }
    // A callback of the stream runs on the calling thread during the lifetime of the object.
    class Callback {
      public:
        explicit Callback(StreamProgress& progress)
            : progress_(progress), outer_(progress.callback_thread_.exchange(std::this_thread::get_id())) {}
        ~Callback() { progress_.callback_thread_ = outer_; }
        Callback(const Callback&) = delete;
        Callback& operator=(const Callback&) = delete;

      private:
        StreamProgress& progress_;
        std::thread::id outer_;  // a callback that destroys its stream may run the remaining ones
    };

    // When memory that the stream keeps is released.
    enum class Until {
        synchronized,  // at the next end of Stream::synchronize, or when the stream is destroyed
        destroyed
    };
    // Takes the memory, unless the stream has ended. Returns whether it did.
    bool keep(std::unique_ptr<AdoptedMemory>& memory, Until until) {
        const std::lock_guard lock(mutex_);
        if (ended) return false;
        std::unique_ptr<AdoptedMemory>& list =
            until == Until::destroyed ? until_destroyed_ : until_synchronized_;
        memory->next = std::move(list);
        list = std::move(memory);
        return true;
    }
    // What is released at the end of Stream::synchronize.
    std::unique_ptr<AdoptedMemory> take_synchronized() {
        const std::lock_guard lock(mutex_);
        return std::move(until_synchronized_);
    }
    // Releases all that the stream keeps. Its work is done.
    void end() {
        std::unique_ptr<AdoptedMemory> first, second;
        {
            const std::lock_guard lock(mutex_);
            ended = true;
            first = std::move(until_synchronized_);
            second = std::move(until_destroyed_);
        }
        release_all(std::move(first));
        release_all(std::move(second));
    }

  private:
    std::atomic<u64> completed_ = 0;
    std::atomic<std::thread::id> callback_thread_ = {};
    std::mutex mutex_;
    std::unique_ptr<AdoptedMemory> until_synchronized_, until_destroyed_;
};

}  // namespace concord::detail
