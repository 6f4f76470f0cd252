// A program's own names do not collide with Concord's under `using namespace concord`.

#include <concord/concord.hpp>

#include <doctest/doctest.h>

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
namespace ops {
int plus(int a, int b) {
    return a + b;
}
}  // namespace ops

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("a program's own names are not Concord's") {
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
}

TEST_SUITE_END();
