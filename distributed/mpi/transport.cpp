#include "transport.hpp"

#include <concord/internal/environment.hpp>

namespace concord::mpi {
namespace {

constexpr const char* variable = "CONCORD_MPI_TRANSPORT";
constexpr std::array<std::string_view, 4> names{"auto", "nccl", "ipc", "mpi"};

std::string of_rank(std::size_t rank) {
    return "rank " + std::to_string(rank);
}

std::string of_ranks(std::size_t a, std::size_t b) {
    return "ranks " + std::to_string(a) + " and " + std::to_string(b);
}

std::string version_name(u32 version) {
    if (version < 10000)  // up to 2.8
        return std::to_string(version / 1000) + "." + std::to_string(version / 100 % 10) + "." +
               std::to_string(version % 100);
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

}  // namespace

TransportChoice chosen_transport() {
    const std::string_view text = detail::environment_variable(variable);
    if (text.empty()) return TransportChoice::automatic;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (text == names[i]) return static_cast<TransportChoice>(i);
    }
    throw Error(
        ErrorCode::invalid_argument, variable,
        detail::error_message("invalid value", detail::quoted(text), "expected auto, nccl, ipc or mpi"));
}

std::string_view name_of(TransportChoice choice) {
    return names[static_cast<std::size_t>(choice)];
}

std::vector<u32> nccl_ranks(std::span<const Endpoint> ranks) {
    std::vector<u32> members;
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        const Endpoint& end = ranks[rank];
        if (end.is_cuda == 0 || end.nccl_version == 0) continue;
        if (!members.empty() && ranks[members.front()].nccl_version != end.nccl_version) continue;
        for (const u32 other : members) {
            if (ranks[other].device == end.device) return {};
        }
        members.push_back(rank);
    }
    return members.size() < 2 ? std::vector<u32>() : members;
}

bool may_use_ipc(const Endpoint& a, const Endpoint& b, TransportChoice choice) {
    return a.is_cuda != 0 && b.is_cuda != 0 && a.no_ipc[0] == 0 && b.no_ipc[0] == 0 && a.host == b.host &&
           (a.device != b.device || choice == TransportChoice::ipc);
}

std::string why_not(TransportChoice choice, std::span<const Endpoint> ranks) {
    const bool is_nccl = choice == TransportChoice::nccl;
    if (!is_nccl && choice != TransportChoice::ipc) return {};
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const Endpoint& end = ranks[rank];
        if (end.is_cuda == 0)
            return of_rank(rank) + " uses " + end.selector.data() + ", which is not a CUDA device";
        const char* const missing = is_nccl ? end.no_nccl.data() : end.no_ipc.data();
        if (*missing != '\0') return of_rank(rank) + ": " + missing;
    }
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
        const Endpoint &first = ranks[0], &end = ranks[rank];
        if (!is_nccl && end.host != first.host) return of_ranks(0, rank) + " run on different hosts";
        if (!is_nccl) continue;
        if (end.nccl_version != first.nccl_version)
            return "rank 0 has NCCL " + version_name(first.nccl_version) + ", " + of_rank(rank) +
                   " has NCCL " + version_name(end.nccl_version);
        for (std::size_t other = 0; other < rank; ++other) {
            if (ranks[other].device == end.device)
                return of_ranks(other, rank) + " share a device, which NCCL does not support";
        }
    }
    return {};
}

}  // namespace concord::mpi
