// Tuning tables.

#include "fuzz.hpp"

#include <concord/tuning.hpp>

#include <algorithm>

using namespace concord;
using namespace concord::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto table = TuningTable::parse(text_of(data, size), "table.txt");
    if (!table) return 0;
    require(Tuning(table->rows, "table.txt").size() == table->rows.size(), "all rows of a table are valid");

    auto again = TuningTable::parse(table->text(), "again.txt");
    require(again && again->rows.size() == table->rows.size(), "a written table has all rows");
    // Gains are rounded to two decimals.
    for (TuningTable* each : {&*table, &*again}) {
        for (TuningRow& row : each->rows)
            row.gain = 1;
    }
    require(again->rows == table->rows, "a written table has the same rows");
    require(again->text() == table->text(), "a written table has the same header");

    // Merging keeps every choice.
    TuningTable merged = *table;
    merged.add({});
    require(merged.rows.size() <= table->rows.size(), "merging adds no rows");
    for (const TuningRow& row : table->rows) {
        require(std::any_of(merged.rows.begin(), merged.rows.end(),
                            [&](const TuningRow& other) {
                                return other.what == row.what && other.value == row.value &&
                                       other.class_first <= row.class_first &&
                                       row.class_last <= other.class_last;
                            }),
                "merging keeps every row");
    }
    return 0;
}
