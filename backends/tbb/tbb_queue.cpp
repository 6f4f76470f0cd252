// An in-order queue of host work. Each stream has a thread that executes its operations. A caller that waits executes
// them, too, so that a short launch followed by synchronize() needs no thread switch.
//
// After a kernel has thrown, the queue skips kernels, fills and copies until synchronize() throws the exception. Their
// inputs are incomplete: a later kernel of the same call could take an offset from memory that was never written.
// Events carry the exception to queues that wait for them.

#include "tbb_device.hpp"

#include <concord/backend/launch_limits.hpp>
#include <concord/detail/checked_size.hpp>
#include <concord/internal/host_threads.hpp>

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

namespace concord::tbb_backend {
namespace {

using Clock = std::chrono::steady_clock;

// One mark of an event.
class Mark {
  public:
    // failure: of the queue, or null.
    void reach(std::exception_ptr failure) {
        const std::lock_guard lock(mutex_);
        time_ = Clock::now();
        failure_ = std::move(failure);
        reached_ = true;
        changed_.notify_all();
    }
    bool reached() const {
        const std::lock_guard lock(mutex_);
        return reached_;
    }
    Clock::time_point wait() const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return reached_; });
        return time_;
    }
    void wait_and_rethrow() const {
        wait();
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    // Final after reached_ is set.
    bool reached_ = false;
    Clock::time_point time_;
    std::exception_ptr failure_;
};

class TbbEvent final : public backend::Event {
  public:
    bool done() const override { return latest()->reached(); }
    void synchronize() const override { latest()->wait(); }
    double milliseconds_since(const backend::Event& start) const override {
        const auto begin = static_cast<const TbbEvent&>(start).latest(), end = latest();
        return std::chrono::duration<double, std::milli>(end->wait() - begin->wait()).count();
    }

    std::shared_ptr<Mark> latest() const {
        const std::lock_guard lock(mutex_);
        return mark_;
    }
    void move_to(std::shared_ptr<Mark> mark) noexcept {
        const std::lock_guard lock(mutex_);
        mark_.swap(mark);
    }

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<Mark> mark_;
};

std::byte* address(const backend::Memory& memory) {
    return static_cast<std::byte*>(const_cast<backend::Memory&>(memory).host_pointer());
}

// Local memory of the threads that run groups. It grows and never shrinks. Not a thread_local object: the C library
// ends the process if it cannot register the destructor.
class LocalMemory {
  public:
    LocalMemory() {
        if (pthread_key_create(&key_, [](void* block) { std::free(block); }) != 0) throw std::bad_alloc();
    }
    // The calling thread's memory, at least `bytes` bytes.
    std::byte* of_thread(u64 bytes) {
        auto* block = static_cast<Block*>(pthread_getspecific(key_));
        if (block == nullptr || block->bytes < bytes) block = replace(block, (bytes + 63) / 64 * 64);
        return reinterpret_cast<std::byte*>(block + 1);
    }

  private:
    struct alignas(64) Block {
        u64 bytes;  // behind this header
    };
    Block* replace(Block* old, u64 bytes) {
        auto* const block = static_cast<Block*>(std::aligned_alloc(alignof(Block), sizeof(Block) + bytes));
        if (block == nullptr || pthread_setspecific(key_, block) != 0) {
            std::free(block);
            throw std::bad_alloc();
        }
        std::free(old);
        block->bytes = bytes;
        return block;
    }

    pthread_key_t key_{};
};

std::byte* local_memory(u64 bytes) {
    static LocalMemory memory;
    return memory.of_thread(bytes);
}

// A copy of the arguments of a launch: buffers as pointers, values as bytes.
class Arguments {
  public:
    explicit Arguments(std::span<const KernelArgument> list) : pointers_(list.size()) {
        u64 bytes = 0;
        for (const KernelArgument& argument : list)
            bytes += slot(argument);
        values_.resize(bytes);
        std::byte* at = values_.data();
        for (std::size_t i = 0; i < list.size(); ++i) {
            const KernelArgument& argument = list[i];
            if (argument.buffer != nullptr) {
                void* pointer = address(backend::memory_of(*argument.buffer)) + argument.offset;
                std::memcpy(at, &pointer, sizeof pointer);
            } else {
                std::memcpy(at, argument.value, argument.size);
            }
            pointers_[i] = at;
            at += slot(argument);
        }
    }
    Arguments(Arguments&&) = default;  // moving a vector keeps the addresses of its elements

    const void* const* data() const { return pointers_.data(); }

  private:
    static u64 slot(const KernelArgument& argument) {
        return argument.buffer != nullptr ? sizeof(void*) : (argument.size + u64{7}) / 8 * 8;
    }
    std::vector<std::byte> values_;
    std::vector<const void*> pointers_;
};

class TbbQueue final : public backend::Queue {
  public:
    explicit TbbQueue(TbbDevice& device)
        : tbb_(device), worker_(detail::start_thread("Device::create_stream", [this] { work(); })) {}

    ~TbbQueue() override {
        {
            const std::lock_guard lock(mutex_);
            closing_ = true;
        }
        wake_.notify_one();
        worker_.join();
    }

    void write(backend::Memory& to, u64 offset, const void* from, u64 bytes) override {
        push([=, this, target = address(to) + offset] { copy_bytes(tbb_, target, from, bytes); });
    }
    void read(void* to, const backend::Memory& from, u64 offset, u64 bytes) override {
        push([=, this, source = address(from) + offset] { copy_bytes(tbb_, to, source, bytes); });
    }
    void copy(backend::Memory& to, u64 to_offset, const backend::Memory& from, u64 from_offset,
              u64 bytes) override {
        push([=, this, target = address(to) + to_offset, source = address(from) + from_offset] {
            copy_bytes(tbb_, target, source, bytes);
        });
    }
    void fill(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) override {
        u64 value = 0;
        std::memcpy(&value, pattern, pattern_size);
        push([=, this, target = address(to) + offset] {
            fill_bytes(tbb_, target, &value, pattern_size, bytes);
        });
    }

    void launch(const backend::Kernel& launched, const LaunchShape& shape,
                std::span<const KernelArgument> arguments) override {
        const auto& kernel = static_cast<const HostFunctionKernel&>(launched);
        backend::check_group(kernel.name, {.local_memory = tbb_.traits().local_memory}, shape);
        kernel.check(arguments);
        const detail::CheckedSize plane = detail::CheckedSize(shape.groups_x) * shape.groups_y,
                                  groups = plane * shape.groups_z;
        if (!groups.fits())
            backend::refuse_launch(kernel.name, "grid too large, the number of groups overflows 64 bits");
        push([=, this, entry = kernel.entry, list = Arguments(arguments)] {
            LaunchState state;
            std::exception_ptr failure;  // of the group that failed first
            const auto run_groups = [&](u64 first, u64 last) {
                Group group;
                group.launch = &state;
                group.count_x = shape.groups_x;
                group.count_y = shape.groups_y;
                group.count_z = shape.groups_z;
                if (shape.local_bytes > 0) group.local = local_memory(shape.local_bytes);
                group.x = first % shape.groups_x;
                group.y = first / shape.groups_x % shape.groups_y;
                group.z = first / plane.value();
                for (u64 i = first; i < last && !state.cancelled.load(std::memory_order_relaxed); ++i) {
                    entry(group, list.data());
                    if (++group.x < shape.groups_x) continue;
                    group.x = 0;
                    if (++group.y < shape.groups_y) continue;
                    group.y = 0;
                    ++group.z;
                }
            };
            tbb_.parallel(groups.value(), 1, [&](u64 first, u64 last) {
                try {
                    run_groups(first, last);
                } catch (...) {
                    if (!state.cancelled.exchange(true)) failure = std::current_exception();
                }
            });
            if (failure) std::rethrow_exception(failure);
        });
    }

    void record(backend::Event& event) override { place(event, make_mark()); }
    // Makes both marks first, so that nothing can fail after the operation is in the queue.
    void time(backend::Event& begin, backend::Event& end, const std::function<void()>& enqueue) override {
        NewMark before = make_mark(), after = make_mark();
        place(begin, std::move(before));
        enqueue();
        place(end, std::move(after));
    }
    void wait(const backend::Event& event) override {
        append(make_operation<Role::order>(
            [mark = static_cast<const TbbEvent&>(event).latest()] { mark->wait_and_rethrow(); }));
    }
    void callback(std::function<void()> f) override { append(make_operation<Role::callback>(std::move(f))); }

    void synchronize() override {
        std::unique_lock lock(mutex_);
        while (first_ || running_) {
            if (!running_) {
                run_front(lock);
                continue;
            }
            // Another thread executes an operation, which is often short. Spins for a few microseconds, then sleeps.
            lock.unlock();
            for (int i = 0; i < 200 && running_; ++i)
                std::this_thread::yield();
            lock.lock();
            done_.wait(lock, [&] { return !running_; });
        }
        skips_ = false;
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    bool idle() override {
        const std::lock_guard lock(mutex_);
        return !first_ && !running_;
    }

  private:
    // A move-only function (std::function requires copies) and its place in the queue.
    // Work is skipped after a failure of work or order. A callback that throws does not affect later work.
    enum class Role { work, order, callback };
    struct Operation {
        explicit Operation(Role role) : role(role) {}
        virtual ~Operation() = default;
        virtual void run() = 0;
        const Role role;
        std::unique_ptr<Operation> next;
    };
    template <class F>
    struct OperationOf final : Operation {
        OperationOf(Role role, F&& f) : Operation(role), f(std::move(f)) {}
        void run() override { f(); }
        F f;
    };

    // A mark that no event has yet, and the operation that reaches it.
    struct NewMark {
        std::shared_ptr<Mark> mark;
        std::unique_ptr<Operation> reach;
    };

    template <Role role, class F>
    static std::unique_ptr<Operation> make_operation(F f) {
        return std::make_unique<OperationOf<F>>(role, std::move(f));
    }
    NewMark make_mark() {
        auto mark = std::make_shared<Mark>();
        return {mark, make_operation<Role::order>([this, mark] { mark->reach(failure_of_work()); })};
    }
    std::exception_ptr failure_of_work() {
        const std::lock_guard lock(mutex_);
        return skips_ ? failure_ : nullptr;
    }

    template <class F>
    void push(F f) {
        append(make_operation<Role::work>(std::move(f)));
    }
    // The event moves to the mark only now: an event must not wait for a mark that never reached the queue.
    void place(backend::Event& event, NewMark made) noexcept {
        append(std::move(made.reach));
        static_cast<TbbEvent&>(event).move_to(std::move(made.mark));
    }
    void append(std::unique_ptr<Operation> operation) noexcept {
        bool wake = false;
        {
            const std::lock_guard lock(mutex_);
            Operation* const added = operation.get();
            (first_ ? last_->next : first_) = std::move(operation);
            last_ = added;
            wake = asleep_;
        }
        if (wake) wake_.notify_one();
    }

    // Runs the first operation without the lock. No other operation is running.
    void run_front(std::unique_lock<std::mutex>& lock) {
        std::unique_ptr<Operation> operation = std::move(first_);
        first_ = std::move(operation->next);
        const bool skipped = skips_ && operation->role == Role::work;
        running_ = true;
        lock.unlock();
        std::exception_ptr failure;
        try {
            if (!skipped) operation->run();
        } catch (...) {
            failure = std::current_exception();
        }
        const bool skips = failure && operation->role != Role::callback;
        operation.reset();
        lock.lock();
        running_ = false;
        skips_ = skips_ || skips;
        if (failure && !failure_) failure_ = failure;
        done_.notify_all();
    }

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            if (running_) {
                done_.wait(lock, [&] { return !running_; });
            } else if (first_) {
                run_front(lock);
            } else if (closing_) {
                return;
            } else {
                asleep_ = true;
                wake_.wait(lock);
                asleep_ = false;
            }
        }
    }

    TbbDevice& tbb_;
    std::mutex mutex_;
    std::condition_variable wake_;  // wakes the worker: the queue is not empty, or closing_
    std::condition_variable done_;  // an operation has ended
    std::unique_ptr<Operation> first_;
    Operation* last_ = nullptr;          // if there is a first one
    std::atomic<bool> running_ = false;  // written under the lock
    bool asleep_ = false;
    bool closing_ = false;
    bool skips_ = false;          // work or order has failed
    std::exception_ptr failure_;  // the first one
    std::thread worker_;          // last, because it uses all of the above
};

}  // namespace

std::unique_ptr<backend::Queue> TbbDevice::create_queue(concord::Device& /*device*/, Priority /*priority*/) {
    return std::make_unique<TbbQueue>(*this);
}

std::unique_ptr<backend::Event> TbbDevice::create_event() {
    return std::make_unique<TbbEvent>();
}

}  // namespace concord::tbb_backend
