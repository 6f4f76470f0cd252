# Hardening of all binaries that the including project builds, as far as compiler and linker support it: read-only
# relocations that are resolved at the start, stack protectors, checked functions of the C library, CET, PIE.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(CONCORD_HARDENING "Harden binaries: RELRO, stack protectors, _FORTIFY_SOURCE, CET, PIE" ON)

# Sanitizers find what these catch, and more.
if(NOT CONCORD_HARDENING OR CONCORD_SANITIZE)
  return()
endif()

check_pie_supported(LANGUAGES CXX)
foreach(flag IN ITEMS -fstack-protector-strong -fcf-protection)
  string(MAKE_C_IDENTIFIER "CONCORD_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${flag}>)
  endif()
endforeach()
foreach(flag IN ITEMS relro now noexecstack)
  check_linker_flag(CXX -Wl,-z,${flag} CONCORD_LINKS_${flag})
  if(CONCORD_LINKS_${flag})
    add_link_options(-Wl,-z,${flag})
  endif()
endforeach()
# glibc warns of it without optimisation. Distributions set it in their compilers or in CXXFLAGS, some to 3.
check_cxx_source_compiles("
#ifdef _FORTIFY_SOURCE
#error is set
#endif
int main() {}" CONCORD_FORTIFY_IS_FREE)
if(CONCORD_FORTIFY_IS_FREE)
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-D_FORTIFY_SOURCE=2>)
endif()
