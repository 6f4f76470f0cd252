// An in-order queue of host work. Each stream has a thread that executes its operations. A caller that waits executes
// them, too, so that a launch followed by synchronize() needs no thread switch. A short operation
// runs in the call if what is before it in the queue is short, too: waking a thread takes longer, and on a CPU both
// threads may share a core. A launch is short if one of the last two of the same kernel with the same shape and counts
// was; see LaunchTimes.
//
// After a kernel has thrown, the queue skips kernels, fills and copies until synchronize() throws the exception. Their
// inputs are incomplete: a later kernel of the same call could take an offset from memory that was never written.
// Events carry the exception to queues that wait for them.

#include "tbb_device.hpp"

#include <concord/backend/launch_limits.hpp>
#include <concord/detail/checked_size.hpp>
#include <concord/detail/float_environment.hpp>
#include <concord/internal/host_threads.hpp>

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace concord::tbb_backend {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

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

// Copies the bytes of a value. The two sizes that most values have need no call.
void copy_value(void* to, const void* from, std::size_t bytes) {
    if (bytes == sizeof(u64)) {
        std::memcpy(to, from, sizeof(u64));
    } else if (bytes == sizeof(u32)) {
        std::memcpy(to, from, sizeof(u32));
    } else {
        std::memcpy(to, from, bytes);
    }
}

// A copy of the arguments of a launch: buffers as pointers, values as bytes. Short lists need no memory of their own.
class Arguments {
  public:
    explicit Arguments(std::span<const KernelArgument> list) {
        u64 bytes = list.size() * sizeof(void*);
        for (const KernelArgument& argument : list)
            bytes += slot(argument);
        std::byte* base = place_;
        if (bytes > sizeof place_) {
            more_.resize(bytes);
            base = more_.data();
        }
        pointers_ = reinterpret_cast<const void**>(base);
        std::byte* at = base + list.size() * sizeof(void*);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const KernelArgument& argument = list[i];
            if (argument.buffer != nullptr) {
                void* pointer = address(backend::memory_of(*argument.buffer)) + argument.offset;
                std::memcpy(at, &pointer, sizeof pointer);
            } else {
                copy_value(at, argument.value, argument.size);
            }
            pointers_[i] = at;
            at += slot(argument);
        }
    }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    const void* const* data() const { return pointers_; }

  private:
    static u64 slot(const KernelArgument& argument) {
        return argument.buffer != nullptr ? sizeof(void*) : (argument.size + u64{7}) / 8 * 8;
    }
    const void** pointers_;
    alignas(8) std::byte place_[320];
    std::vector<std::byte> more_;
};

// What identifies launches that take about the same time: the shape and the integers among the values.
u64 hash_of(const LaunchShape& shape, std::span<const KernelArgument> arguments) {
    u64 hash = 0;
    auto add = [&](u64 value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    };
    add(shape.groups_x);
    add(shape.groups_y);
    add(shape.groups_z);
    for (const KernelArgument& argument : arguments) {
        if (argument.buffer != nullptr || !argument.type || argument.type->structure() != nullptr ||
            is_float(*argument.type))
            continue;
        u64 value = 0;
        copy_value(&value, argument.value, std::min<std::size_t>(sizeof value, argument.size));
        add(value);
    }
    return hash;
}

// Operations of at most this time run in the call, if what is before them in the queue is as short. It is about the
// time in which a thread wakes.
constexpr std::chrono::microseconds brief{50};
// An operation that may take any time.
constexpr nanoseconds unknown = std::chrono::seconds(1);  // the sum over a long queue does not overflow
// Copies and fills of at most this many bytes are as short.
constexpr u64 brief_bytes = u64{128} << 10;

// Tells the processor that the thread waits in a loop.
void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

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
        delete_blocks(unused_);
        delete_blocks(spare_);
    }

    void write(backend::Memory& to, u64 offset, const void* from, u64 bytes) override {
        push(bytes, [=, this, target = address(to) + offset] { copy_bytes(tbb_, target, from, bytes); });
    }
    void read(void* to, const backend::Memory& from, u64 offset, u64 bytes) override {
        push(bytes, [=, this, source = address(from) + offset] { copy_bytes(tbb_, to, source, bytes); });
    }
    void copy(backend::Memory& to, u64 to_offset, const backend::Memory& from, u64 from_offset,
              u64 bytes) override {
        push(bytes, [=, this, target = address(to) + to_offset, source = address(from) + from_offset] {
            copy_bytes(tbb_, target, source, bytes);
        });
    }
    void fill(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) override {
        u64 value = 0;
        std::memcpy(&value, pattern, pattern_size);
        push(bytes, [=, this, target = address(to) + offset] {
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
        const Launch launch{.entry = kernel.entry, .shape = shape, .groups = groups.value()};
        const u64 hash = hash_of(shape, arguments);
        const nanoseconds expected = kernel.times->recent(hash);
        if (expected <= brief) {
            const Arguments copies(arguments);  // the kernel may write where the caller's values are
            if (begin_in_call(expected)) {
                // Reading the clock takes as long as the shortest kernels, which are measured now and then.
                const bool is_measured = expected > brief / 8 || ++launches_ % 8 == 0;
                return run_in_call([&] {
                    if (!is_measured) return run(launch, copies.data());
                    const Clock::time_point start = Clock::now();
                    run(launch, copies.data());
                    kernel.times->add(hash, Clock::now() - start);
                });
            }
        }
        append(make<QueuedLaunch>(*this, launch, kernel.times, hash, arguments), expected);
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
                   [mark = static_cast<const TbbEvent&>(event).latest()] { mark->wait_and_rethrow(); }),
               unknown);
    }
    void callback(std::function<void()> f) override {
        append(make_operation<Role::callback>(std::move(f)), unknown);
    }

    void synchronize() override {
        std::unique_lock lock(mutex_);
        while (first_ != nullptr || running_) {
            if (reserved_) {
                // The call that reserved the queue runs all of it.
                done_.wait(lock, [&] { return !reserved_; });
            } else if (running_) {
                wait_for_operation(lock);
            } else {
                run_front(lock);
            }
        }
        skips_ = cancels_ = false;
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    bool idle() override {
        const std::lock_guard lock(mutex_);
        return first_ == nullptr && !running_;
    }
    void cancel() override {
        const auto failure = std::make_exception_ptr(
            Error(ErrorCode::device_failed, "Stream::synchronize", "work of the stream was cancelled"));
        const std::lock_guard lock(mutex_);
        if (first_ == nullptr && !running_) return;
        cancels_ = skips_ = true;
        if (!failure_) failure_ = failure;
    }

  private:
    // A move-only function (std::function requires copies) and its place in the queue.
    // Work is skipped after a failure of work or order. A callback that throws does not affect later work.
    enum class Role { work, order, callback };
    struct Operation {
        explicit Operation(Role role) : role(role) {}
        Operation(const Operation&) = delete;
        Operation& operator=(const Operation&) = delete;
        virtual ~Operation() = default;
        virtual void run() = 0;
        const Role role;
        nanoseconds expected{0};
        Operation* next = nullptr;
    };
    template <class F>
    struct OperationOf final : Operation {
        OperationOf(Role role, F&& f) : Operation(role), f(std::move(f)) {}
        void run() override { f(); }
        F f;
    };
    struct Launch {
        HostKernel::Entry entry;
        LaunchShape shape;
        u64 groups;
    };
    struct QueuedLaunch final : Operation {
        QueuedLaunch(TbbQueue& queue, const Launch& launch, std::shared_ptr<LaunchTimes> times, u64 hash,
                     std::span<const KernelArgument> arguments)
            : Operation(Role::work),
              queue(queue),
              launch(launch),
              times(std::move(times)),
              hash(hash),
              arguments(arguments) {}
        void run() override {
            const Clock::time_point start = Clock::now();
            queue.run(launch, arguments.data());
            times->add(hash, Clock::now() - start);
        }
        TbbQueue& queue;
        const Launch launch;
        const std::shared_ptr<LaunchTimes> times;  // the kernel may not exist any more
        const u64 hash;
        const Arguments arguments;
    };

    // Operations lie in blocks that the queue uses again. One thread allocates and another one frees, and the lock of
    // an allocator between them would cost more than a short kernel.
    static constexpr u64 block_bytes = 640, max_spare = 1024;
    static_assert(sizeof(QueuedLaunch) <= block_bytes);
    struct Destroy {
        void operator()(Operation* operation) const {
            operation->~Operation();
            ::operator delete(operation);
        }
    };
    using OperationPtr = std::unique_ptr<Operation, Destroy>;

    // A mark that no event has yet, and the operation that reaches it.
    struct NewMark {
        std::shared_ptr<Mark> mark;
        OperationPtr reach;
    };

    // Core makes one call that enqueues at a time, and no other call takes blocks.
    void* new_block() {
        if (unused_ == nullptr) {
            const std::lock_guard lock(mutex_);
            unused_ = std::exchange(spare_, nullptr);
            spares_ = 0;
        }
        if (unused_ == nullptr) return ::operator new(block_bytes);
        void* const block = unused_;
        std::memcpy(&unused_, block, sizeof unused_);
        return block;
    }
    // The caller holds the lock.
    void keep_block(void* block) {
        if (spares_ == max_spare) return ::operator delete(block);
        ++spares_;
        std::memcpy(block, &spare_, sizeof spare_);
        spare_ = block;
    }
    static void delete_blocks(void* list) {
        while (list != nullptr) {
            void* const block = list;
            std::memcpy(&list, block, sizeof list);
            ::operator delete(block);
        }
    }

    template <class T, class... A>
    OperationPtr make(A&&... a) {
        static_assert(sizeof(T) <= block_bytes && alignof(T) <= alignof(std::max_align_t));
        void* const block = new_block();
        try {
            return OperationPtr(new (block) T(std::forward<A>(a)...));
        } catch (...) {
            ::operator delete(block);
            throw;
        }
    }
    template <Role role, class F>
    OperationPtr make_operation(F f) {
        return make<OperationOf<F>>(role, std::move(f));
    }
    NewMark make_mark() {
        auto mark = std::make_shared<Mark>();
        return {mark, make_operation<Role::order>([this, mark] { mark->reach(failure_of_work()); })};
    }
    std::exception_ptr failure_of_work() {
        const std::lock_guard lock(mutex_);
        return skips_ ? failure_ : nullptr;
    }

    // bytes: that f copies or fills.
    template <class F>
    void push(u64 bytes, F f) {
        const nanoseconds expected = bytes <= brief_bytes ? brief / 2 : unknown;
        if (begin_in_call(expected)) return run_in_call(f);
        append(make_operation<Role::work>(std::move(f)), expected);
    }
    // The event moves to the mark only now: an event must not wait for a mark that never reached the queue.
    void place(backend::Event& event, NewMark made) noexcept {
        if (begin_in_call(nanoseconds(0))) {
            run_in_call([&] { made.mark->reach(nullptr); });
        } else {
            append(std::move(made.reach), nanoseconds(0));
        }
        static_cast<TbbEvent&>(event).move_to(std::move(made.mark));
    }
    void append(OperationPtr operation, nanoseconds expected) noexcept {
        bool wake = false;
        {
            const std::unique_lock lock = locked();
            Operation* const added = operation.release();
            added->expected = expected;
            expected_ += expected;
            (first_ != nullptr ? last_->next : first_) = added;
            last_ = added;
            wake = asleep_ && !running_;  // a thread that runs an operation continues with this one
        }
        if (wake) wake_.notify_one();
    }

    void run(const Launch& launch, const void* const* arguments) {
        const LaunchShape& shape = launch.shape;
        LaunchState state;
        const auto run_groups = [&](u64 first, u64 last) {
            const detail::DefaultFloatEnvironment environment;
            Group group;
            group.launch = &state;
            group.count_x = shape.groups_x;
            group.count_y = shape.groups_y;
            group.count_z = shape.groups_z;
            if (shape.local_bytes > 0) group.local = local_memory(shape.local_bytes);
            if (first > 0) {
                group.x = first % shape.groups_x;
                group.y = first / shape.groups_x % shape.groups_y;
                group.z = first / shape.groups_x / shape.groups_y;
            }
            for (u64 i = first; i < last && !state.cancelled.load(std::memory_order_relaxed); ++i) {
                if (cancels_.load(std::memory_order_relaxed)) [[unlikely]] {
                    state.cancelled = true;  // ends groups that wait for this one
                    break;
                }
                launch.entry(group, arguments);
                if (++group.x < shape.groups_x) continue;
                group.x = 0;
                if (++group.y < shape.groups_y) continue;
                group.y = 0;
                ++group.z;
            }
        };
        if (launch.groups == 1) return run_groups(0, 1);
        std::exception_ptr failure;  // of the group that failed first
        tbb_.parallel(launch.groups, 1, [&](u64 first, u64 last) {
            try {
                run_groups(first, last);
            } catch (...) {
                if (!state.cancelled.exchange(true)) failure = std::current_exception();
            }
        });
        if (failure) std::rethrow_exception(failure);
    }

    // Waits a little for the lock, which other threads hold for a short time, before the system suspends the caller.
    std::unique_lock<std::mutex> locked() {
        std::unique_lock lock(mutex_, std::try_to_lock);
        for (int i = 0; i < 100 && !lock.owns_lock(); ++i) {
            pause();
            lock.try_lock();
        }
        if (!lock.owns_lock()) lock.lock();
        return lock;
    }

    // Reserves the queue for an operation of the caller, and returns whether it did: if the operation is short, and so
    // are those before it. The caller then runs those before it.
    bool begin_in_call(nanoseconds expected) noexcept {
        if (expected > brief) return false;
        std::unique_lock lock = locked();
        if (skips_ || reserved_ || expected_ > brief) return false;
        reserved_ = true;
        if (running_) wait_for_operation(lock);
        while (first_ != nullptr)
            run_front(lock);
        reserved_ = false;
        // One of them may have failed. Then the operation is skipped, as any that is queued.
        if (skips_) {
            lock.unlock();
            done_.notify_all();
            return false;
        }
        running_ = true;
        return true;
    }
    // Another thread runs an operation, which is often short. Spins for a few microseconds, then sleeps.
    void wait_for_operation(std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        for (int i = 0; i < 200 && running_; ++i)
            std::this_thread::yield();
        lock.lock();
        done_.wait(lock, [&] { return !running_; });
    }
    // Runs the operation for which the caller has reserved the queue.
    template <class F>
    void run_in_call(const F& f) noexcept {
        std::exception_ptr failure;
        try {
            f();
        } catch (...) {
            failure = std::current_exception();
        }
        bool wake = false;
        {
            const std::unique_lock lock = locked();
            end_operation(failure, failure != nullptr);
            done_.notify_all();
            wake = first_ != nullptr && asleep_;
        }
        if (wake) wake_.notify_one();
    }

    // Runs the first operation without the lock. No other operation is running, and the caller continues until the
    // queue is empty.
    void run_front(std::unique_lock<std::mutex>& lock) {
        Operation* const operation = first_;
        first_ = operation->next;
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
        const nanoseconds expected = operation->expected;
        operation->~Operation();
        lock = locked();
        expected_ -= expected;
        keep_block(operation);
        end_operation(failure, skips);
        if (first_ == nullptr || reserved_) done_.notify_all();
    }
    void end_operation(const std::exception_ptr& failure, bool skips) {
        running_ = false;
        skips_ = skips_ || skips;
        if (failure && !failure_) failure_ = failure;
    }

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            if (running_ || reserved_) {
                done_.wait(lock, [&] { return !running_ && !reserved_; });
            } else if (first_ != nullptr) {
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
    Operation* first_ = nullptr;
    Operation* last_ = nullptr;  // if there is a first one
    void* unused_ = nullptr;     // blocks for the caller's next operations, linked by their first bytes
    void* spare_ = nullptr;      // blocks of operations that have ended
    u64 spares_ = 0;
    std::atomic<bool> running_ = false;  // written under the lock
    bool reserved_ = false;    // for a call that runs what is in the queue, and then its own operation
    nanoseconds expected_{0};  // time of the operations in the queue, including the one that runs
    u64 launches_ = 0;         // that ran in the call
    bool asleep_ = false;
    bool closing_ = false;
    bool skips_ = false;                 // work or order has failed
    std::atomic<bool> cancels_ = false;  // no further group starts; written under the lock
    std::exception_ptr failure_;         // the first one
    std::thread worker_;                 // last, because it uses all of the above
};

}  // namespace

std::unique_ptr<backend::Queue> TbbDevice::create_queue(concord::Device& /*device*/, Priority /*priority*/) {
    return std::make_unique<TbbQueue>(*this);
}

std::unique_ptr<backend::Event> TbbDevice::create_event() {
    return std::make_unique<TbbEvent>();
}

}  // namespace concord::tbb_backend
