#include "rank_job.hpp"

#include "interrupt.hpp"

#include <concord/error.hpp>
#include <concord/internal/mpi_launch.hpp>

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <thread>

namespace concord::app {
namespace {

const std::optional<detail::MpiLaunch>& launch() {
    static const std::optional<detail::MpiLaunch> launch = detail::mpi_launch();
    return launch;
}

// One system call, so that lines of several ranks do not mix. `who`: "rank 1: ", or empty.
void write_line(std::string_view who, std::string_view line) noexcept {
    const std::string_view parts[] = {"concord: ", who, line, "\n"};
    iovec pieces[std::size(parts)];
    std::transform(std::begin(parts), std::end(parts), pieces, [](std::string_view part) {
        return iovec{const_cast<char*>(part.data()), part.size()};
    });
    std::cout.flush();
    [[maybe_unused]] const ssize_t n = ::writev(STDERR_FILENO, pieces, std::size(pieces));
}

}  // namespace

bool RankJob::has_ranks() {
    if (!launch() || launch()->ranks == 1) return false;
    return launch()->ranks > 1 || ranks().size() > 1;
}

Communicator& RankJob::ranks() {
    // Never destroyed: MPI may be finalized when static objects are.
    static Communicator& ranks = [&]() -> Communicator& {
        auto* kept = new std::shared_ptr<Communicator>(detail::launched_communicator());
        // When a rank has failed and reported why, mpirun ends the others by SIGTERM.
        silence_sigterm();
        return **kept;
    }();
    return ranks;
}

bool RankJob::speaks() {
    return !launch() || launch()->rank == 0;
}

int RankJob::print(std::string_view line, int status) noexcept {
    write_line("", line);
    return status;
}

int RankJob::complain(std::string_view line, int status) noexcept {
    if (!launch() || launch()->ranks == 1) return print(line, status);
    constexpr double patience = 5;  // seconds in which all ranks are expected to report the same failure
    Communicator* all = nullptr;
    try {
        all = &ranks();
    } catch (const std::exception&) {
        silence_sigterm();
        // The launcher ends all ranks when one ends. The rank that prints goes first.
        if (speaks()) return print(line, status);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        return status;
    }
    if (!all->all_fail(patience)) {
        char who[24];
        std::snprintf(who, sizeof who, "rank %u: ", all->rank());
        write_line(who, line);
        return status;
    }
    if (speaks()) print(line, status);
    all->all_fail(patience);  // until the message is printed
    return status;
}

// Serializes the error: its code, then its parts, each with a terminating 0.
std::vector<std::byte> RankJob::described(const std::exception& exception) {
    Error error(ErrorCode::device_failed, "concord", exception.what());
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
        error = Error(ErrorCode::out_of_memory, "concord", "out of host memory");
    if (const auto* known = dynamic_cast<const Error*>(&exception)) error = *known;
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.size(), error.call().size() + 2));          // "CALL: "
    if (!error.native().empty()) what.remove_suffix(error.native().size() + 3);  // " [NATIVE]"
    std::vector<std::byte> said{static_cast<std::byte>(error.code())};
    for (const std::string_view part :
         {std::string_view(error.call()), what, std::string_view(error.native())}) {
        const auto bytes = std::as_bytes(std::span(part));
        said.insert(said.end(), bytes.begin(), bytes.end());
        said.push_back(std::byte{0});
    }
    return said;
}

void RankJob::agree(Communicator& among, const std::vector<std::byte>& failure) {
    const auto all = among.all_gather(failure);
    for (u32 rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty()) continue;
        const auto* at = reinterpret_cast<const char*>(all[rank].data()) + 1;
        const std::string call = at;
        at += call.size() + 1;
        std::string what = at;
        at += what.size() + 1;
        // Names the rank unless all ranks failed.
        if (!std::all_of(all.begin(), all.end(), [](const auto& theirs) { return !theirs.empty(); }))
            what += " (on rank " + std::to_string(rank) + ")";
        throw Error(static_cast<ErrorCode>(all[rank][0]), call, what, at);
    }
}

RankJob::Place RankJob::on_this_machine() {
    static const Place place = [] {
        char name[HOST_NAME_MAX + 1] = {};
        ::gethostname(name, HOST_NAME_MAX);
        const auto all = ranks().all_gather(std::as_bytes(std::span(name, std::strlen(name))));
        Place found{0, 0};
        for (u32 rank = 0; rank < all.size(); ++rank) {
            if (all[rank] != all[ranks().rank()]) continue;
            if (rank < ranks().rank()) ++found.rank;
            ++found.ranks;
        }
        return found;
    }();
    return place;
}

}  // namespace concord::app
