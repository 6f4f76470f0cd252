// mpi-ranks WHAT DEVICES...: a rank of an MPI job, run by mpi.sh. Exits with 0 if all checks pass, else prints the
// one that failed.
//
//   messages   point-to-point messages between devices and between hosts, before and after prepare(); an MPI
//              communicator of the caller
//   large      messages of many lengths in both directions, the longest of 1 GiB and more; prints their rates
//   long       the same, up to 1 MiB
//   transports the choice of transports by what ranks have; needs no ranks
//   bits       algorithms over ranks, compared with one call on all of the data
//   differ     a message longer than expected: an error on the receiving rank
//   shorter    a message shorter than expected
//   throw      rank 1 throws while the others wait for it
#include <mpi.h>

#include <concord/distributed.hpp>
#include <concord/mpi.hpp>

#include "transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>

using namespace concord;

namespace {

void require(bool right, const std::string& what) {
    if (!right) throw Error(ErrorCode::device_failed, "mpi-ranks", what);
}

std::vector<u32> words(u32 a, u32 b, u64 n) {
    std::vector<u32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<u32>(i * 2654435761u) + a * 1009 + b;
    return values;
}

void messages(Communicator& ranks, Stream& stream) {
    const u32 me = ranks.rank(), size = ranks.size();
    for (const u64 n : {0, 1, 3, 4, 5, 1000, 70001}) {
        std::vector<Array<u32>> out, in;
        std::vector<Message> sends, receives;
        for (u32 other = 0; other < size; ++other) {
            if (other == me) continue;
            // Two messages to each rank.
            for (u32 turn = 0; turn < 2; ++turn) {
                out.emplace_back(stream, words(me * 2 + turn, other, n + turn));
                sends.push_back({other, out.back().view()});
                in.emplace_back(stream, n + turn);
                receives.push_back({other, in.back().view()});
            }
        }
        ranks.exchange(stream, sends, receives);
        for (const Array<u32>& sent : out) {
            const u32 rubbish = 0xdeadbeef;
            if (sent.size() > 0) stream.fill(*sent.buffer(), 0, sent.size() * 4, &rubbish, 4);
        }
        u32 i = 0;
        for (u32 other = 0; other < size; ++other) {
            for (u32 turn = 0; turn < 2 && other != me; ++turn)
                require(in[i++].to_host(stream) == words(other * 2 + turn, me, n + turn),
                        "message of " + std::to_string(n) + " elements from rank " + std::to_string(other));
        }
    }
    const auto pinned = stream.device().allocate_host(4000);
    const auto mine = words(me, 7, 1000);
    std::memcpy(pinned->host_pointer(), mine.data(), 4000);
    const Array<u32> in(stream, 1000);
    const Message send[] = {{(me + 1) % size, View{pinned.get(), 0, 1000, Type::u32}}};
    const Message receive[] = {{(me + size - 1) % size, in.view()}};
    if (size > 1) {
        ranks.exchange(stream, send, receive);
        require(in.to_host(stream) == words((me + size - 1) % size, 7, 1000), "from a host buffer");
    }
    for (u64 n = 0; n < 50; n += 7) {
        const std::vector<std::byte> said(me * n, static_cast<std::byte>(me));
        const auto all = ranks.all_gather(said);
        for (u32 rank = 0; rank < size; ++rank)
            require(all[rank] == std::vector<std::byte>(rank * n, static_cast<std::byte>(rank)),
                    "all_gather");
    }
    ranks.barrier();
}

// Exchanges messages of these bytes with the next and the previous rank. Checks what arrives.
void exchange_bytes(Communicator& ranks, Stream& stream, u64 bytes, u32 turn) {
    const u32 me = ranks.rank(), size = ranks.size(), next = (me + 1) % size, last = (me + size - 1) % size;
    const u64 count = bytes / sizeof(u32) + 1;
    const Array<u32> out(stream, words(me, turn, count)), in(stream, count);
    const View from{out.view().buffer, 0, bytes, Type::u8}, to{in.view().buffer, 0, bytes, Type::u8};
    const u32 rubbish = 0xdeadbeef;
    stream.fill(*to.buffer, 0, count * 4, &rubbish, 4);
    ranks.barrier();
    const auto start = std::chrono::steady_clock::now();
    const Message send[] = {{next, from}}, receive[] = {{last, to}};
    ranks.exchange(stream, send, receive);
    stream.synchronize();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<u32> expected = words(last, turn, count);
    const u64 kept = 4 - bytes % 4;  // bytes after the message
    std::memcpy(reinterpret_cast<std::byte*>(expected.data()) + bytes,
                reinterpret_cast<const std::byte*>(&rubbish) + (4 - kept), kept);
    const std::vector<u32> got = in.to_host(stream);
    require(got == expected, "message of " + std::to_string(bytes) + " bytes");
    if (me == 0)
        std::cout << ranks.path_to(next) << ": " << bytes << " bytes each way in " << seconds * 1e3 << " ms, "
                  << static_cast<double>(bytes) / seconds / 1e9 << " GB/s\n";
}

// All messages of one call, on two streams; then each in a call of its own.
void large(Communicator& ranks, Stream& stream, u64 longest) {
    ranks.prepare(stream);
    constexpr u64 slot = u64{1} << 23;
    for (const u64 bytes : {u64{0}, u64{1}, u64{3}, u64{4096}, slot - 1, slot, slot + 1, 2 * slot,
                            5 * slot + 7, longest, longest}) {
        if (bytes <= longest) exchange_bytes(ranks, stream, bytes, static_cast<u32>(bytes % 1000));
    }
    const auto second = stream.device().create_stream();
    const u32 me = ranks.rank();
    for (u32 turn = 0; turn < 3; ++turn) {
        std::vector<Array<u32>> out, in;
        std::vector<Message> sends, receives;
        for (u32 other = 0; other < ranks.size(); ++other) {
            for (u32 i = 0; i < 4 && other != me; ++i) {
                Stream& on = i % 2 == 0 ? stream : *second;
                const u64 count = std::min<u64>(longest, 3 * slot * i + turn) / 4;
                out.emplace_back(on, words(me + i, other + turn, count));
                in.emplace_back(on, count);
                sends.push_back({other, out.back().view(), &on});
                receives.push_back({other, in.back().view(), &on});
            }
        }
        ranks.exchange(stream, sends, receives);
        std::size_t at = 0;
        for (u32 other = 0; other < ranks.size(); ++other) {
            for (u32 i = 0; i < 4 && other != me; ++i, ++at)
                require(in[at].to_host(i % 2 == 0 ? stream : *second) ==
                            words(other + i, me + turn, in[at].size()),
                        "message " + std::to_string(i) + " from rank " + std::to_string(other));
        }
    }
}

// Ranks with CUDA, and one without.
void transports() {
    using namespace concord::mpi;
    std::vector<Endpoint> ranks(3);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        ranks[i].is_cuda = 1;
        ranks[i].device[0] = static_cast<char>('a' + i);
        ranks[i].nccl_version = 22304;
        set_text(ranks[i].host, "here");
        set_text(ranks[i].selector, "cuda:" + std::to_string(i));
    }
    const auto all = ranks;
    const auto refused = [&](TransportChoice choice, const std::string& why) {
        require(why_not(choice, ranks) == why, "'" + why_not(choice, ranks) + "' instead of '" + why + "'");
        ranks = all;
    };
    const auto members = [&](const std::vector<u32>& expected, const std::string& what) {
        require(nccl_ranks(ranks) == expected, "NCCL ranks: " + what);
    };
    members({0, 1, 2}, "all");
    refused(TransportChoice::nccl, "");
    refused(TransportChoice::ipc, "");
    require(may_use_ipc(ranks[0], ranks[1], TransportChoice::automatic), "CUDA IPC");

    ranks[2].device = ranks[1].device;
    members({}, "a shared device");
    require(!may_use_ipc(ranks[1], ranks[2], TransportChoice::automatic), "CUDA IPC on one device");
    require(may_use_ipc(ranks[1], ranks[2], TransportChoice::ipc), "CUDA IPC on one device, required");
    refused(TransportChoice::nccl, "ranks 1 and 2 share a device, which NCCL does not support");

    ranks[1].nccl_version = 2804;
    members({0, 2}, "two versions");
    refused(TransportChoice::nccl, "rank 0 has NCCL 2.23.4, rank 1 has NCCL 2.8.4");

    ranks[1].is_cuda = 0;
    set_text(ranks[1].selector, "tbb:0");
    members({0, 2}, "a CPU");
    require(!may_use_ipc(ranks[0], ranks[1], TransportChoice::automatic), "CUDA IPC with a CPU");
    refused(TransportChoice::ipc, "rank 1 uses tbb:0, which is not a CUDA device");

    ranks[2].nccl_version = 0;
    set_text(ranks[2].no_nccl, "libnccl.so.2 cannot be opened: no such file");
    members({0, 1}, "no library");
    refused(TransportChoice::nccl, "rank 2: libnccl.so.2 cannot be opened: no such file");

    set_text(ranks[2].host, "there");
    members({0, 1, 2}, "two hosts");
    require(!may_use_ipc(ranks[0], ranks[2], TransportChoice::automatic), "CUDA IPC between hosts");
    refused(TransportChoice::ipc, "ranks 0 and 2 run on different hosts");

    set_text(ranks[1].no_ipc, "no memory");
    require(!may_use_ipc(ranks[0], ranks[1], TransportChoice::ipc), "CUDA IPC that a rank lacks");
    refused(TransportChoice::ipc, "rank 1: no memory");
}

template <class T, class F>
void whole_and_parts(Communicator& ranks, Stream& stream, const std::vector<T>& x, const char* what, F&& f) {
    const Array<T> all(stream, x), expected(stream, x.size());
    f(nullptr, all, expected);
    const Part part = part_of(x.size(), ranks);
    const std::vector<T> mine(x.begin() + static_cast<std::ptrdiff_t>(part.first),
                              x.begin() + static_cast<std::ptrdiff_t>(part.first + part.count));
    const Array<T> in(stream, mine), out(stream, part.count);
    f(&ranks, in, out);
    const auto got = out.to_host(stream), right = expected.to_host(stream);
    require(
        part.count == 0 || std::memcmp(got.data(), right.data() + part.first, part.count * sizeof(T)) == 0,
        what);
}

void bits(Communicator& ranks, Stream& stream) {
    std::vector<float> x(200003);
    for (u64 i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(static_cast<i32>(i * 2654435761u)) * (i % 7 == 0 ? 1e-9f : 1e-3f);
    const Options canonical{.order = OperationOrder::canonical};
    whole_and_parts(ranks, stream, x, "scan", [&](Communicator* over, const auto& in, const auto& out) {
        over == nullptr ? scan(stream, in, out, ReduceOp::sum, ScanKind::inclusive, canonical)
                        : distributed_scan(*over, stream, in, out);
    });
    whole_and_parts(ranks, stream, x, "sort", [&](Communicator* over, const auto& in, const auto& out) {
        over == nullptr ? sort(stream, in, out) : distributed_sort(*over, stream, in, out);
    });
}

// Rank 0 sends 10 elements, rank 1 expects `expected` elements.
void differ(Communicator& ranks, Stream& stream, u64 expected) {
    const Array<u32> data(stream, words(0, 0, 100));
    const Message message[] = {{1 - ranks.rank(), data.view().part(0, ranks.rank() == 0 ? 10 : expected)}};
    if (ranks.rank() == 0) ranks.exchange(stream, message, {});
    if (ranks.rank() == 1) ranks.exchange(stream, {}, message);
    ranks.barrier();
}

int run(const std::string& what, const std::vector<std::string>& devices) {
    const auto ranks = mpi_communicator();
    try {
        const auto stream = open_device(devices[ranks->rank() % devices.size()])->create_stream();
        if (what == "messages") {
            messages(*ranks, *stream);
            ranks->prepare(*stream);
            messages(*ranks, *stream);
            // A communicator with the ranks in reverse order.
            MPI_Comm turned = MPI_COMM_NULL;
            MPI_Comm_split(MPI_COMM_WORLD, 0, static_cast<int>(ranks->size() - ranks->rank()), &turned);
            {
                const auto own = mpi_communicator(turned);
                require(own->rank() == ranks->size() - 1 - ranks->rank(),
                        "rank in the caller's communicator");
                own->prepare(*stream);
                messages(*own, *stream);
            }
            MPI_Comm_free(&turned);
        } else if (what == "large" || what == "long") {
            large(*ranks, *stream, what == "large" ? (u64{1} << 30) + 3 : u64{1} << 20);
        } else if (what == "transports") {
            transports();
        } else if (what == "bits") {
            ranks->prepare(*stream);
            bits(*ranks, *stream);
        } else if (what == "differ" || what == "shorter") {
            ranks->prepare(*stream);
            differ(*ranks, *stream, what == "differ" ? 5 : 20);
        } else if (what == "throw") {
            if (ranks->rank() == 1) throw Error(ErrorCode::out_of_memory, "mpi-ranks", "this is too much");
            ranks->barrier();
        } else {
            throw Error(ErrorCode::invalid_argument, "mpi-ranks",
                        "unknown test '" + what +
                            "'; available: messages, large, long, transports, bits, differ, shorter, throw");
        }
    } catch (const Error& error) {
        ranks->fail(error.what());
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "mpi-ranks WHAT DEVICES...\n";
        return 2;
    }
    return run(argv[1], {argv + 2, argv + argc});
}
