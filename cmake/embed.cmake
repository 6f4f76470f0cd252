# Writes OUTPUT, a C++ source that contains INPUT as concord::detail::kernel_sources::SYMBOL. Raw string literals stay
# below the length limit of compilers.
get_filename_component(name ${INPUT} NAME)
file(READ ${INPUT} text)
set(body "")
string(LENGTH "${text}" length)
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 12000 piece)
  string(APPEND body "R\"concord_text(${piece})concord_text\"\n")
  math(EXPR at "${at} + 12000")
endwhile()
file(WRITE ${OUTPUT}.new "#include <concord/kernel.hpp>
namespace concord::detail::kernel_sources {
extern const SourceFile ${SYMBOL};
const SourceFile ${SYMBOL}{\"${name}\", ${body}};
}
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
