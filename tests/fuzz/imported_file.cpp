// Files of `concord bench --json` and `concord check --json` that `concord study --from` imports.

#include "fuzz_study.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream content{std::string(text_of(data, size))};
    Records records;
    records.run = {
        {"kind", "run"},
        {"schema", 1},
        {"version", "0"},
        {"date", "2026-01-01"},
        {"quick", true},
        {"machine", {{"cpu", "a"}, {"cores", 1}, {"memory_bytes", 1}, {"os", "b"}, {"compiler", "c"}}}};
    if (!accepts(ErrorCode::io, [&] { records.files = {line_of_content(content, "bench.json")}; })) return 0;
    report_all(records);
    return 0;
}
