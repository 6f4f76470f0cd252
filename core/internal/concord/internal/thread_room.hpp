#pragma once
// Memory that each thread keeps for its next call, by a key of POSIX threads. A thread_local object with a destructor
// would end the process if there is no memory to register it.

#include <pthread.h>

#include <memory>
#include <new>

namespace concord::detail {

// One T for each thread, which is not initialised. Freed when the thread ends.
template <class T>
class ThreadRoom {
  public:
    ThreadRoom()
        : has_key_(pthread_key_create(&key_, [](void* room) { delete static_cast<T*>(room); }) == 0) {}
    ~ThreadRoom() {
        if (!has_key_) return;
        delete static_cast<T*>(pthread_getspecific(key_));
        pthread_key_delete(key_);
    }
    ThreadRoom(const ThreadRoom&) = delete;
    ThreadRoom& operator=(const ThreadRoom&) = delete;

    // Throws std::bad_alloc.
    T& get() {
        if (!has_key_) throw std::bad_alloc();
        if (void* const room = pthread_getspecific(key_)) return *static_cast<T*>(room);
        std::unique_ptr<T> made(new T);
        if (pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
        return *made.release();
    }

  private:
    pthread_key_t key_ = 0;
    bool has_key_;
};

}  // namespace concord::detail
