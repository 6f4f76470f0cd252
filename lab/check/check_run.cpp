#include "check_run.hpp"

#include <utility>

namespace concord::lab {
namespace {

// REASON in "reduce: variant 'shuffle' on opencl:0: REASON; available: fixed, ...".
std::string reason_of(const Error& error) {
    std::string text = error.what();
    if (const std::size_t end = text.find("; available: "); end != std::string::npos) text.resize(end);
    const std::string call = error.call() + ": ";
    if (text.rfind(call, 0) == 0) text.erase(0, call.size());
    if (text.rfind("variant ", 0) == 0) {
        if (const std::size_t colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
    }
    return text;
}

// Large inputs are verified once, after the last variant.
bool verifies_inputs_once(const Work& work) {
    return work.bytes() > u64{1} << 28;
}

Outcome outcome_of(const Error& error) {
    if (error.code() == ErrorCode::unsupported)
        return {.kind = Outcome::Kind::not_applicable, .text = reason_of(error)};
    const bool failed = error.code() == ErrorCode::device_failed;
    return {.kind = Outcome::Kind::threw,
            .text = error.what(),
            .cause = failed || error.code() == ErrorCode::out_of_memory ? FailureCause::device
                                                                        : FailureCause::other,
            .health = failed ? Outcome::Health::failed : Outcome::Health::unknown};
}

}  // namespace

void CaseRunner::begin(const Work&) {
    firsts_.clear();
}

void CaseRunner::visit(DeviceRun& device, const CheckCase& at, CaseAction action) {
    const Outcome outcome =
        action == CaseAction::skip
            ? Outcome::skip("more than 2^22 elements are too slow on a device that emulates barriers")
        : device.disabled() ? skipped_on_disabled_device()
                            : run(*device.harness, at);
    note(device, at, outcome);
    finish(at, outcome);
}

Outcome CaseRunner::skipped_on_disabled_device() {
    return Outcome::skip("the device failed three times in a row");
}

void CaseRunner::note(DeviceRun& device, const CheckCase& at, const Outcome& outcome) {
    if (outcome.health == Outcome::Health::failed) ++device.failures_in_a_row;
    if (outcome.health != Outcome::Health::works) return;
    device.failures_in_a_row = 0;
    if (verifies_inputs_once(*at.work)) unwatched_ = at.variant;
}

Outcome CaseRunner::run(Harness& harness, const CheckCase& at) {
    try {
        if (!is_loaded_) {
            load(*at.work);  // waits for other processes that use much memory
            if (std::string why = harness.no_room_for(*at.work); !why.empty())
                return Outcome::skip("not enough memory", std::move(why));
            harness.load(*at.work, at.placement);
            is_loaded_ = true;
        }
        Verdict verdict = harness.run(*at.variant);
        if (!verifies_inputs_once(*at.work)) verdict.merge(harness.verify_inputs());
        return verified(harness, at, std::move(verdict));
    } catch (const Error& error) {
        return outcome_of(error);
    } catch (const std::exception& error) {  // thrown by a reference, for example
        const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
        return {.kind = Outcome::Kind::threw,
                .text = detail::words_of(error),
                .cause = is_memory ? FailureCause::device : FailureCause::other};
    }
}

Outcome CaseRunner::verified(Harness& harness, const CheckCase& at, Verdict verdict) {
    Outcome outcome{.verdict = std::move(verdict), .health = Outcome::Health::works};
    if (outcome.verdict.difference) {
        outcome.kind = Outcome::Kind::differs;
        return outcome;
    }
    if (harness.runs() && (at.variant->order == OperationOrder::variant_specific ||
                           (at.variant->order == OperationOrder::canonical && !outcome.verdict.bits))) {
        const auto [it, is_first] =
            firsts_.try_emplace(at.variant->name, First{harness.fingerprint(), at.device, at.placement});
        if (!is_first && it->second.fingerprint != harness.fingerprint()) {
            outcome.kind = Outcome::Kind::disagrees;
            outcome.text = it->second.device;
            outcome.verdict.difference = difference(harness, at, it->second);
            return outcome;
        }
    }
    if (outcome.verdict.no_bound) {
        outcome.kind = Outcome::Kind::skipped;
        outcome.text = "no error bound available (overflow, underflow or a long chain)";
        return outcome;
    }
    outcome.kind = harness.runs() ? Outcome::Kind::passed : Outcome::Kind::compiled;
    return outcome;
}

// The first element that differs from the result of the first device, which runs the work again. Empty if that result
// does not repeat.
std::optional<Difference> CaseRunner::difference(Harness& harness, const CheckCase& at, const First& first) {
    try {
        Harness again(first.device);
        again.load(*at.work, first.placement);
        static_cast<void>(again.run(*at.variant));
        return again.fingerprint() == first.fingerprint ? harness.difference_from(again) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;  // not enough memory for both, for example
    }
}

void CaseRunner::end(DeviceRun& device, const CheckCase& at) {
    const std::optional<CheckCase> last = end_placement(device, at);
    Outcome outcome;
    if (last) {
        try {
            outcome.verdict = device.harness->verify_inputs();
            if (outcome.verdict.difference) outcome.kind = Outcome::Kind::differs;
        } catch (const Error& error) {
            outcome = {.kind = Outcome::Kind::threw, .text = error.what(), .cause = FailureCause::device};
        }
    }
    finish_inputs(last.value_or(at), outcome);
}

std::optional<CheckCase> CaseRunner::end_placement(const DeviceRun& device, const CheckCase& at) {
    is_loaded_ = false;
    const Variant* const ran = std::exchange(unwatched_, nullptr);
    if (ran == nullptr || device.disabled()) return std::nullopt;
    CheckCase last = at;
    last.variant = ran;
    return last;
}

}  // namespace concord::lab
