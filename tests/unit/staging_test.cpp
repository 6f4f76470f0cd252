// The ring of page-locked chunks, with a thread that simulates a device with separate memory.
#include "devices.hpp"

#include <concord/backend/staging.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace concord;
using test::random_values;
using test::throws;

namespace {

constexpr u64 chunk = 4096, piece = 1000;

class SimulatedLink final : public backend::Staging {
  public:
    explicit SimulatedLink(Device& device, u64 bytes)
        : backend::Staging(device, {.chunk_bytes = chunk, .chunks = 3, .piece_bytes = piece, .helpers = 3}),
          memory(bytes),
          engine_([this](const std::stop_token& stop) { work(stop); }) {}

    bool write(u64 at, const void* from, u64 bytes) {
        base_ = at;
        up_ = true;
        return upload(from, bytes);
    }
    bool read(void* to, u64 at, u64 bytes) {
        base_ = at;
        up_ = false;
        return download(to, bytes);
    }

    std::vector<std::byte> memory;
    std::chrono::microseconds latency{0};  // duration of a transfer
    u64 fails_at = ~u64{0};                // number of the transfer whose start throws
    u64 started = 0;

  protected:
    void start(u32 place, std::byte* staged, u64 at, u64 bytes) override {
        if (started++ == fails_at) throw Error(ErrorCode::device_failed, "link", "is broken");
        const std::lock_guard lock(mutex_);
        jobs_.push_back({place, memory.data() + base_ + at, staged, bytes, up_});
        last_[place] = ++enqueued_;
        changed_.notify_all();
    }
    bool ended(u32 place) override {
        const std::lock_guard lock(mutex_);
        return done_ >= last_[place];
    }
    void wait(u32 place) override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return done_ >= last_[place]; });
    }

  private:
    struct Transfer {
        u32 place;
        std::byte* device;
        std::byte* staged;
        u64 bytes;
        bool up;
    };
    void work(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) {
            const Transfer job = jobs_.front();
            jobs_.pop_front();
            lock.unlock();
            if (latency.count() > 0) std::this_thread::sleep_for(latency);
            std::memcpy(job.up ? job.device : job.staged, job.up ? job.staged : job.device, job.bytes);
            lock.lock();
            ++done_;
            changed_.notify_all();
        }
    }

    u64 base_ = 0;
    bool up_ = true;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Transfer> jobs_;
    u64 enqueued_ = 0, done_ = 0;
    u64 last_[3] = {};
    std::jthread engine_;
};

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("staged transfers of any size and offset are correct") {
    const auto device = open_device("tbb");
    SimulatedLink link(*device, 40 * chunk);
    const auto values = random_values<u8>(30 * chunk + 8);
    for (const int delay : {0, 50}) {
        link.latency = std::chrono::microseconds(delay);
        for (const u64 bytes : {u64{1}, piece - 1, piece, piece + 1, chunk - 1, chunk, chunk + 1,
                                3 * chunk - 1, 3 * chunk, 3 * chunk + 1, 6 * chunk + 17, 30 * chunk}) {
            for (const u64 offset : {0, 1, 7}) {
                std::fill(link.memory.begin(), link.memory.end(), std::byte{0x55});
                std::vector<u8> got(bytes + 16, 0x33);
                // Back immediately: the second transfer finds chunks that the first one still uses.
                REQUIRE(link.write(offset, values.data() + offset, bytes));
                REQUIRE(link.read(got.data() + offset, offset, bytes));
                CHECK(std::equal(values.begin() + static_cast<i64>(offset),
                                 values.begin() + static_cast<i64>(offset + bytes),
                                 got.begin() + static_cast<i64>(offset)));
                CHECK(std::count(got.begin() + static_cast<i64>(offset + bytes), got.end(), 0x33) ==
                      static_cast<i64>(16 - offset));
                CHECK(link.memory[offset + bytes] == std::byte{0x55});
            }
        }
    }
}

TEST_CASE("the caller can reuse its memory after a staged upload") {
    const auto device = open_device("tbb");
    SimulatedLink link(*device, 20 * chunk);
    link.latency = std::chrono::microseconds(100);
    for (u8 round = 0; round < 20; ++round) {
        std::vector<u8> values(20 * chunk, round);
        REQUIRE(link.write(0, values.data(), values.size()));
        std::fill(values.begin(), values.end(), u8{0xee});
        REQUIRE(link.read(values.data(), 0, values.size()));
        CHECK(std::count(values.begin(), values.end(), round) == static_cast<i64>(values.size()));
    }
}

TEST_CASE("a failing staged transfer ends") {
    const auto device = open_device("tbb");
    std::vector<u8> values(20 * chunk);
    for (const u64 at : {0, 1, 2, 3, 10, 19}) {
        SimulatedLink link(*device, values.size());
        link.fails_at = at;
        CHECK(throws(ErrorCode::device_failed, "broken",
                     [&] { (void)link.write(0, values.data(), values.size()); }));
        link.started = 0;
        CHECK(throws(ErrorCode::device_failed, "broken",
                     [&] { (void)link.read(values.data(), 0, values.size()); }));
        link.fails_at = ~u64{0};
        CHECK(link.write(0, values.data(), values.size()));
        CHECK(link.read(values.data(), 0, values.size()));
    }
}

TEST_CASE("staged transfers of several threads share the helpers") {
    const auto device = open_device("tbb");
    const auto values = random_values<u8>(20 * chunk + 3);
    std::vector<std::jthread> threads;
    std::atomic<int> right = 0;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            SimulatedLink link(*device, values.size());
            for (int i = 0; i < 10; ++i) {
                std::vector<u8> got(values.size());
                if (link.write(0, values.data(), values.size()) && link.read(got.data(), 0, got.size()))
                    right += got == values;
            }
        });
    }
    threads.clear();
    CHECK(right == 40);
}

TEST_SUITE_END();
