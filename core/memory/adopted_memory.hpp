#pragma once
// Adopted memory whose buffer has no user left, and when its owner is told.

#include <concord/device.hpp>

#include <memory>

namespace concord::detail {

// A buffer of adopted memory. It is a node of the lists of StreamProgress, so that its release allocates nothing.
struct AdoptedMemory {
    std::shared_ptr<Device> device;  // destroyed last
    std::unique_ptr<Buffer> buffer;
    Task release;                         // tells the owner; may be empty
    std::unique_ptr<AdoptedMemory> next;  // in a list
};

// Waits for the work that uses the memory, destroys the buffer and tells the owner. Where it cannot wait, it leaves the
// memory to the stream: see unwaitable_use().
void release(std::unique_ptr<AdoptedMemory> memory);
// Releases a list.
void release_all(std::unique_ptr<AdoptedMemory> list);

}  // namespace concord::detail
