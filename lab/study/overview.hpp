#pragma once
// A table as a drawing, which wide pages and phones can show: the documentation's figures.

#include <string>
#include <utility>
#include <vector>

namespace concord::study {

struct Overview {
    // A rectangle; its place is in fractions of the cell's width.
    struct Box {
        double from = 0, to = 1;
        std::string css = {}, text = {};
    };
    struct Cell {
        std::vector<Box> boxes = {};
        std::string value = {};  // at the right of the boxes
        double axis = -1;        // where a line crosses the cell; negative: nowhere
    };
    struct Row {
        std::string name = {};
        std::vector<Cell> cells = {};
    };

    std::string title = {}, description = {};
    std::vector<std::string> columns = {};  // ", " separates lines
    std::vector<Row> rows = {};
    std::vector<std::pair<std::string, std::string>> legend = {};  // style and meaning of boxes
};

// An SVG file with its own style sheet.
std::string svg_file(const Overview& overview);

}  // namespace concord::study
