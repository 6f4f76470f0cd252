#include "nccl.hpp"

#include "ipc.hpp"

#include <concord/device.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/foreign_use.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace concord::mpi {
namespace {

struct NcclId {  // ncclUniqueId, which is passed by value
    std::array<char, 128> bytes;
};

// Functions of NCCL, by the prototypes of its documentation. Communicators and streams are pointers.
struct Nccl {
    int (*get_version)(int* version) = nullptr;
    int (*get_id)(NcclId* id) = nullptr;
    int (*init_rank)(void** comm, int ranks, NcclId id, int rank) = nullptr;
    int (*destroy)(void* comm) = nullptr;
    int (*abort)(void* comm) = nullptr;
    int (*async_error)(void* comm, int* error) = nullptr;
    int (*group_start)() = nullptr;
    int (*group_end)() = nullptr;
    int (*send)(const void* from, std::size_t count, int type, int peer, void* comm, void* stream) = nullptr;
    int (*receive)(void* to, std::size_t count, int type, int peer, void* comm, void* stream) = nullptr;
    const char* (*error_string)(int result) = nullptr;
    u32 version = 0;  // 0: not available
    std::string why;  // the reason

    Nccl() {
        if (detail::is_privileged()) {
            why = "libnccl.so.2 is not opened in a privileged program";
            return;
        }
        void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            const char* const error = dlerror();
            why = std::string("libnccl.so.2 cannot be opened: ") + (error != nullptr ? error : "");
            return;
        }
        const auto load = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            if (function == nullptr && why.empty()) why = std::string("libnccl.so.2 has no function ") + name;
        };
        load(get_version, "ncclGetVersion");
        load(get_id, "ncclGetUniqueId");
        load(init_rank, "ncclCommInitRank");
        load(destroy, "ncclCommDestroy");
        load(abort, "ncclCommAbort");
        load(async_error, "ncclCommGetAsyncError");
        load(group_start, "ncclGroupStart");
        load(group_end, "ncclGroupEnd");
        load(send, "ncclSend");  // since version 2.7
        load(receive, "ncclRecv");
        load(error_string, "ncclGetErrorString");
        if (!why.empty()) return;
        int number = 0;
        if (get_version(&number) != 0 || number <= 0) {
            why = "ncclGetVersion failed";
            return;
        }
        version = static_cast<u32>(number);
    }

    std::string failure(const char* function, int result) const {
        return std::string(function) + " failed: " + error_string(result);
    }
};

const Nccl& nccl() {
    static const Nccl library;
    return library;
}

constexpr int nccl_bytes = 1;  // ncclUint8

// All messages of a call are one group of NCCL: they make progress at the same time, in any order. NCCL executes the
// groups of a rank one after the other, and within a group makes all of its streams wait for each other.
class NcclTransport final : public Transport {
  public:
    // Without a communicator if NCCL fails, and why.
    NcclTransport(Stream& stream, const NcclId& id, std::span<const u32> members, u32 rank, std::string& why)
        : device_(stream.device().shared_from_this()),
          context_(context_of(stream)),
          members_(members.begin(), members.end()),
          unwinding_(std::uncaught_exceptions()) {
        const InContext context(context_);
        const int result = nccl().init_rank(&comm_, static_cast<int>(members.size()), id, peer(rank));
        if (result == 0) return;
        comm_ = nullptr;
        why = nccl().failure("ncclCommInitRank", result);
    }

    // After an error other ranks may never call: ncclCommDestroy would wait for them.
    ~NcclTransport() override {
        if (comm_ == nullptr) return;
        const InContext context(context_);
        if (has_failed_ || std::uncaught_exceptions() > unwinding_) {
            nccl().abort(comm_);
        } else {
            nccl().destroy(comm_);
        }
    }

    // For a communicator that not all of its ranks have.
    void set_failed() { has_failed_ = true; }

    const char* name() const override { return "NCCL"; }

    void enqueue(std::span<const Message> sends, std::span<const Message> receives) override {
        const InContext context(context_);
        int error = 0;
        check("ncclCommGetAsyncError", nccl().async_error(comm_, &error));
        check("NCCL", error);
        check("ncclGroupStart", nccl().group_start());
        int result = 0;
        for (const Message& message : sends) {
            if (result == 0)
                result = nccl().send(address(message.view), message.view.bytes(), nccl_bytes,
                                     peer(message.rank), comm_, message.stream->native_handle());
        }
        for (const Message& message : receives) {
            if (result == 0)
                result = nccl().receive(address(message.view), message.view.bytes(), nccl_bytes,
                                        peer(message.rank), comm_, message.stream->native_handle());
        }
        const int ended = nccl().group_end();
        check("ncclSend or ncclRecv", result);
        check("ncclGroupEnd", ended);
        for (const auto& list : {sends, receives}) {
            for (const Message& message : list)
                detail::note_foreign_use(*message.stream, *message.view.buffer);
        }
    }

  private:
    void check(const char* function, int result) {
        if (result == 0) return;
        has_failed_ = true;
        throw Error(ErrorCode::device_failed, "Communicator::exchange", nccl().failure(function, result));
    }

    // The number of a rank in the communicator.
    int peer(u32 rank) const {
        return static_cast<int>(std::lower_bound(members_.begin(), members_.end(), rank) - members_.begin());
    }

    // Devices access pinned host memory at its host address.
    static std::byte* address(const View& view) {
        Buffer& buffer = *view.buffer;
        void* const base =
            buffer.kind() == Buffer::Kind::host ? buffer.host_pointer() : buffer.native_handle();
        return static_cast<std::byte*>(base) + view.offset;
    }

    std::shared_ptr<Device> device_;  // keeps the context
    void* context_;
    std::vector<u32> members_;
    void* comm_ = nullptr;
    bool has_failed_ = false;
    int unwinding_;
};

}  // namespace

u32 nccl_version(Stream& stream, std::string& why) {
    const Nccl& library = nccl();
    why = library.why;
    if (library.version == 0) return 0;
    const InContext context(context_of(stream));
    NcclId id{};
    void* comm = nullptr;
    if (const int result = library.get_id(&id); result != 0) {
        why = library.failure("ncclGetUniqueId", result);
    } else if (const int made = library.init_rank(&comm, 1, id, 0); made != 0) {
        why = library.failure("ncclCommInitRank", made);
    } else if (const int ended = library.destroy(comm); ended != 0) {
        why = library.failure("ncclCommDestroy", ended);
    }
    return why.empty() ? library.version : 0;
}

std::string first_problem(Communicator& ranks, std::string_view mine) {
    const auto all = ranks.all_gather(std::as_bytes(std::span(mine)));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (!all[rank].empty())
            return "rank " + std::to_string(rank) + ": " +
                   std::string(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
    }
    return {};
}

std::shared_ptr<Transport> start_nccl(Communicator& ranks, Stream& stream, std::span<const u32> members,
                                      std::string& why) {
    const u32 me = ranks.rank(), root = members.front();
    NcclId id{};
    std::string problem;
    if (me == root) {
        const InContext context(context_of(stream));
        const int result = nccl().get_id(&id);
        if (result != 0) problem = nccl().failure("ncclGetUniqueId", result);
    }
    const auto ids = ranks.all_gather(me == root && problem.empty() ? std::as_bytes(std::span(id.bytes))
                                                                    : std::span<const std::byte>());
    std::shared_ptr<NcclTransport> made;
    const bool has_id = ids[root].size() == sizeof id;
    if (has_id && std::binary_search(members.begin(), members.end(), me)) {
        std::memcpy(&id, ids[root].data(), sizeof id);
        made = std::make_shared<NcclTransport>(stream, id, members, me, problem);
    }
    why = first_problem(ranks, problem);
    if (why.empty()) return made;
    if (made) made->set_failed();
    return nullptr;
}

}  // namespace concord::mpi
