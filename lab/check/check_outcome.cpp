#include "check_outcome.hpp"

#include <cstring>
#include <type_traits>

namespace concord::lab {
namespace {

// One function lists the members for both directions.
class Writer {
  public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void operator()(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
    void operator()(const std::string& text) {
        (*this)(text.size());
        bytes_ += text;
    }
    void operator()(const std::optional<Difference>& difference) {
        (*this)(difference.has_value());
        if (difference) each_member(*difference, *this);
    }
    std::string take() { return std::move(bytes_); }

    template <class D, class F>
    static void each_member(D& difference, F& f) {
        f(difference.index);
        f(difference.expected);
        f(difference.got);
        f(difference.ulps);
        f(difference.ratio);
        f(difference.alarm);
    }

  private:
    std::string bytes_;
};

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void operator()(T& value) {
        if (const std::string_view part = take(sizeof value); !part.empty())
            std::memcpy(&value, part.data(), sizeof value);
    }
    void operator()(std::string& text) {
        std::size_t size = 0;
        (*this)(size);
        text = take(size);
    }
    void operator()(std::optional<Difference>& difference) {
        bool there = false;
        (*this)(there);
        if (there) Writer::each_member(difference.emplace(), *this);
    }
    bool complete() const { return complete_ && bytes_.empty(); }

  private:
    std::string_view take(std::size_t size) {
        complete_ = complete_ && size <= bytes_.size();
        if (!complete_) return {};
        const std::string_view part = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return part;
    }

    std::string_view bytes_;
    bool complete_ = true;
};

template <class O, class F>
void each_member(O& outcome, F& f) {
    f(outcome.kind);
    f(outcome.verdict.difference);
    f(outcome.verdict.ratio);
    f(outcome.verdict.alarm);
    f(outcome.verdict.bits);
    f(outcome.verdict.statistical);
    f(outcome.text);
    f(outcome.detail);
    f(outcome.cause);
    f(outcome.health);
}

}  // namespace

void record(CheckReport& report, const CheckCase& at, const Outcome& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::none:
            return;
        case Outcome::Kind::passed:
            return report.pass(at, outcome.verdict);
        case Outcome::Kind::compiled:
            return report.compile(at);
        case Outcome::Kind::differs:
            return report.fail(at, outcome.verdict.difference.value());
        case Outcome::Kind::disagrees:
            return report.disagree(at, outcome.text, outcome.verdict.difference);
        case Outcome::Kind::threw:
            return report.fail(at, outcome.text, outcome.cause);
        case Outcome::Kind::skipped:
            return report.skip(at, outcome.text, outcome.detail);
        case Outcome::Kind::not_applicable:
            return report.not_applicable(at, outcome.text);
    }
}

std::string bytes_of(const Outcome& outcome) {
    Writer writer;
    each_member(outcome, writer);
    return writer.take();
}

std::optional<Outcome> outcome_from(std::string_view bytes) {
    Reader reader(bytes);
    Outcome outcome;
    each_member(outcome, reader);
    if (!reader.complete()) return std::nullopt;
    return outcome;
}

}  // namespace concord::lab
