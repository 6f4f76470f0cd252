// Tests ranks in one process: messages within a device and between backends, and failures while other ranks wait.
#include "devices.hpp"

#include <concord/distributed.hpp>
#include <concord/internal/link.hpp>
#include <concord/peer.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "test_ranks.hpp"

using namespace concord;
using test::each_ranks;
using test::random_values;
using test::throws;

namespace {

// Message from rank a to rank b in a round.
std::vector<u32> words(u32 a, u32 b, u32 round, u64 n) {
    std::vector<u32> values(n);
    std::iota(values.begin(), values.end(), (a * 16 + b) * 1000003 + round * 7919);
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(messages_go_to_all_ranks) {
    each_ranks(device, {1, 2, 3, 4, 7}, [](Communicator& ranks, Stream& stream) {
        // Lengths depend on the two ends. Some are 0, some exceed one piece of a staged message.
        auto length = [&](u32 a, u32 b, u32 round) -> u64 {
            if ((a + b + round) % 3 == 0) return 0;
            return round == 1 && ranks.size() == 2 ? (u64{5} << 20) + 3 : 1000 * a + 10 * b + round;
        };
        const u32 me = ranks.rank();
        for (u32 round = 0; round < 3; ++round) {
            std::vector<Array<u32>> out, in;
            std::vector<Message> sends, receives;
            for (u32 other = 0; other < ranks.size(); ++other) {
                if (other == me) continue;
                out.emplace_back(stream, words(me, other, round, length(me, other, round)));
                sends.push_back({other, out.back().view()});
                in.emplace_back(stream, length(other, me, round));
                receives.push_back({other, in.back().view()});
            }
            // The order of messages to different ranks does not matter.
            if (me % 2 == 1) std::reverse(receives.begin(), receives.end());
            ranks.exchange(stream, sends, receives);
            // Sent data may be overwritten at once.
            for (const Array<u32>& sent : out) {
                const u32 rubbish = 0xdeadbeef;
                if (sent.size() > 0) stream.fill(*sent.buffer(), 0, sent.size() * 4, &rubbish, 4);
            }
            u32 i = 0;
            for (u32 other = 0; other < ranks.size(); ++other) {
                if (other == me) continue;
                if (in[i++].to_host(stream) != words(other, me, round, length(other, me, round)))
                    throw Error(ErrorCode::device_failed, "test",
                                "message from rank " + std::to_string(other));
            }
        }
    });
}

DEVICE_TEST(messages_keep_their_order) {
    each_ranks(device, {2, 3}, [](Communicator& ranks, Stream& stream) {
        const u32 me = ranks.rank(), next = (me + 1) % ranks.size(),
                  before = (me + ranks.size() - 1) % ranks.size();
        const Array<u32> first(stream, words(me, next, 1, 100)), second(stream, words(me, next, 2, 100));
        const Array<u32> a(stream, 100), b(stream, 100);
        // Two messages of one call; types and offsets may differ at the two ends.
        const Message sends[] = {{next, first.view()}, {next, second.view().part(50, 50)}};
        const Message receives[] = {{before, View{a.buffer().get(), 0, 200, Type::u16}},
                                    {before, b.view().part(7, 50)}};
        ranks.exchange(stream, sends, receives);
        const auto got = b.to_host(stream), expected = words(before, me, 2, 100);
        if (a.to_host(stream) != words(before, me, 1, 100) ||
            !std::equal(expected.begin() + 50, expected.end(), got.begin() + 7))
            throw Error(ErrorCode::device_failed, "test", "the order");
        // An empty message is matched in order, too.
        const Message nothing[] = {{next, {}}, {next, second.view()}};
        const Message from_nothing[] = {{before, {}}, {before, a.view()}};
        ranks.exchange(stream, nothing, from_nothing);
        if (a.to_host(stream) != words(before, me, 2, 100))
            throw Error(ErrorCode::device_failed, "test", "after nothing");
    });
}

// A call may send from one stream and receive on another.
DEVICE_TEST(messages_of_a_call_may_use_several_streams) {
    each_ranks(device, {2, 3}, [](Communicator& ranks, Stream& stream) {
        constexpr u32 n = 1 << 16;
        const u32 me = ranks.rank(), next = (me + 1) % ranks.size(),
                  before = (me + ranks.size() - 1) % ranks.size();
        const auto side = stream.device().create_stream(Priority::high);
        const Array<u32> x(*side, n), y(stream, n);
        for (u32 turn = 0; turn < 10; ++turn) {
            const Array<u32> first(*side, words(me, next, 2 * turn, n)),
                second(stream, words(me, next, 2 * turn + 1, n));
            const Message sends[] = {{next, first.view(), side.get()}, {next, second.view()}};
            const Message receives[] = {{before, y.view()}, {before, x.view(), side.get()}};
            ranks.exchange(stream, sends, receives);
            if (y.to_host(stream) != words(before, me, 2 * turn, n) ||
                x.to_host(*side) != words(before, me, 2 * turn + 1, n))
                throw Error(ErrorCode::device_failed, "test", "turn " + std::to_string(turn));
        }
    });
}

DEVICE_TEST(messages_may_use_host_buffers) {
    each_ranks(device, {2}, [](Communicator& ranks, Stream& stream) {
        const u32 other = 1 - ranks.rank();
        const auto host = stream.device().allocate_host(4000), back = stream.device().allocate_host(4000);
        const auto mine = words(ranks.rank(), other, 0, 1000), theirs = words(other, ranks.rank(), 0, 1000);
        std::memcpy(host->host_pointer(), mine.data(), 4000);
        const Array<u32> on_device(stream, 1000);
        const View pinned{host.get(), 0, 1000, Type::u32}, to{back.get(), 0, 1000, Type::u32};
        for (const auto& [from, into] :
             {std::pair{pinned, to}, {pinned, on_device.view()}, {on_device.view(), to}}) {
            if (from.buffer == on_device.buffer().get()) stream.write(*from.buffer, 0, mine.data(), 4000);
            const Message send[] = {{other, from}}, receive[] = {{other, into}};
            ranks.exchange(stream, send, receive);
            if (into.buffer == back.get()) {
                stream.synchronize();
                if (std::memcmp(back->host_pointer(), theirs.data(), 4000) != 0)
                    throw Error(ErrorCode::device_failed, "test", "to a host buffer");
                std::memset(back->host_pointer(), 0, 4000);
            } else if (on_device.to_host(stream) != theirs) {
                throw Error(ErrorCode::device_failed, "test", "from a host buffer");
            }
            ranks.barrier();
        }
    });
}

// Two GPUs of a host use peer copies if they have peer access. Sent buffers may be released at once.
DEVICE_TEST(messages_between_devices_use_peer_copies_if_available) {
    const auto self = device.shared_from_this(), other = test::sibling_of(device);
    REQUIRES(other, test::needs::sibling);
    const bool reach = can_reach(device, *other) && can_reach(*other, device);
    CHECK_NOTHROW(run_on_devices({self, other}, [&](Communicator& ranks, Stream& stream) {
        const u32 me = ranks.rank();
        if (ranks.path_to(1 - me) != (reach ? "peer copies" : "host memory"))
            throw Error(ErrorCode::device_failed, "test", "the path is " + ranks.path_to(1 - me));
        constexpr u64 count = (u64{3} << 20) + 1;
        for (u32 round = 0; round < 10; ++round) {
            auto sent = std::make_unique<Array<u32>>(stream, words(me, 1 - me, round, count));
            const Array<u32> in(stream, count);
            const Message send[] = {{1 - me, sent->view()}}, receive[] = {{1 - me, in.view()}};
            ranks.exchange(stream, send, receive);
            sent.reset();
            const Array<u32> anew(stream, std::vector<u32>(count, 0xdeadbeef));
            if (in.to_host(stream) != words(1 - me, me, round, count) ||
                anew.to_host(stream) != std::vector<u32>(count, 0xdeadbeef))
                throw Error(ErrorCode::device_failed, "test", "round " + std::to_string(round));
        }
    }));
}

// The stream is slower than its host thread: a released and reallocated host buffer must not be accessed by the
// message.
DEVICE_TEST(host_buffers_may_be_released_after_exchange) {
    each_ranks(device, {2}, [](Communicator& ranks, Stream& stream) {
        constexpr u64 count = 10000;
        auto pinned = [&](u32 value) {
            auto buffer = stream.device().allocate_host(count * sizeof value);
            std::fill_n(static_cast<u32*>(buffer->host_pointer()), count, value);
            return buffer;
        };
        // Rank 0 sends, rank 1's stream is slow to receive; one of them releases its buffer.
        const u32 me = ranks.rank();
        for (const u32 dropping : {0, 1}) {
            auto buffer = pinned(1 + me);
            const Message message[] = {{1 - me, View{buffer.get(), 0, count, Type::u32}}};
            if (me == 0) {
                ranks.exchange(stream, message, {});
            } else {
                stream.callback([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
                ranks.exchange(stream, {}, message);
            }
            if (me == dropping) {
                buffer.reset();
                buffer = pinned(3);
            }
            stream.synchronize();
            ranks.barrier();
            const auto* values = static_cast<const u32*>(buffer->host_pointer());
            const u32 expected = me == dropping ? 3 : 1;
            if (!std::all_of(values, values + count, [&](u32 value) { return value == expected; }))
                throw Error(
                    ErrorCode::device_failed, "test",
                    me == dropping ? "the new buffer was written to" : "the buffer was read too late");
        }
    });
}

DEVICE_TEST(all_gather_collects_host_bytes) {
    each_ranks(device, {1, 3, 7}, [](Communicator& ranks, Stream&) {
        for (u32 round = 0; round < 20; ++round) {
            const std::vector<std::byte> mine(ranks.rank() * round, static_cast<std::byte>(ranks.rank()));
            const auto all = ranks.all_gather(mine);
            if (all.size() != ranks.size()) throw Error(ErrorCode::device_failed, "test", "number");
            for (u32 r = 0; r < ranks.size(); ++r) {
                if (all[r] != std::vector<std::byte>(r * round, static_cast<std::byte>(r)))
                    throw Error(ErrorCode::device_failed, "test", "of rank " + std::to_string(r));
            }
        }
        ranks.barrier();
    });
}

DEVICE_TEST(invalid_messages_are_rejected) {
    const auto self = device.shared_from_this();
    auto call = [&](u32 size, const std::function<void(Communicator&, Stream&, View)>& f) {
        run_on_devices(std::vector(size, self), [&](Communicator& ranks, Stream& stream) {
            const Array<u32> data(stream, words(0, 0, 0, 10));
            f(ranks, stream, data.view());
        });
    };
    CHECK(throws(ErrorCode::invalid_argument, "message from rank 2: no such rank; there are 2", [&] {
        call(2, [](Communicator& ranks, Stream& stream, const View& data) {
            const Message wrong[] = {{2, data}};
            ranks.exchange(stream, {}, wrong);
        });
    }));
    CHECK(throws(ErrorCode::invalid_argument, "a rank cannot exchange messages with itself", [&] {
        call(2, [](Communicator& ranks, Stream& stream, const View& data) {
            const Message wrong[] = {{ranks.rank(), data}};
            ranks.exchange(stream, wrong, {});
        });
    }));
    CHECK(throws(ErrorCode::invalid_argument, "rank 0 sends 40 bytes, rank 1 expects 20", [&] {
        call(2, [](Communicator& ranks, Stream& stream, const View& data) {
            const Message message[] = {{1 - ranks.rank(), data.part(0, ranks.rank() == 0 ? 10 : 5)}};
            if (ranks.rank() == 0) ranks.exchange(stream, message, {});
            if (ranks.rank() == 1) ranks.exchange(stream, {}, message);
        });
    }));
    CHECK(throws(ErrorCode::invalid_argument, "expects 0", [&] {
        call(2, [](Communicator& ranks, Stream& stream, const View& data) {
            const Message message[] = {{1 - ranks.rank(), data.part(0, ranks.rank() == 0 ? 10 : 0)}};
            if (ranks.rank() == 0) ranks.exchange(stream, message, {});
            if (ranks.rank() == 1) ranks.exchange(stream, {}, message);
        });
    }));
    CHECK(throws(ErrorCode::unsupported, "recording", [&] {
        call(2, [](Communicator& ranks, Stream& stream, const View& data) {
            const Message message[] = {{1 - ranks.rank(), data}};
            stream.begin_recording();
            ranks.exchange(stream, message, {});
        });
    }));
    CHECK(throws(ErrorCode::unsupported, "the stream of the message to rank", [&] {
        call(2, [](Communicator& ranks, Stream& stream, const View& data) {
            const auto side = stream.device().create_stream();
            const Message message[] = {{1 - ranks.rank(), data, side.get()}};
            side->begin_recording();
            ranks.exchange(stream, message, {});
        });
    }));
    if (const auto other = test::other_than(device)) {
        CHECK(throws(ErrorCode::wrong_device,
                     "must be on " + device.info().selector + " like the stream of the call", [&] {
                         call(2, [&](Communicator& ranks, Stream& stream, const View& data) {
                             const auto side = other->create_stream();
                             const Message message[] = {{1 - ranks.rank(), data, side.get()}};
                             ranks.exchange(stream, message, {});
                         });
                     }));
    }
    CHECK(throws(ErrorCode::invalid_argument, "at least one device", [&] { run_on_devices({}, nullptr); }));
    CHECK(throws(ErrorCode::invalid_argument, "empty", [&] { run_on_devices({self}, nullptr); }));
}

DEVICE_TEST(a_rank_that_fails_or_returns_wakes_the_others) {
    const auto self = device.shared_from_this();
    const auto start = std::chrono::steady_clock::now();
    // Calls of the other ranks while rank 1 throws or returns.
    const std::vector<std::function<void(Communicator&, Stream&, const View&)>> waits = {
        [](Communicator& ranks, Stream& stream, const View& data) {
            const Message message[] = {{1, data}};
            ranks.exchange(stream, {}, message);
        },
        [](Communicator& ranks, Stream& stream, const View& data) {
            const Message message[] = {{1, data}};
            ranks.exchange(stream, message, {});
        },
        [](Communicator& ranks, Stream&, const View&) { ranks.barrier(); }};
    for (const auto& wait : waits) {
        for (const bool late : {false, true}) {
            std::atomic<u32> told = 0;
            CHECK(throws(ErrorCode::out_of_memory, "rank 1 (" + device.info().selector + "): here: no room",
                         [&] {
                             run_on_devices({self, self, self}, [&](Communicator& ranks, Stream& stream) {
                                 const Array<u32> data(stream, words(0, 0, 0, 10));
                                 if (ranks.rank() == 1) {
                                     if (late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
                                     throw Error(ErrorCode::out_of_memory, "here", "no room", "E42");
                                 }
                                 if (throws(ErrorCode::device_failed, "no room",
                                            [&] { wait(ranks, stream, data.view()); }))
                                     ++told;
                             });
                         }));
            CHECK(told == 2);
            CHECK(throws(ErrorCode::device_failed, "rank 1 has returned", [&] {
                run_on_devices({self, self}, [&](Communicator& ranks, Stream& stream) {
                    const Array<u32> data(stream, words(0, 0, 0, 10));
                    if (ranks.rank() == 0) wait(ranks, stream, data.view());
                    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
                });
            }));
        }
    }
    // An explicit fail(), and an exception other than Error.
    CHECK(throws(ErrorCode::device_failed, "enough of it", [&] {
        run_on_devices({self, self}, [&](Communicator& ranks, Stream&) {
            if (ranks.rank() == 1) ranks.fail("enough of it");
            ranks.barrier();
        });
    }));
    CHECK_THROWS_AS(run_on_devices({self, self},
                                   [&](Communicator& ranks, Stream&) {
                                       if (ranks.rank() == 1) throw std::runtime_error("something else");
                                       ranks.barrier();
                                   }),
                    std::runtime_error);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    CHECK(took.count() < 60);
}

// A failure on the receiver's device is device_failed on the sender, not invalid_argument.
DEVICE_TEST(a_device_failure_while_receiving_fails_the_sender) {
    const auto self = device.shared_from_this();
    for (u32 i = 0; i < 5; ++i) {
        std::atomic<u32> told = 0;
        CHECK(throws(ErrorCode::out_of_memory, "rank 1 (" + device.info().selector, [&] {
            run_on_devices({self, self}, [&](Communicator& ranks, Stream& stream) {
                const auto host = stream.device().allocate_host(4000);
                const Message message[] = {{1 - ranks.rank(), View{host.get(), 0, 1000, Type::u32}}};
                if (ranks.rank() == 1) {
                    stream.callback([] { throw Error(ErrorCode::out_of_memory, "here", "no room"); });
                    ranks.exchange(stream, {}, message);
                } else if (throws(ErrorCode::device_failed, "rank 1 cannot receive",
                                  [&] { ranks.exchange(stream, message, {}); })) {
                    ++told;
                    throw Error(ErrorCode::device_failed, "test", "told");
                }
            });
        }));
        CHECK(told == 1);
    }
}

// Every rank writes into the memory of the others.
static void use_links(Communicator& ranks, Stream& stream) {
    constexpr u64 n = 5000;
    std::vector<detail::LinkOffer> offers;
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        if (rank != ranks.rank())
            offers.push_back({rank, {stream.device().allocate(n * 4), stream.device().allocate(n * 4)}});
    }
    const auto links = detail::connect(ranks, stream, offers);
    for (u32 turn = 0; turn < 20; ++turn) {
        const Array<u32> mine(stream, words(ranks.rank(), turn, 0, n));
        for (const auto& link : links) {
            if (!link) throw Error(ErrorCode::device_failed, "test", "no link");
            stream.copy(link->remote(turn % 2), 0, *mine.buffer(), 0, n * 4);
            link->signal(stream);
        }
        for (std::size_t i = 0; i < links.size(); ++i) {
            links[i]->wait(stream);
            std::vector<u32> got(n);
            stream.read(got.data(), *offers[i].buffers[turn % 2], 0, n * 4);
            stream.synchronize();
            if (got != words(offers[i].rank, turn, 0, n))
                throw Error(ErrorCode::device_failed, "test", "other words");
        }
    }
}

DEVICE_TEST(links_write_into_the_memory_of_other_ranks) {
    const auto self = device.shared_from_this();
    CHECK_NOTHROW(run_on_devices({self, self, self}, use_links));
}

DEVICE_TEST(links_write_into_the_memory_of_another_device) {
    const auto self = device.shared_from_this(), other = test::sibling_of(device);
    REQUIRES(other && can_reach(*self, *other) && can_reach(*other, *self), test::needs::reachable);
    CHECK_NOTHROW(run_on_devices({self, other, self}, use_links));
}

DEVICE_TEST(devices_of_two_backends_have_no_links) {
    const auto self = device.shared_from_this(), other = test::other_than(device);
    REQUIRES(other, test::needs::another_device);
    CHECK_NOTHROW(run_on_devices({self, other}, [](Communicator& ranks, Stream& stream) {
        const detail::LinkOffer offer{1 - ranks.rank(), {stream.device().allocate(64)}};
        if (detail::connect(ranks, stream, {&offer, 1})[0])
            throw Error(ErrorCode::device_failed, "test", "a link between backends");
    }));
}

DEVICE_TEST(a_rank_that_fails_ends_the_waits_of_its_links) {
    const auto self = device.shared_from_this();
    for (const bool returns : {false, true}) {
        CHECK(throws(ErrorCode::device_failed, returns ? "rank 1 has returned" : "no signal from here", [&] {
            run_on_devices({self, self, self}, [&](Communicator& ranks, Stream& stream) {
                std::vector<detail::LinkOffer> offers;
                for (u32 rank = 0; rank < ranks.size(); ++rank) {
                    if (rank != ranks.rank()) offers.push_back({rank, {stream.device().allocate(64)}});
                }
                const auto links = detail::connect(ranks, stream, offers);
                if (ranks.rank() == 1) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    if (returns) return;
                    throw Error(ErrorCode::device_failed, "test", "no signal from here");
                }
                for (const auto& link : links)
                    link->signal(stream);
                for (const auto& link : links)
                    link->wait(stream);
            });
        }));
    }
}

// Turns on streams of their own, which nothing orders.
DEVICE_TEST(short_results_are_gathered_over_links_on_any_stream) {
    const auto self = device.shared_from_this();
    for (const u32 size : {2U, 3U, 7U}) {
        CAPTURE(size);
        CHECK_NOTHROW(run_on_devices(std::vector(size, self), [](Communicator& ranks, Stream& stream) {
            const auto another = stream.device().create_stream();
            for (u32 turn = 0; turn < 12; ++turn) {
                Stream& on = turn % 3 == 1 ? *another : stream;
                const u32 me = ranks.rank();
                const Array<u32> data(on, std::vector<u32>{me + turn, 1, 1000 * me});
                all_reduce(ranks, on, data.view(), ReduceOp::sum);
                const u32 pairs = ranks.size() * (ranks.size() - 1) / 2;
                const std::vector<u32> sums{pairs + turn * ranks.size(), ranks.size(), 1000 * pairs};
                if (data.to_host(on) != sums) throw Error(ErrorCode::device_failed, "test", "other sums");
            }
        }));
    }
}

DEVICE_TEST(messages_release_their_memory) {
    const auto self = device.shared_from_this();
    const u64 before = device.memory_use().in_use;
    for (u32 i = 0; i < 3; ++i) {
        run_on_devices({self, self}, [](Communicator& ranks, Stream& stream) {
            const Array<u32> data(stream, words(0, 0, 0, 100000)), in(stream, 100000);
            const Message send[] = {{1 - ranks.rank(), data.view()}},
                          receive[] = {{1 - ranks.rank(), in.view()}};
            ranks.exchange(stream, send, receive);
        });
    }
    CHECK(device.memory_use().in_use == before);
}

DEVICE_TEST(devices_of_two_backends_have_no_peer_access) {
    CHECK(can_reach(device, device));
    const auto other = test::other_than(device);
    REQUIRES(other, test::needs::another_device);
    std::string why;
    CHECK_FALSE(can_reach(device, *other, &why));
    CHECK(why.find("different backends") != std::string::npos);
    const auto stream = device.create_stream();
    const auto mine = device.allocate(64), theirs = other->allocate(64);
    CHECK(throws(ErrorCode::wrong_device, other->info().selector,
                 [&] { stream->copy(*mine, 0, *theirs, 0, 64); }));
    CHECK(
        throws(ErrorCode::wrong_device, "different backends", [&] { stream->wait(*other->create_event()); }));
    const auto self = device.shared_from_this();
    CHECK(throws(ErrorCode::wrong_device, other->info().selector, [&] {
        run_on_devices({self, self}, [&](Communicator& ranks, Stream& on) {
            const Message message[] = {{1 - ranks.rank(), View{theirs.get(), 0, 64, Type::u8}}};
            ranks.exchange(on, message, {});
        });
    }));
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("core");

TEST_CASE("parts_cover_all_elements_once") {
    for (const u64 n : {u64{0}, u64{1}, u64{6}, u64{1000}, u64{1001}, ~u64{0}}) {
        for (const u32 ranks : {1u, 2u, 3u, 7u}) {
            for (const u64 granule : {u64{1}, u64{5}, u64{1024}}) {
                CAPTURE(n);
                CAPTURE(ranks);
                CAPTURE(granule);
                u64 at = 0;
                for (u32 r = 0; r < ranks; ++r) {
                    const Part part = part_of(n, r, ranks, granule);
                    CHECK(part.first == at);
                    CHECK((part.first % granule == 0 || part.first == n));
                    at += part.count;
                    const u64 granules = n / granule + (n % granule != 0 ? 1 : 0);
                    if (part.count > 0) CHECK((part.count - 1) / granule <= granules / ranks);
                }
                CHECK(at == n);
            }
        }
    }
    CHECK(throws(ErrorCode::invalid_argument, "granule", [] { part_of(1, 0, 1, 0); }));
    CHECK(throws(ErrorCode::invalid_argument, "less than the number of ranks, 2, got 2",
                 [] { part_of(1, 2, 2); }));
}

TEST_SUITE_END();
