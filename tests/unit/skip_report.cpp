// Follows a run of doctest: what each case asserts and skips on each device.
#include "requires.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <set>

namespace concord::test {
namespace {

// What a case did on one device, or without a device.
struct Work {
    std::string selector;
    unsigned kind = kinds::none;
    std::size_t assertions = 0;
    std::vector<std::string_view> skips;

    std::string name() const { return selector.empty() ? "" : " on " + selector; }
};

struct Run {
    bool is_run = false;  // not only a list of cases
    std::set<std::string> names;
    std::string current;      // the case that runs
    std::vector<Work> work;   // of this case; the first one is without a device
    std::size_t at = 0;       // index of the current device in it
    std::size_t counted = 0;  // assertions that `work` contains
    std::size_t cases = 0, failed = 0, skipped = 0, in_part = 0;
    std::map<std::pair<std::string, std::string_view>, std::vector<std::string>>
        skips;  // cases by device and need
    std::vector<std::string> problems;
};

Run run;
std::atomic<std::size_t> count = 0;

// Assigns the assertions since the last call to the current device.
void settle() {
    run.work[run.at].assertions += count - run.counted;
    run.counted = count;
}

bool has(const std::vector<std::string_view>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_expected(std::string_view need, unsigned kind) {
    if (kind == kinds::other) return true;
    return std::any_of(skip_rules().begin(), skip_rules().end(), [&](const SkipRule& rule) {
        return rule.need == need && ((rule.on | rule.maybe_on) & kind) != 0 && has(rule.cases, run.current);
    });
}

// Compares what the current case did on a device with the table. A failed case may have left out anything.
void compare(const Work& work, bool failed) {
    const std::string where = run.current + work.name();
    for (const std::string_view need : work.skips) {
        run.skips[{work.selector, need}].push_back(run.current);
        if (!is_expected(need, work.kind))
            run.problems.push_back(where + ": skipped without an entry in the table of skips; requires " +
                                   std::string(need));
    }
    if (failed) return;
    if (work.assertions == 0 && work.skips.empty()) run.problems.push_back(where + ": asserts nothing");
    for (const SkipRule& rule : skip_rules()) {
        if ((rule.on & work.kind) != 0 && has(rule.cases, run.current) && !has(work.skips, rule.need))
            run.problems.push_back(where + ": not skipped, but the table of skips has an entry; requires " +
                                   std::string(rule.need));
    }
}

class Listener final : public doctest::IReporter {
  public:
    explicit Listener(const doctest::ContextOptions& /*options*/) {}

    void test_run_start() override { run.is_run = true; }
    void test_case_skipped(const doctest::TestCaseData& data) override { run.names.insert(data.m_name); }
    void test_case_start(const doctest::TestCaseData& data) override {
        run.names.insert(data.m_name);
        run.current = data.m_name;
        run.work.assign(1, {});
        run.at = 0;
        run.counted = count;
    }
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        settle();
        const bool failed = stats.failure_flags != 0;
        bool skips = false, asserts = false;
        for (const Work& work : run.work) {
            // A case for all devices does nothing without one.
            const bool is_idle = &work == &run.work.front() && run.work.size() > 1 && work.skips.empty();
            if (!is_idle) compare(work, failed);
            skips = skips || !work.skips.empty();
            asserts = asserts || (!is_idle && work.assertions > 0);
        }
        ++run.cases;
        run.failed += failed ? 1 : 0;
        run.skipped += skips && !asserts && !failed ? 1 : 0;
        run.in_part += skips && asserts && !failed ? 1 : 0;
        run.current.clear();
    }
    void log_assert(const doctest::AssertData& /*data*/) override { ++count; }

    void report_query(const doctest::QueryData& /*data*/) override {}
    void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
    void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
    void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
    void subcase_start(const doctest::SubcaseSignature& /*signature*/) override {}
    void subcase_end() override {}
    void log_message(const doctest::MessageData& /*data*/) override {}
};

REGISTER_LISTENER("skips", 1, Listener);

}  // namespace

void skip_case(std::string_view need) {
    std::vector<std::string_view>& skips = run.work[run.at].skips;
    if (!has(skips, need)) skips.push_back(need);
}

std::size_t assertions() {
    return count;
}

OnDevice::OnDevice(const std::string& selector, unsigned kind) {
    settle();
    const auto known = std::find_if(run.work.begin(), run.work.end(),
                                    [&](const Work& work) { return work.selector == selector; });
    run.at = static_cast<std::size_t>(known - run.work.begin());
    if (known == run.work.end()) run.work.push_back({.selector = selector, .kind = kind, .skips = {}});
}

OnDevice::~OnDevice() {
    settle();
    run.at = 0;
}

int report_skips(int status) {
    if (!run.is_run) return status;
    for (const SkipRule& rule : skip_rules()) {
        for (const std::string_view name : rule.cases) {
            if (!run.names.contains(std::string(name)))
                run.problems.push_back(std::string(name) + ": not a case, but in the table of skips");
        }
    }
    if (run.cases == 0) run.problems.emplace_back("no case matches the filters");
    for (const auto& [key, cases] : run.skips) {
        const auto& [selector, need] = key;
        std::string names;
        for (const std::string& name : cases)
            names += (names.empty() ? "" : ", ") + name;
        std::printf("skipped%s%s, requires %s: %s\n", selector.empty() ? "" : " on ", selector.c_str(),
                    std::string(need).c_str(), names.c_str());
    }
    for (const std::string& problem : run.problems)
        std::printf("FAILED %s\n", problem.c_str());
    std::printf("%zu passed, %zu failed, %zu skipped, %zu skipped in part%s\n",
                run.cases - run.failed - run.skipped - run.in_part, run.failed, run.skipped, run.in_part,
                run.problems.empty() ? "" : "; skips are wrong, see above");
    if (status != 0 || !run.problems.empty()) return 1;
    return run.skipped == run.cases ? 77 : 0;
}

}  // namespace concord::test
