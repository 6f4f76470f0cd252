// Checks whose cases run in other processes: workers that end, and workers that write much before they are ready.
#include <concord/concord.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/internal/check_workers.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

using namespace concord;
using namespace concord::lab;

namespace {

constexpr const char* kind_variable = "CHECK_WORKER_TEST";

// What a worker does: "" nothing special, "ends" in each case of f32, "talks" before it is ready, "talks, ends" after
// that.
std::string kind_of_worker() {
    const char* const kind = std::getenv(kind_variable);
    return kind == nullptr ? "" : kind;
}

// The suite `add`. In a worker of that kind, calls on f32 end the process.
std::vector<Suite> suites_under_test() {
    std::vector<Suite> all = suites();
    std::erase_if(all, [](const Suite& suite) { return suite.name != "add"; });
    REQUIRE(all.size() == 1);
    all[0].cases = [cases = all[0].cases](const Plan& plan, Type type, const CaseSink& emit) {
        cases(plan, type, [&](Work work, const std::vector<Placement>& placements) {
            if (type == Type::f32 && kind_of_worker() == "ends")
                work.call = [](Stream&, std::span<const View>, std::span<const View>,
                               const Options&) -> Enqueued { std::_Exit(7); };
            emit(std::move(work), placements);
        });
    };
    return all;
}

CheckOptions options_of(std::vector<Type> types) {
    return {.devices = {"tbb"},
            .types = std::move(types),
            .sizes = {1, 1025, 1 << 20},
            .patterns = {Pattern::random}};
}

const std::vector<Type> both_types = {Type::f32, Type::u8};

u32 starts = 0;

// This program, which runs the test case "a worker".
WorkerProcess start_worker(const char* kind) {
    ++starts;
    int ends[2], messages[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    REQUIRE(::pipe2(messages, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, messages[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, messages[1], STDERR_FILENO);
    std::string variable = std::string(kind_variable) + "=" + kind;
    std::vector<char*> environment = {variable.data()};
    for (char** entry = environ; *entry != nullptr; ++entry)
        environment.push_back(*entry);
    environment.push_back(nullptr);
    std::string words[] = {"worker", "--test-case=a worker", "--no-skip"};
    char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    WorkerProcess process{.channel = ends[0], .messages = messages[0]};
    const int error =
        ::posix_spawn(&process.id, "/proc/self/exe", &actions, nullptr, arguments, environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    ::close(messages[1]);
    REQUIRE(error == 0);
    return process;
}

CheckReport check_in_workers(const char* kind) {
    starts = 0;
    std::ostringstream live;
    return check_side_by_side(suites_under_test(), options_of(both_types),
                              {.most = 2, .start = [kind] { return start_worker(kind); }}, &live);
}

CheckReport check_here(std::vector<Type> types) {
    return check(suites_under_test(), options_of(std::move(types)));
}

}  // namespace

TEST_SUITE_BEGIN("core");

// Not a test: what start_worker() runs. The socket is its standard input.
TEST_CASE("a worker" * doctest::skip()) {
    if (kind_of_worker().starts_with("talks"))
        for (int i = 0; i < 20000; ++i)
            std::fprintf(stderr,
                         "line %d of what a driver writes when it starts, in more than a pipe holds\n", i);
    if (kind_of_worker() != "talks, ends")
        run_check_worker(suites_under_test(), options_of(both_types), STDIN_FILENO);
    std::_Exit(0);
}

TEST_CASE("workers give the report of one process, whatever they write before they are ready") {
    const CheckReport expected = check_here(both_types);
    REQUIRE(expected.failed() == 0);
    for (const char* kind : {"", "talks"}) {
        CAPTURE(kind);
        const CheckReport report = check_in_workers(kind);
        CHECK(starts == 2);
        CHECK(report.json() == expected.json());
    }
}

TEST_CASE("the cases run in the process of the check if all workers end before they are ready") {
    const CheckReport report = check_in_workers("talks, ends");
    CHECK(starts == 2);
    CHECK(report.json() == check_here(both_types).json());
}

TEST_CASE("a piece is abandoned after three workers have ended in it") {
    const CheckReport report = check_in_workers("ends");
    CHECK(starts >= 3);
    CHECK(report.failed() == 3);
    CHECK(report.passed() == check_here({Type::u8}).passed());
    CHECK(report.passed() + report.failed() + report.skipped() == check_here(both_types).passed());
    CHECK(report.status() == 1);
    const std::string text = report.json();
    CHECK(text.find("the process that ran the case ended with status 7") != std::string::npos);
    CHECK(text.find("the process of these cases has ended three times") != std::string::npos);
}

TEST_SUITE_END();
