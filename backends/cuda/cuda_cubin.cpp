#include "cuda_cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace concord::cuda {
namespace {

// Kinds of attributes in .nv.info sections, named as by cuobjdump and nvdisasm.
constexpr u8 attribute_max_threads = 0x05;     // EIATTR_MAX_THREADS: three u32
constexpr u8 attribute_frame_size = 0x11;      // EIATTR_FRAME_SIZE: symbol, bytes
constexpr u8 attribute_parameter = 0x17;       // EIATTR_KPARAM_INFO: see parameters()
constexpr u8 attribute_register_count = 0x2f;  // EIATTR_REGCOUNT: symbol, registers
constexpr u8 format_bytes = 4;                 // the value is the number of bytes that follow

constexpr u32 reserved_local_bytes = 1024;  // per group since sm_90, included in the size of the section

// Since sm_90: the lower half of the first word of ACQBULK without a predicate, nvdisasm's name of griddepcontrol.wait.
constexpr u16 instruction_wait = 0x782e;
constexpr u64 instruction_bytes = 16;

template <class T>
T at(std::string_view bytes, u64 offset) {
    T value{};
    if (offset <= bytes.size() && sizeof value <= bytes.size() - offset)
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// The bytes [offset, offset + size). Empty if they are out of range.
std::string_view part(std::string_view bytes, u64 offset, u64 size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return {};
    return bytes.substr(offset, size);
}

std::string_view c_string(std::string_view bytes, u64 offset) {
    if (offset >= bytes.size()) return {};
    const std::string_view rest = bytes.substr(offset);
    return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::optional<Cubin> Cubin::read(std::string_view image) {
    const auto header = at<Elf64_Ehdr>(image, 0);
    if (image.size() < sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_CUDA ||
        header.e_shentsize != sizeof(Elf64_Shdr))
        return std::nullopt;
    const std::string_view table = part(image, header.e_shoff, u64{header.e_shnum} * sizeof(Elf64_Shdr));
    if (table.empty() || header.e_shstrndx >= header.e_shnum) return std::nullopt;

    Cubin cubin;
    // CUDA 13 shifted the architecture by one byte and increased the version of the ABI.
    cubin.architecture_ =
        header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
    const auto names = at<Elf64_Shdr>(table, header.e_shstrndx * sizeof(Elf64_Shdr));
    const std::string_view strings = part(image, names.sh_offset, names.sh_size);
    for (u32 i = 0; i < header.e_shnum; ++i) {
        const auto entry = at<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr));
        Section section{.name = c_string(strings, entry.sh_name), .bytes = {}, .size = entry.sh_size};
        if (entry.sh_type != SHT_NOBITS && entry.sh_size > 0) {
            section.bytes = part(image, entry.sh_offset, entry.sh_size);
            if (section.bytes.empty()) return std::nullopt;
        }
        cubin.sections_.push_back(section);
    }
    return cubin;
}

const Cubin::Section* Cubin::section(const std::string& name) const {
    const auto it =
        std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
    return it == sections_.end() ? nullptr : &*it;
}

std::string_view Cubin::symbol_name(u32 index) const {
    const Section* symbols = section(".symtab");
    const Section* strings = section(".strtab");
    if (symbols == nullptr || strings == nullptr) return {};
    return c_string(strings->bytes, at<Elf64_Sym>(symbols->bytes, u64{index} * sizeof(Elf64_Sym)).st_name);
}

std::vector<Cubin::Attribute> Cubin::attributes(const Section* info) {
    std::vector<Attribute> list;
    if (info == nullptr) return list;
    for (std::string_view rest = info->bytes; rest.size() >= 4;) {
        const u8 format = at<u8>(rest, 0), kind = at<u8>(rest, 1);
        const u16 value = at<u16>(rest, 2);
        rest.remove_prefix(4);
        if (format != format_bytes) continue;  // the value is in the two bytes already read
        if (value > rest.size()) return {};
        list.push_back({kind, rest.substr(0, value)});
        rest.remove_prefix(value);
    }
    return list;
}

// One attribute per parameter: u32, u16 ordinal, u16 offset, u32 with the size in its upper 14 bits. Accepts them only
// if they are complete, in order and without overlap.
std::optional<std::vector<u32>> Cubin::parameters(const std::vector<Attribute>& list) {
    struct Parameter {
        u32 ordinal, offset, size;
    };
    std::vector<Parameter> found;
    for (const Attribute& attribute : list) {
        if (attribute.kind != attribute_parameter) continue;
        if (attribute.bytes.size() != 12) return std::nullopt;
        found.push_back(
            {at<u16>(attribute.bytes, 4), at<u16>(attribute.bytes, 6), at<u32>(attribute.bytes, 8) >> 18});
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
    std::vector<u32> sizes;
    u32 end = 0;
    for (const Parameter& parameter : found) {
        if (parameter.ordinal != sizes.size() || parameter.offset < end || parameter.size == 0)
            return std::nullopt;
        end = parameter.offset + parameter.size;
        sizes.push_back(parameter.size);
    }
    return sizes;
}

bool Cubin::waits(std::string_view code) const {
    if (architecture_ < 90) return false;
    for (; code.size() >= instruction_bytes; code.remove_prefix(instruction_bytes)) {
        if (at<u16>(code, 0) == instruction_wait) return true;
    }
    return false;
}

std::optional<CubinKernel> Cubin::kernel(const std::string& entry) const {
    const Section* code = section(".text." + entry);
    if (code == nullptr) return std::nullopt;
    CubinKernel kernel;
    kernel.waits = waits(code->bytes);
    const Section* local = section(".nv.shared." + entry);
    kernel.local_bytes = local == nullptr ? 0 : static_cast<i64>(local->size);
    if (architecture_ >= 90 && kernel.local_bytes >= reserved_local_bytes)
        kernel.local_bytes -= reserved_local_bytes;

    for (const Attribute& attribute : attributes(section(".nv.info"))) {
        if (attribute.bytes.size() != 8 || symbol_name(at<u32>(attribute.bytes, 0)) != entry) continue;
        if (attribute.kind == attribute_register_count) kernel.registers = at<u32>(attribute.bytes, 4);
        if (attribute.kind == attribute_frame_size) kernel.frame_bytes = at<u32>(attribute.bytes, 4);
    }
    const Section* info = section(".nv.info." + entry);
    const std::vector<Attribute> own = attributes(info);
    if (!own.empty()) kernel.parameter_sizes = parameters(own);
    for (const Attribute& attribute : own) {
        if (attribute.kind == attribute_max_threads && attribute.bytes.size() == 12)
            kernel.launch_bounds =
                i64{at<u32>(attribute.bytes, 0)} * at<u32>(attribute.bytes, 4) * at<u32>(attribute.bytes, 8);
    }
    return kernel;
}

}  // namespace concord::cuda
