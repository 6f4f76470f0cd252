// Names of a program do not collide with Concord's under `using namespace concord`.

#include <concord/concord.hpp>
#include <concord/log.hpp>
#include <concord/trace.hpp>

#include <doctest/doctest.h>

#include <math.h>  // NOLINT: declares ::log

#include <string>
#include <vector>

using namespace concord;

namespace {

struct Point {
    float x, y;
};

std::vector<Point> points_of(std::size_t n) {
    return std::vector<Point>(n);
}
std::string host(const std::string& url) {
    return url.substr(url.find("//") + 2);
}
std::vector<std::string> texts() {
    return {"a", "b"};
}
std::string source(int line) {
    return "line " + std::to_string(line);
}
template <class F>
void launch_elements(std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i)
        f(i);
}
u64 divide_up(u64 a, u64 b) {
    return (a + b - 1) / b;
}
int choose(int n, int k) {
    return k == 0 ? 1 : choose(n - 1, k - 1) * n / k;
}
const int table[] = {1, 2, 3};
struct Tag {
    int id;
};
struct Property {
    std::string key;
};
struct Support {
    bool yes;
};
struct Staging {
    int depth;
};
struct Helpers {
    int count;
};
struct ContentHash {
    u64 value;
};
struct KernelKey {
    int id;
};
struct ValueBytes {
    int size;
};
int visit(int node) {
    return node + 1;
}
u64 content_hash(const std::string& text) {
    return text.size();
}
int host_threads() {
    return 3;
}
namespace ops {
int plus(int a, int b) {
    return a + b;
}
}  // namespace ops

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("names of a program do not collide with Concord's") {
    CHECK(points_of(3).size() == 3);
    CHECK(host("http://example.org") == "example.org");
    CHECK(texts().size() == 2);
    CHECK(source(7) == "line 7");
    std::size_t sum = 0;
    launch_elements(4, [&](std::size_t i) { sum += i; });
    CHECK(sum == 6);
    CHECK(divide_up(7, 2) == 4);
    CHECK(choose(5, 2) == 10);
    CHECK(table[2] == 3);
    CHECK(ops::plus(2, 3) == 5);
    CHECK(Tag{4}.id + KernelKey{5}.id == 9);
    CHECK(Property{"a"}.key == "a");
    CHECK(Support{true}.yes);
    CHECK(Staging{2}.depth + Helpers{1}.count + ValueBytes{3}.size == 6);
    CHECK(ContentHash{content_hash("ab")}.value == 2);
    CHECK(visit(1) == 2);
    CHECK(host_threads() == 3);
}

TEST_CASE("the C library's log() is callable under using namespace concord") {
    CHECK(log(1.0) == 0.0);
}

TEST_SUITE_END();
