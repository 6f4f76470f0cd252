#include <concord/lab/internal/check_workers.hpp>

#include "check_channel.hpp"
#include "check_reporter.hpp"

#include <concord/internal/host_threads.hpp>
#include <concord/log.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <set>

namespace concord::lab {
namespace {

// Processes take longer to start than cases of this cost take to run.
constexpr double min_cost = 1 << 27;
// Ends of workers in one piece after which the rest of the piece is skipped.
constexpr u32 max_ends = 3;

// "SIGSEGV" or "status 3". Empty for status 0.
std::string end_name(int status) {
    if (status == 0) return {};
    if (!WIFSIGNALED(status)) return "status " + std::to_string(WEXITSTATUS(status));
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    return std::string("SIG") + (name == nullptr ? "?" : name);
}

// A piece and what is known of it.
struct PieceState {
    CasePiece piece;
    std::deque<std::string> outcomes;  // not taken yet, as bytes
    u64 received = 0, cases = 0;       // outcomes, and those of cases
    u32 ends = 0;                      // workers that ended in it
    bool is_assigned = false;
    bool is_abandoned = false;
    bool complete() const { return is_abandoned || received == piece.outcomes; }
};

struct Worker {
    WorkerProcess process;
    MessageReader reader;
    std::string messages;         // an incomplete line of its standard error
    PieceState* piece = nullptr;  // what it runs
    bool is_ready = false;
    bool is_closed = false;      // gets no more pieces
    bool device_failed = false;  // to be replaced: the state of the driver is unknown
    bool waits_for_turn = false;
};

// Runs pieces in workers and collects their outcomes.
class WorkerPool {
  public:
    WorkerPool(const std::vector<CasePiece>& pieces, const std::function<WorkerProcess()>& start, u32 most,
               const CheckRun& run, u64 large_bytes)
        : start_(start),
          options_(run.options),
          progress_(run.progress),
          large_bytes_(large_bytes),
          max_(most) {
        for (const CasePiece& piece : pieces)
            pieces_.emplace_back().piece = piece;
        start_workers();
    }
    // After an exception the workers have work left.
    ~WorkerPool() {
        is_stopped_ = true;
        for (Worker& worker : workers_)
            ::kill(worker.process.id, SIGKILL);
        for (Worker& worker : workers_)
            end(worker);
    }
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    enum class Answer {
        outcome,
        stopped,  // the check was stopped before this outcome
        none      // there are no workers: the case must run in this process
    };
    // Waits for the next outcome of a piece. The caller takes the outcomes in the order of the pieces.
    Answer next(std::size_t piece, Outcome& outcome) {
        PieceState& state = pieces_[piece];
        for (;;) {
            if (!state.outcomes.empty()) {
                outcome = outcome_from(state.outcomes.front()).value();
                state.outcomes.pop_front();
                return Answer::outcome;
            }
            if (state.is_abandoned) {
                outcome = Outcome::skip("the process of these cases has ended three times");
                return Answer::outcome;
            }
            if (workers_.empty()) return is_stopped_ ? Answer::stopped : Answer::none;
            pump();
        }
    }

    // Waits until the workers have ended. Returns how one ended that failed without a case. Empty: none did.
    std::string finish() {
        while (!workers_.empty())
            pump();
        return failure_;
    }

  private:
    // --- Messages ---------------------------------------------------------------------------------------------------

    // Waits a moment for messages, and handles them.
    void pump() {
        if (!is_stopped_ && options_.stop && options_.stop()) stop();
        std::vector<pollfd> states;
        for (const Worker& worker : workers_) {
            states.push_back({worker.process.channel, POLLIN, 0});
            states.push_back({worker.process.messages, POLLIN, 0});
        }
        constexpr int patience_ms = 100;  // another thread may handle the signal that stops the check
        if (::poll(states.data(), states.size(), patience_ms) <= 0) return;
        std::size_t i = 0;
        for (auto worker = workers_.begin(); worker != workers_.end(); i += 2) {
            if (states[i + 1].revents != 0) read_messages(*worker);
            const bool has_ended = states[i].revents != 0 && !read_channel(*worker);
            if (has_ended) {
                end(*worker);
                worker = workers_.erase(worker);
            } else {
                ++worker;
            }
        }
        start_workers();
        assign();
    }

    // Returns false if the worker has ended.
    bool read_channel(Worker& worker) {
        char bytes[1 << 16];
        const ssize_t n = ::recv(worker.process.channel, bytes, sizeof bytes, 0);
        if (n < 0 && errno == EINTR) return true;
        if (n <= 0) return false;
        worker.reader.append({bytes, static_cast<std::size_t>(n)});
        while (const std::optional<Message> message = worker.reader.next())
            handle(worker, *message);
        return true;
    }

    void handle(Worker& worker, const Message& message) {
        switch (message.kind) {
            case MessageKind::ready:
                // What it has written until now: this process has opened the devices, too.
                for (pollfd state{worker.process.messages, POLLIN, 0}; ::poll(&state, 1, 0) > 0;)
                    if (!read_messages(worker)) break;
                worker.messages.clear();
                worker.is_ready = true;
                return;
            case MessageKind::begins:
                return progress_.show(std::string(message.text));
            case MessageKind::outcome:
            case MessageKind::inputs:
                return receive(worker, message);
            case MessageKind::asks_turn:
                worker.waits_for_turn = true;
                turns_.push_back(worker.process.id);
                return give_turn();
            case MessageKind::ends_turn:
                return end_turn(worker);
        }
    }

    void receive(Worker& worker, const Message& message) {
        if (worker.piece == nullptr) return;
        PieceState& state = *worker.piece;
        state.outcomes.emplace_back(message.text);
        ++state.received;
        if (message.kind == MessageKind::outcome) count_cases(state, 1);
        const std::optional<Outcome> outcome = outcome_from(message.text);
        worker.device_failed = worker.device_failed || outcome->health == Outcome::Health::failed;
        if (state.complete()) worker.piece = nullptr;
    }

    void count_cases(PieceState& state, u64 cases) {
        cases = std::min(cases, state.piece.cases - state.cases);
        state.cases += cases;
        for (u64 i = 0; i < cases; ++i)
            progress_.end(state.piece.weight / static_cast<double>(state.piece.cases));
    }

    // Prints what a worker has written on its standard error. Workers write the same warnings; each is printed once.
    // Returns false at the end of the pipe.
    bool read_messages(Worker& worker) {
        char bytes[4096];
        const ssize_t n = ::read(worker.process.messages, bytes, sizeof bytes);
        if (n <= 0) return n < 0 && errno == EINTR;
        worker.messages.append(bytes, static_cast<std::size_t>(n));
        for (std::size_t end; worker.is_ready && (end = worker.messages.find('\n')) != std::string::npos;) {
            print(worker.messages.substr(0, end + 1));
            worker.messages.erase(0, end + 1);
        }
        return true;
    }
    void print(const std::string& line) {
        if (!printed_.insert(line).second) return;
        progress_.clear();
        std::fputs(line.c_str(), stderr);
    }

    // --- Turns of large works ---------------------------------------------------------------------------------------

    void give_turn() {
        if (turns_.empty()) return;
        for (Worker& worker : workers_) {
            if (worker.process.id != turns_.front() || !worker.waits_for_turn) continue;
            worker.waits_for_turn = false;
            send_all(worker.process.channel, std::string_view("\1", 1));
        }
    }
    void end_turn(const Worker& worker) {
        std::erase(turns_, worker.process.id);
        give_turn();
    }

    // --- Workers ----------------------------------------------------------------------------------------------------

    void start_workers() {
        if (is_stopped_) return;
        std::size_t waiting = 0, without_work = 0;
        for (const PieceState& state : pieces_)
            waiting += !state.is_assigned && !state.complete();
        for (const Worker& worker : workers_)
            without_work += worker.piece == nullptr && !worker.is_closed;
        while (workers_.size() < max_ && without_work < waiting) {
            try {
                const WorkerProcess process = start_();
                workers_.emplace_back().process = process;
                ++without_work;
            } catch (const Error& error) {
                give_up_worker(error.what());
            }
        }
    }
    // Goes on with fewer workers.
    void give_up_worker(const std::string& why) {
        --max_;
        detail::log_info("check: a process could not open the devices: " + why);
        if (max_ == 0 && !is_stopped_)
            detail::log_warn(
                "check: the cases run in one process, because no other one can open the devices: " + why);
    }

    void assign() {
        if (is_stopped_) return;
        for (Worker& worker : workers_) {
            if (!worker.is_ready || worker.is_closed || worker.piece != nullptr) continue;
            const auto next = std::find_if(pieces_.begin(), pieces_.end(), [](const PieceState& state) {
                return !state.is_assigned && !state.complete();
            });
            if (next == pieces_.end() || worker.device_failed) {
                close(worker);
                continue;
            }
            next->is_assigned = true;
            worker.piece = &*next;
            const Assignment assignment{.unit = next->piece.unit,
                                        .first_work = next->piece.first_work,
                                        .works = next->piece.works,
                                        .first_outcome = next->received,
                                        .large_bytes = large_bytes_,
                                        .sends_titles = progress_.visible()};
            // If the worker has ended, its channel says so.
            send_all(worker.process.channel, {reinterpret_cast<const char*>(&assignment), sizeof assignment});
        }
    }

    // The worker ends after what it runs now.
    static void close(Worker& worker) {
        worker.is_closed = true;
        ::shutdown(worker.process.channel, SHUT_WR);
    }
    void stop() {
        is_stopped_ = true;
        for (Worker& worker : workers_)
            close(worker);
    }

    // The worker has closed its channel.
    void end(Worker& worker) {
        const std::string how = end_name(wait_for(worker));
        ::close(worker.process.channel);
        ::close(worker.process.messages);
        end_turn(worker);
        if (!is_stopped_ && options_.stop && options_.stop()) stop();  // the signal may have ended it, too
        if (is_stopped_) return;
        if (!worker.is_ready) {
            const std::string& said = worker.messages;
            return give_up_worker(said.empty() ? how : said.substr(0, said.find('\n')));
        }
        if (worker.piece == nullptr) {
            if (!how.empty())
                failure_ = "a process that ran cases ended with " + how + " after its last case";
            return;
        }
        PieceState& state = *worker.piece;
        state.is_assigned = false;
        ++state.ends;
        ++state.received;
        state.outcomes.push_back(bytes_of(
            {.kind = Outcome::Kind::threw,
             .text = "the process that ran the case ended with " + (how.empty() ? "status 0" : how)}));
        count_cases(state, 1);
        if (state.ends < max_ends || state.complete()) return;
        state.is_abandoned = true;
        count_cases(state, state.piece.cases);
    }
    // Reads messages until the worker has ended, and returns its status. Ends it if it takes too long.
    int wait_for(Worker& worker) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point deadline = Clock::now() + std::chrono::seconds(30);
        constexpr int patience_ms = 20;  // a process that the worker has started may hold the pipe
        int status = 0;
        pollfd state{worker.process.messages, POLLIN, 0};
        for (bool has_ended = false;;) {
            const bool is_late = Clock::now() > deadline;
            if (::poll(&state, 1, has_ended ? 0 : patience_ms) > 0) {
                if (!read_messages(worker)) state.fd = -1;
                if (!is_late) continue;
            }
            if (has_ended) break;
            if (is_late) ::kill(worker.process.id, SIGKILL);
            const pid_t ended = ::waitpid(worker.process.id, &status, WNOHANG);
            has_ended = ended == worker.process.id || (ended < 0 && errno != EINTR);
        }
        if (worker.is_ready && !worker.messages.empty()) print(worker.messages + "\n");
        return status;
    }

    const std::function<WorkerProcess()>& start_;
    const CheckOptions& options_;
    CheckProgress& progress_;
    const u64 large_bytes_;
    std::size_t max_;
    std::deque<PieceState> pieces_;
    std::deque<Worker> workers_;
    std::deque<pid_t> turns_;  // workers that run a large work, which is the first, or wait
    std::set<std::string> printed_;
    std::string failure_;
    bool is_stopped_ = false;
};

// Takes the outcomes of workers in the order of the cases and records them.
class OutcomeCollector final : public CheckReporter {
  public:
    OutcomeCollector(WorkerPool& pool, const CheckRun& run) : CheckReporter(run), pool_(pool) {}

    // Whether the check was stopped before its last case.
    bool is_incomplete() const { return is_incomplete_; }
    // The next cases belong to this piece.
    void start(std::size_t piece) {
        piece_ = piece;
        is_over_ = false;
    }
    void visit(DeviceRun& device, const CheckCase& at, CaseAction action) override {
        Outcome outcome;
        switch (next(outcome)) {
            case Answer::stopped:
                return;
            case Answer::none:
                return CheckReporter::visit(device, at, action);
            case Answer::outcome:
                if (action == CaseAction::run && device.disabled()) outcome = skipped_on_disabled_device();
                note(device, at, outcome);
                finish(at, outcome);
        }
    }
    void end(DeviceRun& device, const CheckCase& at) override {
        Outcome outcome;
        switch (next(outcome)) {
            case Answer::stopped:
                return;
            case Answer::none:
                return CheckReporter::end(device, at);
            case Answer::outcome:
                // Nobody has verified the inputs of an abandoned piece.
                if (const std::optional<CheckCase> last = end_placement(device, at);
                    last && outcome.kind != Outcome::Kind::skipped)
                    finish_inputs(*last, outcome);
        }
    }

  private:
    using Answer = WorkerPool::Answer;
    // Without an outcome, the rest of the piece has none.
    Answer next(Outcome& outcome) {
        if (is_over_) return Answer::stopped;
        const Answer answer = pool_.next(piece_, outcome);
        is_over_ = answer == Answer::stopped;
        is_incomplete_ = is_incomplete_ || is_over_;
        return answer;
    }

    WorkerPool& pool_;
    std::size_t piece_ = 0;
    bool is_over_ = false, is_incomplete_ = false;
};

// Work from this size on waits for its turn. The others, in all workers, take a small part of the memory.
u64 large_bytes_of(std::span<const Harness> harnesses, u32 workers) {
    u64 memory = available_host_memory();
    for (const Harness& harness : harnesses)
        if (harness.runs()) memory = std::min(memory, harness.device().traits().global_memory);
    return memory / 32 / workers;
}

// A driver and its compiler take up to this much memory of the host, and of a GPU.
constexpr u64 worker_bytes = u64{1} << 30;

u32 workers_of(const WorkerSource& source, std::span<const Harness> harnesses) {
    if (source.most > 0) return source.most;
    u64 memory = available_host_memory();
    for (const Harness& harness : harnesses) {
        const DeviceTraits& traits = harness.device().traits();
        if (harness.runs() && !traits.shares_host_memory) memory = std::min(memory, traits.global_memory);
    }
    return static_cast<u32>(std::clamp<u64>(memory / worker_bytes, 1, detail::host_threads()));
}

}  // namespace

CheckReport check_side_by_side(const std::vector<Suite>& suites, const CheckOptions& options,
                               const WorkerSource& source, std::ostream* live) {
    return check_with(suites, options, live, [&](const CheckRun& run) {
        const u32 most = workers_of(source, run.harnesses);
        const CheckPlan plan = plan_of(run.cases, options.stop);
        run.progress.start(plan.cases, plan.weight);
        const std::vector<CasePiece> pieces = pieces_of(plan, most);
        if (most == 1 || pieces.size() < 2 || plan.cost < min_cost) return run_here(run);
        detail::log_info("check: " + std::to_string(pieces.size()) + " pieces in " +
                         std::to_string(std::min<std::size_t>(most, pieces.size())) + " processes");
        WorkerPool pool(pieces, source.start, most, run, large_bytes_of(run.harnesses, most));
        OutcomeCollector collector(pool, run);
        std::size_t next_piece = 0;
        u64 works = 0;  // left of the piece
        for (const CaseUnit& unit : run.cases.units())
            run.cases.each_work(unit, [&](const Work& work, const std::vector<Placement>& placements) {
                if (works == 0) {
                    works = pieces[next_piece].works;
                    collector.start(next_piece++);
                }
                --works;
                run.cases.visit(unit, work, placements, collector);
            });
        if (const std::string failure = pool.finish(); !failure.empty()) run.report.fail_device(failure);
        if (collector.is_incomplete()) throw CheckStopped{};
    });
}

}  // namespace concord::lab
