// Links between processes of one host through CUDA IPC. Each process maps the other's buffers and writes into them. A
// signal is a counter in the other's memory, which its stream waits for, so that the hosts exchange nothing. Uses the
// CUDA driver that the CUDA backend has loaded; nothing of CUDA is linked.

#include "mpi_link.hpp"

#include "mpi_communicator.hpp"

#include <concord/device.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

namespace concord::mpi {
namespace {

using detail::Link;
using detail::LinkOffer;

using IpcHandle = std::array<char, 64>;  // CUipcMemHandle

// Functions of the CUDA driver, by the prototypes of its documentation. Handles are pointers, device addresses u64.
struct IpcDriver {
    int (*stream_context)(void* stream, void** context) = nullptr;
    int (*push)(void* context) = nullptr;
    int (*pop)(void** context) = nullptr;
    int (*get_device)(int* device) = nullptr;
    int (*get_uuid)(std::array<char, 16>* uuid, int device) = nullptr;
    int (*get_handle)(IpcHandle* handle, u64 address) = nullptr;
    int (*open_handle)(u64* address, IpcHandle handle, unsigned flags) = nullptr;
    int (*close_handle)(u64 address) = nullptr;
    int (*write_value)(void* stream, u64 address, u32 value, unsigned flags) = nullptr;
    int (*wait_value)(void* stream, u64 address, u32 value, unsigned flags) = nullptr;
    bool is_there = false;

    IpcDriver() {
        void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (library == nullptr) return;
        is_there = true;
        const auto load = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            is_there = is_there && function != nullptr;
        };
        load(stream_context, "cuStreamGetCtx");
        load(push, "cuCtxPushCurrent_v2");
        load(pop, "cuCtxPopCurrent_v2");
        load(get_device, "cuCtxGetDevice");
        load(get_uuid, "cuDeviceGetUuid_v2");
        load(get_handle, "cuIpcGetMemHandle");
        load(open_handle, "cuIpcOpenMemHandle_v2");
        load(close_handle, "cuIpcCloseMemHandle");
        load(write_value, "cuStreamWriteValue32_v2");
        load(wait_value, "cuStreamWaitValue32_v2");
    }
};

const IpcDriver& ipc() {
    static const IpcDriver driver;
    return driver;
}

constexpr unsigned lazy_peer_access = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
constexpr unsigned at_least = 0;          // CU_STREAM_WAIT_VALUE_GEQ

void check_driver(int result, const char* function) {
    if (result != 0)
        throw Error(ErrorCode::device_failed, "Communicator::exchange",
                    std::string(function) + " failed with CUresult " + std::to_string(result));
}

// The context of a stream, current during the scope.
class InContext {
  public:
    explicit InContext(void* context) : pushed_(ipc().push(context) == 0) {}
    ~InContext() {
        void* popped = nullptr;
        if (pushed_) ipc().pop(&popped);
    }
    InContext(const InContext&) = delete;
    InContext& operator=(const InContext&) = delete;

  private:
    bool pushed_;
};

constexpr std::size_t max_buffers = 4;

// What a rank tells the other one. Has no padding.
struct Greeting {
    std::array<char, 128> host = {};  // empty: no links
    std::array<char, 16> device = {};
    std::array<u64, max_buffers + 1> bytes = {};
    std::array<IpcHandle, max_buffers + 1> handles =
        {};  // of the buffers; the last one is that of the counter
};

// Name and boot of this host.
std::array<char, 128> host_of_process() {
    std::array<char, 128> name = {};
    gethostname(name.data(), 64);
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    file >> boot;
    std::memcpy(name.data() + 64, boot.data(), std::min<std::size_t>(boot.size(), 63));
    return name;
}

class IpcLink final : public Link {
  public:
    IpcLink(Stream& stream, const LinkOffer& offer) : offer_(offer) {
        Device& device = stream.device();
        counter_ = device.allocate(sizeof(u32));
        constexpr u32 zero = 0;
        stream.fill(*counter_, 0, sizeof zero, &zero, sizeof zero);
        stream.synchronize();
        check_driver(ipc().stream_context(stream.native_handle(), &context_), "cuStreamGetCtx");
    }

    // What the other rank needs to open this rank's memory. Without a host if that is not possible.
    Greeting greeting() {
        const InContext context(context_);
        Greeting greeting;
        auto add = [&](std::size_t at, Buffer& buffer) {
            greeting.bytes[at] = buffer.size();
            return ipc().get_handle(&greeting.handles[at], reinterpret_cast<u64>(buffer.native_handle())) ==
                   0;
        };
        bool all = offer_.buffers.size() <= max_buffers && add(max_buffers, *counter_);
        for (std::size_t i = 0; all && i < offer_.buffers.size(); ++i)
            all = add(i, *offer_.buffers[i]);
        int device = 0;
        all = all && ipc().get_device(&device) == 0 && ipc().get_uuid(&greeting.device, device) == 0;
        if (all) greeting.host = host_of_process();
        return greeting;
    }

    // Maps the memory of the other rank. Returns whether that succeeds.
    bool open(const Greeting& theirs) {
        const InContext context(context_);
        Device& device = counter_->device();
        auto map = [&](std::size_t at) -> std::shared_ptr<Buffer> {
            u64 address = 0;
            if (ipc().open_handle(&address, theirs.handles[at], lazy_peer_access) != 0) return nullptr;
            return device.adopt(
                {.handle = reinterpret_cast<void*>(address),  // NOLINT: an integer in the driver
                 .bytes = theirs.bytes[at],
                 .verify = false,
                 .release = [address, in = context_] {
                     const InContext context(in);
                     ipc().close_handle(address);
                 }});
        };
        remote_counter_ = map(max_buffers);
        bool all = remote_counter_ != nullptr;
        for (std::size_t i = 0; all && i < max_buffers && theirs.bytes[i] > 0; ++i) {
            remote_.push_back(map(i));
            all = remote_.back() != nullptr;
        }
        return all;
    }

    Buffer& remote(u32 index) override { return *remote_[index]; }

    void signal(Stream& stream) override {
        const InContext context(context_);
        check_driver(ipc().write_value(stream.native_handle(),
                                       reinterpret_cast<u64>(remote_counter_->native_handle()), turn_ + 1, 0),
                     "cuStreamWriteValue32");
    }

    void wait(Stream& stream) override {
        const InContext context(context_);
        check_driver(ipc().wait_value(stream.native_handle(),
                                      reinterpret_cast<u64>(counter_->native_handle()), ++turn_, at_least),
                     "cuStreamWaitValue32");
    }

  private:
    LinkOffer offer_;
    void* context_ = nullptr;
    std::shared_ptr<Buffer> counter_, remote_counter_;  // the other's turns here, and this rank's turns there
    std::vector<std::shared_ptr<Buffer>> remote_;
    u32 turn_ = 0;  // wraps around, as the comparison does
};

// Processes that share a GPU run in turns of a millisecond or more. A stream that waits for the other process holds up
// its whole turn, while a host that waits for a message gives the GPU to the other. So they link only if asked to.
bool can_link(const Greeting& mine, const Greeting& theirs) {
    return mine.host[0] != 0 && mine.host == theirs.host &&
           (mine.device != theirs.device || detail::environment_variable("CONCORD_LINKS") == "on");
}

bool may_link(Stream& stream) {
    const bool enabled = detail::links_enabled();  // refuses other values on every rank
    return enabled && is_cuda_memory(stream) && ipc().is_there;
}

}  // namespace

std::vector<std::shared_ptr<Link>> connect_by_ipc(Correspondence& letters, Stream& stream,
                                                  std::span<const LinkOffer> offers) {
    std::vector<std::shared_ptr<IpcLink>> made(offers.size());
    std::vector<Greeting> mine(offers.size()), theirs(offers.size());
    std::vector<char> opened(offers.size()), both(offers.size());
    std::vector<Correspondence::Letter> greetings, answers;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (may_link(stream)) {
            made[i] = std::make_shared<IpcLink>(stream, offers[i]);
            mine[i] = made[i]->greeting();
        }
        greetings.push_back({offers[i].rank, std::as_bytes(std::span(&mine[i], 1)),
                             std::as_writable_bytes(std::span(&theirs[i], 1))});
        answers.push_back({offers[i].rank, std::as_bytes(std::span(&opened[i], 1)),
                           std::as_writable_bytes(std::span(&both[i], 1))});
    }
    letters.exchange(greetings);
    for (std::size_t i = 0; i < offers.size(); ++i)
        opened[i] = made[i] && can_link(mine[i], theirs[i]) && made[i]->open(theirs[i]) ? 1 : 0;
    letters.exchange(answers);
    std::vector<std::shared_ptr<Link>> links(offers.size());
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (opened[i] != 0 && both[i] != 0) links[i] = std::move(made[i]);
        detail::log_info("halos between ranks: " + std::to_string(offers[i].rank) +
                         (links[i] ? " through CUDA IPC" : " as messages"));
    }
    return links;
}

}  // namespace concord::mpi
