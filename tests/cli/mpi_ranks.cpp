// mpi-ranks WHAT DEVICES...: a rank of an MPI job, run by mpi.sh. Exits with 0 if all checks pass, else prints the
// one that failed.
//
//   messages   point-to-point messages between devices and between hosts; an MPI communicator of the caller
//   bits       algorithms over ranks, compared with one call on all of the data
//   differ     a message longer than expected: an error on the receiving rank
//   shorter    a message shorter than expected
//   throw      rank 1 throws while the others wait for it
#include <mpi.h>

#include <concord/distributed.hpp>
#include <concord/mpi.hpp>

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
            // A communicator with the ranks in reverse order.
            MPI_Comm turned = MPI_COMM_NULL;
            MPI_Comm_split(MPI_COMM_WORLD, 0, static_cast<int>(ranks->size() - ranks->rank()), &turned);
            {
                const auto own = mpi_communicator(turned);
                require(own->rank() == ranks->size() - 1 - ranks->rank(),
                        "rank in the caller's communicator");
                messages(*own, *stream);
            }
            MPI_Comm_free(&turned);
        } else if (what == "bits") {
            bits(*ranks, *stream);
        } else if (what == "differ" || what == "shorter") {
            differ(*ranks, *stream, what == "differ" ? 5 : 20);
        } else if (what == "throw") {
            if (ranks->rank() == 1) throw Error(ErrorCode::out_of_memory, "mpi-ranks", "this is too much");
            ranks->barrier();
        } else {
            throw Error(ErrorCode::invalid_argument, "mpi-ranks",
                        "unknown test '" + what + "'; available: messages, bits, differ, shorter, throw");
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
