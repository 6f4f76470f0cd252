#pragma once
// What a case gave: recorded in the report, or sent to the process that reports.

#include <concord/lab/check.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace concord::lab {

struct Outcome {
    enum class Kind : u8 {
        none,       // nothing to report
        passed,     // with `verdict`
        compiled,   // for a compile-only device
        differs,    // from the reference: verdict.difference
        disagrees,  // with another device, `text`; verdict.difference may be empty
        threw,      // `text`
        skipped,    // for the reason `text`
        not_applicable
    };
    // What the case says about the device.
    enum class Health : u8 { unknown, works, failed };

    Kind kind = Kind::none;
    Verdict verdict = {};
    std::string text = {}, detail = {};
    FailureCause cause = FailureCause::other;  // of threw
    Health health = Health::unknown;

    static Outcome skip(std::string reason, std::string detail = {}) {
        return {.kind = Kind::skipped, .text = std::move(reason), .detail = std::move(detail)};
    }
    // Whether the report prints it at once.
    bool is_failure() const {
        return kind == Kind::differs || kind == Kind::disagrees || kind == Kind::threw;
    }
};

void record(CheckReport& report, const CheckCase& at, const Outcome& outcome);

// The outcome as bytes, for a process of the same program.
std::string bytes_of(const Outcome& outcome);
// The reverse. Empty if the bytes are incomplete.
std::optional<Outcome> outcome_from(std::string_view bytes);

}  // namespace concord::lab
