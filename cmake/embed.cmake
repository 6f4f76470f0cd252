# Writes OUTPUT, a C++ source that contains the files FILES:
#
# - each file as the EmbeddedFile concord::detail::kernel_sources::NAME_EXTENSION,
# - for each NAME with kernels, other than in macros, in NAME.cu, NAME.cl or NAME.kernel the KernelSource
#   concord::detail::kernel_sources::NAME(): the files of each language, each after the files that it includes, each
#   file once.
#
# NAME.kernel is a source in all languages. A kernel source includes files of FILES and of SHARED, files that another
# OUTPUT contains. `#include "NAME"` includes NAME.kernel or, if there is none, the file of the language: NAME.cu or
# NAME.cl; in NAME.kernel each include is of this kind. Such a line becomes an empty line, so that the compilers report
# the lines of the file. It has effect wherever it stands.
cmake_minimum_required(VERSION 3.22)

set(include_line "(^|\n)#include \"([^\"\n]*)\"")

include(${CMAKE_CURRENT_LIST_DIR}/languages.cmake)
list(JOIN languages "|" suffixes)
set(kernel_word "__global__|__kernel|(^|\n)KERNEL")
set(macro "#define([^\n]*\\\\\n)*[^\n]*")

# The constant of a file.
function(symbol_of variable file)
  string(REPLACE "." "_" symbol ${file})
  set(${variable} ${symbol} PARENT_SCOPE)
endfunction()

# Sets VARIABLE to the file that a name in an include line stands for.
function(file_of variable name language)
  foreach(file ${name} ${name}.kernel ${name}.${language})
    if(DEFINED text_${file})
      set(${variable} ${file} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${variable} "" PARENT_SCOPE)
endfunction()

# Sets VARIABLE to the file and all files that it includes, dependencies first. chain: the files that lead to this one.
function(resolve variable file language chain)
  set(order "")
  list(APPEND chain ${file})
  string(REGEX MATCHALL "${include_line}" lines "${text_${file}}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "${include_line}" "\\2" name "${line}")
    if("${file}|${name}" MATCHES "\\.kernel\\|(.*)\\.(${suffixes})$")
      message(FATAL_ERROR "${file} is a source in all languages and includes '${name}'; include '${CMAKE_MATCH_1}'")
    endif()
    file_of(included "${name}" ${language})
    if(included STREQUAL "")
      message(FATAL_ERROR "${file} includes '${name}'; no such kernel source in ${FOLDERS}")
    endif()
    if(included IN_LIST chain)
      list(JOIN chain ", " names)
      message(FATAL_ERROR "${file} includes '${included}', which includes ${file}: cyclic includes (${names})")
    endif()
    resolve(before ${included} ${language} "${chain}")
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
  string(REGEX REPLACE "${macro}" "" code "${text_${file}}")
  if("${code}" MATCHES "${kernel_word}" AND file MATCHES "^(.+)\\.(${suffixes}|kernel)$")
    set(name ${CMAKE_MATCH_1})
    set(own_languages ${CMAKE_MATCH_2})
    list(APPEND names ${name})
    if(own_languages STREQUAL "kernel")
      set(own_languages ${languages})
    endif()
    foreach(language IN LISTS own_languages)
      if(DEFINED ${language}_${name})
        message(FATAL_ERROR "${name}.kernel and ${name}.${language} both have kernels; give one another name")
      endif()
      resolve(files ${file} ${language} "")
      list(TRANSFORM files REPLACE "\\." "_")
      list(APPEND used ${files})
      list(TRANSFORM files PREPEND "&")
      list(JOIN files ", " ${language}_${name})
    endforeach()
  endif()

  string(REGEX REPLACE "${include_line}" "\\1" text "${text_${file}}")
  if("${text}" MATCHES "(^|\n)[ \t]*(#[ \t]*include[^\n]*)")
    message(FATAL_ERROR "${file}: '${CMAKE_MATCH_2}' is not a line '#include \"FILE\"'")
  endif()
  # Raw string literals stay below the length limit of compilers.
  set(body "\"\"\n")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 12000 piece)
    string(APPEND body "R\"concord_text(${piece})concord_text\"\n")
    math(EXPR at "${at} + 12000")
  endwhile()
  string(APPEND constants "const EmbeddedFile ${symbol}{\"${file}\", ${body}};\n")
endforeach()
list(REMOVE_DUPLICATES names)
list(REMOVE_DUPLICATES used)
list(JOIN used ", " used)

set(sources "")
foreach(name IN LISTS names)
  set(files "")
  set(list "")
  foreach(language IN LISTS languages)
    if(DEFINED ${language}_${name})
      string(APPEND files "    static const EmbeddedFile* const ${language}[] = {${${language}_${name}}, nullptr};\n")
      string(APPEND list "{\"${language}\", ${language}}, ")
    endif()
  endforeach()
  string(APPEND sources "const KernelSource& ${name}() {
${files}    static const EmbeddedLanguage languages[] = {${list}{}};
    static const KernelSource& source = embedded_source(\"${name}\", languages);
    return source;
}
")
endforeach()

file(WRITE ${OUTPUT}.new "#include <concord/internal/embedded_source.hpp>
namespace concord::detail::kernel_sources {
extern const EmbeddedFile ${used};
${constants}${sources}}
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
