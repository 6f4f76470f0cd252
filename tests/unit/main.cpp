#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "requires.hpp"

int main(int count, char** arguments) {
    return concord::test::report_skips(doctest::Context(count, arguments).run());
}
