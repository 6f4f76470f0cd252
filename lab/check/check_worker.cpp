// A process that runs cases for the process that reports.

#include <concord/lab/internal/check_workers.hpp>

#include "check_channel.hpp"
#include "check_plan.hpp"
#include "check_run.hpp"

#include <poll.h>

namespace concord::lab {
namespace {

// Runs the cases of a piece and sends their outcomes. Throws CheckStopped when the other end is closed.
class CaseSender final : public CaseRunner {
  public:
    CaseSender(int channel, std::vector<Harness>& harnesses) : channel_(channel), harnesses_(harnesses) {}

    void start(const Assignment& assignment) {
        assignment_ = assignment;
        outcomes_ = 0;
    }
    void begin(const Work& work) override {
        finish_large_work();
        CaseRunner::begin(work);
    }
    void visit(DeviceRun& device, const CheckCase& at, CaseAction action) override {
        if (outcomes_++ < assignment_.first_outcome) return;
        if (is_stopped()) throw CheckStopped{};
        if (assignment_.sends_titles != 0) unsent_ += framed(MessageKind::begins, title_of(at));
        flush();
        CaseRunner::visit(device, at, action);
    }
    void end(DeviceRun& device, const CheckCase& at) override {
        if (outcomes_++ < assignment_.first_outcome) return;
        CaseRunner::end(device, at);
    }
    // After the last case of a piece.
    void complete() {
        flush();
        finish_large_work();
    }

  private:
    void finish(const CheckCase&, const Outcome& outcome) override {
        unsent_ += framed(MessageKind::outcome, bytes_of(outcome));
    }
    void finish_inputs(const CheckCase&, const Outcome& outcome) override {
        unsent_ += framed(MessageKind::inputs, bytes_of(outcome));
    }
    // Workers share the memory of the host and of the devices: large work runs in one of them at a time.
    void load(const Work& work) override {
        if (has_turn_ || work.bytes() < assignment_.large_bytes) return;
        unsent_ += framed(MessageKind::asks_turn);
        flush();
        u8 answer = 0;
        if (!receive_all(channel_, &answer, sizeof answer)) throw CheckStopped{};
        has_turn_ = true;
    }
    void finish_large_work() {
        if (!has_turn_) return;
        for (Harness& harness : harnesses_) {
            try {
                harness.unload();
            } catch (const Error&) {
                // The device has failed, and its cases have said so.
            }
        }
        has_turn_ = false;
        unsent_ += framed(MessageKind::ends_turn);
        flush();
    }
    void flush() {
        if (!send_all(channel_, unsent_)) throw CheckStopped{};
        unsent_.clear();
    }
    // During a piece nothing arrives.
    bool is_stopped() const {
        pollfd state{channel_, POLLIN, 0};
        return ::poll(&state, 1, 0) > 0;
    }

    int channel_;
    std::vector<Harness>& harnesses_;
    Assignment assignment_;
    u64 outcomes_ = 0;  // of the piece, up to now
    bool has_turn_ = false;
    std::string unsent_;
};

}  // namespace

void run_check_worker(const std::vector<Suite>& suites, const CheckOptions& options, int channel) {
    std::vector<Harness> harnesses = open_harnesses(options.devices);
    const CheckCases cases(suites, options, harnesses);
    CaseSender sender(channel, harnesses);
    if (!send_all(channel, framed(MessageKind::ready))) return;
    Assignment assignment;
    while (receive_all(channel, &assignment, sizeof assignment)) {
        const CaseUnit& unit = cases.units()[assignment.unit];
        for (DeviceRun& device : unit.group->devices)
            device.failures_in_a_row = 0;
        sender.start(assignment);
        u64 works = 0;
        try {
            cases.each_work(unit, [&](const Work& work, const std::vector<Placement>& placements) {
                const u64 at = works++ - assignment.first_work;  // wraps around before the first one
                if (at < assignment.works) cases.visit(unit, work, placements, sender);
            });
            sender.complete();
        } catch (const CheckStopped&) {
            return;
        }
    }
}

}  // namespace concord::lab
