#include <concord/detail/checked_size.hpp>
#include <concord/error.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/new_file.hpp>
#include <concord/internal/npy.hpp>
#include <concord/log.hpp>
#include <concord/npy.hpp>
#include <concord/pipeline_io.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t length_at = 8;  // the header's length, of two bytes in format 1.0, else of four

u64 little_endian(std::string_view bytes) {
    u64 value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

// NumPy's descriptor without the byte order: "f4". Empty for types that .npy files do not have.
std::string code_of(Type type) {
    if (is_boolean(type)) return "b1";
    const std::string_view name = row_of(type).numpy;
    for (const std::string_view kind : {"int", "uint", "float"}) {
        if (name.substr(0, kind.size()) == kind) return name[0] + std::to_string(size_of(type));
    }
    return {};
}

// Parses the header, which is a Python dict literal with three known keys.
class HeaderReader {
  public:
    HeaderReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    NpyHeader read() {
        expect('{');
        while (!next_is('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !has_descr_) {
                has_descr_ = true;
                header_.type = type();
            } else if (key == "fortran_order" && !has_order_) {
                has_order_ = true;
                fortran_ = boolean();
            } else if (key == "shape" && !has_shape_) {
                has_shape_ = true;
                header_.shape = shape();
            } else {
                fail("unknown or repeated key in the header, got '" + printable(key) + "'");
            }
            if (!next_is('}')) expect(',');
        }
        expect('}');
        skip_blanks();
        if (at_ != text_.size()) fail("the header has text after its dict");
        if (!has_descr_ || !has_order_ || !has_shape_) fail("the header lacks descr, fortran_order or shape");
        if (fortran_) fail("array in Fortran order; save numpy.ascontiguousarray(array)");
        header_.count = count();
        return std::move(header_);
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw Error(ErrorCode::invalid_argument, file_, why);
    }

    static std::string printable(std::string_view text) {
        std::string result;
        for (const char c : text.substr(0, 40))
            result += c >= ' ' && c <= '~' ? c : '?';
        return result + (text.size() > 40 ? "..." : "");
    }

  private:
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
            ++at_;
    }
    bool next_is(char c) {
        skip_blanks();
        return at_ < text_.size() && text_[at_] == c;
    }
    void expect(char c) {
        if (!next_is(c)) {
            fail(std::string("the header is not a dict literal: expected '") + c + "', got '" +
                 printable(text_.substr(std::min(at_, text_.size()))) + "'");
        }
        ++at_;
    }

    std::string string() {
        const char quote = next_is('"') ? '"' : '\'';
        expect(quote);
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) fail("the header ends within a string");
        const std::string_view value = text_.substr(at_, end - at_);
        at_ = end + 1;
        return std::string(value);
    }

    bool boolean() {
        skip_blanks();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return value;
        }
        fail("fortran_order is not True or False");
    }

    u64 integer() {
        skip_blanks();
        const std::size_t begin = at_;
        CheckedSize value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
            value = value * 10 + static_cast<u64>(text_[at_] - '0');
        if (!value.fits()) fail("the shape does not fit 64 bits");
        if (at_ == begin)
            fail("the shape is not a tuple of numbers, got '" + printable(text_.substr(begin)) + "'");
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote long integers
        return value.value();
    }

    std::vector<u64> shape() {
        constexpr std::size_t max_axes = 64;  // NumPy's own limit
        std::vector<u64> shape;
        expect('(');
        while (!next_is(')')) {
            if (shape.size() == max_axes) fail("the shape has more than 64 axes");
            shape.push_back(integer());
            if (next_is(')') && shape.size() > 1) break;
            expect(',');  // one axis is written "(n,)"
        }
        expect(')');
        return shape;
    }

    Type type() {
        if (next_is('[') || next_is('(')) fail("unsupported structured type; " + known());
        const std::string descr = string();
        const std::string shown = "unsupported element type '" + printable(descr) + "'";
        const char order = descr.empty() ? ' ' : descr[0], kind = descr.size() < 2 ? ' ' : descr[1];
        for (const Type type : stored_types) {
            if (descr.size() != 3 || code_of(type) != descr.substr(1)) continue;
            // Bytes have no order. NumPy writes '|', but every mark is valid.
            if (order == '<' || order == '=' || (size_of(type) == 1 && (order == '|' || order == '>')))
                return type;
            if (order == '>') fail(shown + " (big-endian); save it as '<" + descr.substr(1) + "'");
        }
        static constexpr std::pair<char, const char*> kinds[] = {
            {'O', " (objects)"}, {'V', " (structures)"}, {'c', " (complex)"}, {'U', " (text)"},
            {'S', " (text)"},    {'M', " (dates)"},      {'m', " (times)"}};
        std::string what =
            descr.substr(std::min<std::size_t>(1, descr.size())) == "f2" ? " (half precision)" : "";
        for (const auto& [letter, words] : kinds) {
            if (letter == kind) what = words;
        }
        fail(shown + what + "; " + known());
    }

    static std::string known() {
        std::string list = "supported:";
        for (const Type type : stored_types)
            if (const std::string code = code_of(type); !code.empty()) list += " <" + code;
        return list;
    }

    // The product of the shape. It is 0 if any axis has length 0, whatever the others are.
    u64 count() const {
        CheckedSize bytes = size_of(header_.type);
        for (const u64 n : header_.shape)
            bytes = bytes * n;
        if (!bytes.fits(max_bytes))
            fail("shape " + shape_name(header_.shape) + " has more elements than 64 bits can address");
        return bytes.value() / size_of(header_.type);
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;
    bool has_descr_ = false, has_order_ = false, has_shape_ = false, fortran_ = false;
    NpyHeader header_;
};

}  // namespace

std::string shape_name(const std::vector<u64>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

u64 npy_header_size(std::string_view bytes, u64 file_bytes, const std::string& file) {
    const HeaderReader complain({}, file);
    if (bytes.substr(0, magic.size()) != magic)
        complain.fail("not a .npy file (it does not begin with \\x93NUMPY)");
    if (bytes.size() < 10) complain.fail("truncated within its header");
    const int major = static_cast<unsigned char>(bytes[6]), minor = static_cast<unsigned char>(bytes[7]);
    if (major < 1 || major > 3 || minor != 0) {
        complain.fail("unsupported format " + std::to_string(major) + "." + std::to_string(minor) +
                      "; supported: 1.0, 2.0 and 3.0");
    }
    const std::size_t begin = length_at + (major == 1 ? 2 : 4);
    if (bytes.size() < begin) complain.fail("truncated within its header");
    const u64 length = little_endian(bytes.substr(length_at, begin - length_at));
    // Structured types, which are not supported, have longer headers.
    constexpr u64 longest = 65535;
    if (length > longest) {
        complain.fail("its header has " + std::to_string(length) + " bytes; the limit is " +
                      std::to_string(longest));
    }
    if (length > file_bytes - begin) {
        complain.fail("truncated: its header has " + std::to_string(length) + " bytes, got " +
                      std::to_string(file_bytes - begin));
    }
    return begin + length;
}

NpyHeader parse_npy_header(std::string_view bytes, u64 size, const std::string& file) {
    const std::size_t begin = length_at + (bytes[6] == 1 ? 2 : 4);
    NpyHeader header = HeaderReader(bytes.substr(begin, size - begin), file).read();
    header.data = size;
    return header;
}

void fail_truncated_npy(const NpyHeader& header, u64 there, const std::string& file) {
    HeaderReader({}, file).fail("truncated: shape " + shape_name(header.shape) + " of " +
                                std::string(name_of(header.type)) + " needs " +
                                std::to_string(header.count * size_of(header.type)) + " bytes, got " +
                                std::to_string(there));
}

NpyHeader parse_npy(std::string_view bytes, u64 file_bytes, const std::string& file) {
    NpyHeader header = parse_npy_header(bytes, npy_header_size(bytes, file_bytes, file), file);
    const u64 wanted = header.count * size_of(header.type), there = file_bytes - header.data;
    if (there < wanted) fail_truncated_npy(header, there, file);
    if (there > wanted)
        log_warn(file + ": " + std::to_string(there - wanted) + " bytes after the array are ignored");
    return header;
}

std::string npy_header(Type type, const std::vector<u64>& shape, u64 least) {
    const std::string code = code_of(type);
    if (code.empty())
        throw Error(ErrorCode::unsupported, name_of(type), ".npy files have no such element type");
    std::string text = std::string("{'descr': '") + (size_of(type) == 1 ? '|' : '<') + code +
                       "', 'fortran_order': False, 'shape': " + shape_name(shape) + ", }";
    std::string header(magic);
    header += '\1';
    header += '\0';
    const std::size_t fixed = header.size() + 2 + 1;  // the length's own two bytes and the newline
    text.append((64 - (fixed + text.size()) % 64) % 64, ' ');
    while (fixed + text.size() < least)
        text.append(64, ' ');
    text += '\n';
    header += static_cast<char>(text.size() & 0xff);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

NpyHeader read_npy_header(const InputFile& file, const std::string& name) {
    constexpr u64 usual = 4096;
    std::string head(std::min(file.size(), usual), '\0');
    auto read_head = [&] {
        FileSource(file.descriptor(), name, 0, head.size(), Type::u8).read(head.data(), 0, head.size());
    };
    read_head();
    head.resize(std::max<u64>(head.size(), npy_header_size(head, file.size(), name)));
    if (head.size() > usual) read_head();
    return parse_npy(head, file.size(), name);
}

std::vector<u64> read_npy(const std::filesystem::path& path, Type type,
                          const std::function<void*(u64)>& room) {
    const InputFile file(path, "read_npy");
    const std::string name = path.string();
    NpyHeader header = read_npy_header(file, name);
    if (header.type != type)
        throw Error(ErrorCode::invalid_argument, "read_npy",
                    "wrong element type of '" + name + "', got " + std::string(name_of(header.type)) +
                        "; expected " + std::string(name_of(type)));
    const FileSource source(file.descriptor(), name, header.data, header.count, header.type);
    source.read(room(header.count), 0, source.bytes());
    return std::move(header.shape);
}

void write_npy(const std::filesystem::path& path, Type type, std::span<const std::byte> values,
               const std::vector<u64>& shape) {
    CheckedSize bytes = size_of(type);
    for (const u64 n : shape)
        bytes = bytes * n;
    if (!bytes.fits() || bytes.value() != values.size())
        throw Error(ErrorCode::invalid_argument, "write_npy",
                    "the shape does not fit the values, got " + shape_name(shape) + " for " +
                        std::to_string(values.size() / size_of(type)) + " values");
    write_file(path, {npy_header(type, shape),
                      std::string_view(reinterpret_cast<const char*>(values.data()), values.size())});
}

}  // namespace concord::detail
