# Writes OUTPUT, a C++ source that contains the files FILES:
#
# - each file as the SourceFile concord::detail::kernel_sources::NAME_EXTENSION,
# - for each NAME with kernels in NAME.cu or NAME.cl the KernelSource concord::detail::kernel_sources::NAME(): these
#   files, each after the files that it includes, each file once.
#
# A kernel source includes files of FILES and of SHARED, files that another OUTPUT contains. A line `#include "FILE"`
# becomes an empty line, so that the compilers report the lines of the file. It has effect wherever it stands.
cmake_minimum_required(VERSION 3.22)

set(include_line "(^|\n)#include \"([^\"\n]*)\"")

# The constant of a file.
function(symbol_of variable file)
  string(REPLACE "." "_" symbol ${file})
  set(${variable} ${symbol} PARENT_SCOPE)
endfunction()

# Sets VARIABLE to the file and all files that it includes, dependencies first. chain: the files that lead to this one.
function(resolve variable file chain)
  set(order "")
  list(APPEND chain ${file})
  string(REGEX MATCHALL "${include_line}" lines "${text_${file}}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "${include_line}" "\\2" included "${line}")
    if(NOT DEFINED text_${included})
      message(FATAL_ERROR "${file} includes '${included}'; no such kernel source in ${FOLDERS}")
    endif()
    if(included IN_LIST chain)
      list(JOIN chain ", " names)
      message(FATAL_ERROR "${file} includes '${included}', which includes ${file}: cyclic includes (${names})")
    endif()
    resolve(before ${included} "${chain}")
    list(APPEND order ${before})
  endforeach()
  list(APPEND order ${file})
  list(REMOVE_DUPLICATES order)
  set(${variable} ${order} PARENT_SCOPE)
endfunction()

set(own "")
set(FOLDERS "")
foreach(path IN LISTS FILES SHARED)
  get_filename_component(file ${path} NAME)
  get_filename_component(folder ${path} DIRECTORY)
  list(APPEND FOLDERS ${folder})
  file(READ ${path} text_${file})
  if(path IN_LIST FILES)
    list(APPEND own ${file})
  endif()
endforeach()
list(REMOVE_DUPLICATES FOLDERS)
list(JOIN FOLDERS " and " FOLDERS)

set(constants "")
set(names "")
set(used "")
foreach(file IN LISTS own)
  symbol_of(symbol ${file})
  list(APPEND used ${symbol})
  if("${text_${file}}" MATCHES "__global__|__kernel" AND file MATCHES "^(.+)\\.(cu|cl)$")
    set(name ${CMAKE_MATCH_1})
    set(language ${CMAKE_MATCH_2})
    list(APPEND names ${name})
    resolve(files ${file} "")
    list(TRANSFORM files REPLACE "\\." "_")
    list(APPEND used ${files})
    list(JOIN files ", " ${language}_${name})
  endif()

  string(REGEX REPLACE "${include_line}" "\\1" text "${text_${file}}")
  # Raw string literals stay below the length limit of compilers.
  set(body "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 12000 piece)
    string(APPEND body "R\"concord_text(${piece})concord_text\"\n")
    math(EXPR at "${at} + 12000")
  endwhile()
  string(APPEND constants "const SourceFile ${symbol}{\"${file}\", ${body}};\n")
endforeach()
list(REMOVE_DUPLICATES names)
list(REMOVE_DUPLICATES used)
list(JOIN used ", " used)

set(sources "")
foreach(name IN LISTS names)
  string(APPEND sources "const KernelSource& ${name}() {
    static const KernelSource source{\"${name}\", {${cu_${name}}}, {${cl_${name}}}};
    return source;
}
")
endforeach()

file(WRITE ${OUTPUT}.new "#include <concord/kernel.hpp>
namespace concord::detail::kernel_sources {
extern const SourceFile ${used};
${constants}${sources}}
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
