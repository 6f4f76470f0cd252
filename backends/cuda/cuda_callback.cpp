#include "cuda_callback.hpp"

#include <concord/internal/host_threads.hpp>

#include <utility>

namespace concord::cuda {

CallbackThread::CallbackThread()
    : queue_(std::make_shared<Queue>()),
      thread_(detail::start_thread("Stream::callback", [queue = queue_] { work(queue); })) {}

CallbackThread::~CallbackThread() {
    {
        const std::lock_guard lock(queue_->mutex);
        queue_->closing = true;
    }
    queue_->changed.notify_all();
    if (thread_.get_id() == std::this_thread::get_id()) {
        thread_.detach();
    } else {
        thread_.join();
    }
}

void CallbackThread::run(std::function<void()> f) {
    Job job{std::move(f), {}};
    const std::future<void> done = job.done.get_future();
    {
        const std::lock_guard lock(queue_->mutex);
        queue_->jobs.push_back(std::move(job));
    }
    queue_->changed.notify_one();
    done.wait();
}

void CallbackThread::work(const std::shared_ptr<Queue>& queue) {
    for (;;) {
        std::unique_lock lock(queue->mutex);
        queue->changed.wait(lock, [&] { return queue->closing || !queue->jobs.empty(); });
        if (queue->jobs.empty()) return;
        Job job = std::move(queue->jobs.front());
        queue->jobs.pop_front();
        lock.unlock();
        job.f();
        job.done.set_value();
    }
}

void StreamCallbacks::push(CallbackThread& thread, std::function<void()> f) {
    const std::lock_guard lock(mutex_);
    pending_.push_back({&thread, std::move(f)});
    ++unfinished_;
}

void StreamCallbacks::pop() {
    Pending last;
    const std::lock_guard lock(mutex_);
    last = std::move(pending_.back());
    pending_.pop_back();
    --unfinished_;
}

bool StreamCallbacks::pending() const {
    const std::lock_guard lock(mutex_);
    return unfinished_ > 0;
}

void StreamCallbacks::run_next() noexcept try {
    struct Finished {
        StreamCallbacks& callbacks;
        ~Finished() {
            const std::lock_guard lock(callbacks.mutex_);
            --callbacks.unfinished_;
        }
    } finished{*this};
    Pending next;
    {
        const std::lock_guard lock(mutex_);
        next = std::move(pending_.front());
        pending_.pop_front();
    }
    next.thread->run([self = shared_from_this(), f = std::move(next.f)] {
        try {
            f();
        } catch (...) {
            self->keep(std::current_exception());
        }
    });
} catch (...) {
    keep(std::current_exception());
}

void StreamCallbacks::keep(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
}

void StreamCallbacks::rethrow() {
    std::exception_ptr error;
    {
        const std::lock_guard lock(mutex_);
        error = std::exchange(error_, nullptr);
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace concord::cuda
