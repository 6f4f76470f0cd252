// A program may set a locale with a decimal comma and grouped digits, as programs with Qt or GTK do. Files, results and
// kernels of Concord do not change.
#include "devices.hpp"
#include "temporary_folder.hpp"

#include <concord/internal/number_text.hpp>
#include <concord/trace.hpp>
#include <concord/tuning.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <locale>
#include <stdexcept>

using namespace concord;

CONCORD_FUNCTION(f32, locale_scaled, (f32 x), return x * 1.5f;)

namespace {

// Sets a German locale of C and C++ for the life of the object. The one of the system, otherwise one that localedef
// makes.
class CommaLocale {
  public:
    CommaLocale() : made_("locale") {
        if (!set() && make()) set();
    }
    ~CommaLocale() {
        std::locale::global(before_);
        unsetenv("LOCPATH");
    }
    CommaLocale(const CommaLocale&) = delete;
    CommaLocale& operator=(const CommaLocale&) = delete;

    // Whether numbers have a comma.
    static bool is_set() {
        char text[8];
        std::snprintf(text, sizeof text, "%.1f", 0.5);
        return text == std::string("0,5");
    }

  private:
    bool make() const {
        const std::string command =
            "localedef -i de_DE -f UTF-8 '" + (made_ / "de_DE.UTF-8").string() + "' >/dev/null 2>&1";
        return std::system(command.c_str()) == 0 && setenv("LOCPATH", made_.path().c_str(), 1) == 0;
    }
    static bool set() try {
        std::locale::global(std::locale("de_DE.UTF-8"));
        return is_set();
    } catch (const std::runtime_error&) {
        return false;
    }

    const test::TemporaryFolder made_;
    const std::locale before_;  // a copy of the global one
};

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("a UUID as text") {
    CHECK(detail::gpu_uuid_text("0123456789abcde\xff") == "GPU-30313233-3435-3637-3839-6162636465ff");
}

TEST_CASE("numbers in files do not depend on the locale") {
    const CommaLocale locale;
    REQUIRES(CommaLocale::is_set(), test::needs::comma_locale);
    CHECK(detail::fixed_text(1234.5, 2) == "1234.50");
    CHECK(detail::scientific_text(0.25, 2) == "2.50e-01");
    CHECK(detail::general_text(1234.5, 9) == "1234.5");
    CHECK(detail::number_of_text("1234.5") == 1234.5);
    CHECK_FALSE(detail::number_of_text("1234,5"));

    // Rows with gains, as calibrations store them.
    const std::string text =
        "concord tuning 2\nbackend: tbb\nunits: 12345\nreduce f32 - 2^10..2^12 serial 1.25\n"
        "stencil.groups * star=1..4 * 8\n";
    const auto table = TuningTable::parse(text, "a file");
    REQUIRE(table);
    REQUIRE(table->rows.size() == 2);
    CHECK(table->units == 12345);
    CHECK(table->rows[0].gain == 1.25);
    CHECK(table->text().find("1.25") != std::string::npos);
    const auto again = TuningTable::parse(table->text(), "again");
    REQUIRE(again);
    CHECK(again->rows == table->rows);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

DEVICE_TEST(kernels_and_traces_do_not_depend_on_the_locale) {
    constexpr u64 n = 12345;
    const CommaLocale locale;
    REQUIRES(CommaLocale::is_set(), test::needs::comma_locale);
    const auto stream = device.create_stream();
    Trace trace;
    const Array<f32> x(*stream, std::vector<f32>(n, 2));
    CHECK(map(*stream, x, locale_scaled).to_host(*stream) == std::vector<f32>(n, 3));
    CHECK(sum(*stream, x).get() == 2 * n);
    trace.finish();
    const nlohmann::json json = nlohmann::json::parse(trace.json());
    CHECK(json.at("traceEvents").size() > 2);
    for (const auto& event : json.at("traceEvents")) {
        CHECK(event.at("ts").is_number());
        CHECK(event.at("dur").is_number());
    }
}

TEST_SUITE_END();
