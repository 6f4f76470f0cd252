# Shared by the folders' CMakeLists.txt: language level, flags, public headers, kernel sources, backends.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()
# Modules are next to the library, where it searches them, in other projects' build trees as well.
if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endif()
# The path from an installed program to the libraries.
file(RELATIVE_PATH CONCORD_BIN_TO_LIB ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

# Flags of Concord's own targets. g++ 12 warns of overlap within std::string's operator+ (GCC bug 105329).
add_library(concord_flags INTERFACE)
target_compile_options(concord_flags INTERFACE -Wall -Wextra -Wno-psabi $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<BOOL:${CONCORD_WERROR}>:-Werror>)
if(CONCORD_SANITIZE)
  target_compile_options(concord_flags INTERFACE -fsanitize=${CONCORD_SANITIZE} -fno-omit-frame-pointer -g
                         -fno-sanitize-recover=all)
  target_link_options(concord_flags INTERFACE -fsanitize=${CONCORD_SANITIZE})
endif()
if(CONCORD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "CONCORD_FUZZ requires clang, got ${CMAKE_CXX_COMPILER_ID}; set CMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(concord_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# concord_parse_once(TARGET [HEADERS ...]): precompiles these headers and frequent ones for all files of a target.
# Saves up to a third of the compile time and needs 80 MB per target. Other projects' builds and builds with
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON do not use it; they prove that each file includes what it uses.
function(concord_parse_once target)
  if(NOT PROJECT_IS_TOP_LEVEL OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstring> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <span> <string> <string_view> <thread> <vector> ${ARGN})
  # g++ 12 no longer treats these as system headers then, and warns of std::string's own code (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# concord_compile_together(TARGET COUNT): compiles COUNT files of a target as one, for targets whose headers take longer
# than their code. Saves more than precompiled headers, and is by default switched off like them. The files' unnamed
# namespaces are then the same, so equal signatures in one batch do not compile.
function(concord_compile_together target count)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS AND NOT DEFINED CONCORD_BATCHES)
    return()
  endif()
  if(PROJECT_IS_TOP_LEVEL AND (NOT DEFINED CONCORD_BATCHES OR CONCORD_BATCHES))
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# concord_optimize_less(TARGET LEVEL): compiles a release build's target at -OLEVEL, to save build time: its code is not
# measured, and kernels are in the libraries. g++ warns of more variables at -O1 that are always initialised, and glibc
# of _FORTIFY_SOURCE at -O0.
function(concord_optimize_less target level)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang>>:-O${level}>
                         $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>
                         $<$<AND:$<CONFIG:Release>,$<EQUAL:${level},0>>:-U_FORTIFY_SOURCE>)
endfunction()

# concord_search_libraries(TARGET [FOLDERS...]): where an installed target searches its libraries: these folders,
# relative to its own as $ORIGIN, and the folders of other projects' libraries. The build tree uses the same paths.
# CMake's own paths for the build tree end with an empty one, which the loader takes for the current directory.
function(concord_search_libraries target)
  set(folders ${ARGN})
  list(REMOVE_DUPLICATES folders)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${folders}" INSTALL_RPATH_USE_LINK_PATH ON)
  if(NOT CMAKE_SKIP_INSTALL_RPATH)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
endfunction()

# concord_install_library(TARGET): installs a library of the package concord. The link without a version is for linkers.
function(concord_install_library target)
  install(TARGETS ${target} EXPORT concord
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endfunction()

# --- Layers ---------------------------------------------------------------------------------------------------------
# Dependencies point one way: core <- backends; core <- algorithms <- pipeline <- distributed <- lab <- apps, tests. A
# layer NAME has two interface targets that add the include folders of its source folders:
#   concord_NAME_headers   FOLDER/include: <concord/X.hpp>, and <concord/detail/X.hpp> for their templates; installed
#   concord_NAME_internal  the same, and FOLDER/internal: <concord/internal/X.hpp> for Concord's sources; not installed
# A target sees the layers that it links: an upward include does not compile. A header next to sources is private.

# Flags of all code that includes Concord's templates. The user's compiler instantiates host kernels. Contraction
# would round their sums differently. Square roots that set errno, and selections that might trap, are not vectorised.
set(CONCORD_PUBLIC_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math)
list(TRANSFORM CONCORD_PUBLIC_FLAGS REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:\\0>" OUTPUT_VARIABLE CONCORD_PUBLIC_OPTIONS)
list(APPEND CONCORD_PUBLIC_OPTIONS $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)

# concord_layer(NAME [ON LAYERS...]): defines a layer, and the layers below that it may use. Adds this folder's headers.
function(concord_layer name)
  cmake_parse_arguments(arg "" "" "ON" ${ARGN})
  foreach(kind headers internal)
    add_library(concord_${name}_${kind} INTERFACE)
    foreach(below IN LISTS arg_ON)
      target_link_libraries(concord_${name}_${kind} INTERFACE concord_${below}_${kind})
    endforeach()
  endforeach()
  target_link_libraries(concord_${name}_internal INTERFACE concord_${name}_headers)
  set(CONCORD_LAYER ${name})
  set(CONCORD_LAYER ${name} PARENT_SCOPE)
  concord_headers()
endfunction()

# concord_headers([FOLDER]): adds the headers in FOLDER/include and FOLDER/internal to the layer CONCORD_LAYER. By
# default FOLDER is the current source folder.
function(concord_headers)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR})
  if(ARGC)
    set(folder ${ARGV0})
  endif()
  if(EXISTS ${folder}/include)
    target_include_directories(concord_${CONCORD_LAYER}_headers INTERFACE ${folder}/include)
    install(DIRECTORY ${folder}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
            FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  endif()
  if(EXISTS ${folder}/internal)
    target_include_directories(concord_${CONCORD_LAYER}_internal INTERFACE ${folder}/internal)
  endif()
endfunction()

# concord_algorithm_files(VARIABLE PATTERN): replaces NAME in the pattern by each algorithm's name. An error names a
# missing file.
function(concord_algorithm_files variable pattern)
  set(files "")
  foreach(algorithm IN LISTS CONCORD_ALGORITHMS)
    string(REPLACE NAME ${algorithm} file ${pattern})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "CONCORD_ALGORITHMS names '${algorithm}'; missing ${file}")
    endif()
    list(APPEND files ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# concord_library_layer(NAME): the target concord_NAME, which has the sources of a layer of libconcord.
function(concord_library_layer name)
  add_library(concord_${name} OBJECT)
  target_compile_options(concord_${name} PRIVATE ${CONCORD_PUBLIC_OPTIONS})
  target_compile_definitions(concord_${name} PRIVATE CONCORD_VERSION="${PROJECT_VERSION}")
  target_link_libraries(concord_${name} PRIVATE concord_${name}_internal concord_flags)
  set_target_properties(concord_${name} PROPERTIES CXX_VISIBILITY_PRESET default)
  target_sources(concord PRIVATE $<TARGET_OBJECTS:concord_${name}>)
endfunction()

# concord_embed(TARGET FILES ... [SHARED ...]): compiles the files into the target, as concord::detail::kernel_sources.
# SHARED: files of other calls that these files include. See embed.cmake.
function(concord_embed target)
  cmake_parse_arguments(arg "" "" "FILES;SHARED" ${ARGN})
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${folder}_sources.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${arg_FILES}" "-DSHARED=${arg_SHARED}" -DOUTPUT=${output} -P ${script}
    DEPENDS ${arg_FILES} ${arg_SHARED} ${script} ${PROJECT_SOURCE_DIR}/core/internal/concord/internal/language.hpp
    COMMENT "Embedding ${folder}" VERBATIM)
  # A target of this folder: CMake knows the rule for a generated file only in the folder that defines it.
  add_library(concord_sources_${folder} OBJECT ${output})
  target_link_libraries(concord_sources_${folder} PRIVATE concord_core_internal)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL OBJECT_LIBRARY)  # a layer of the library
    set(target concord)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:concord_sources_${folder}>)
endfunction()

# concord_embed_kernels(TARGET): embeds the kernel sources of the current folder, *.kernel and those of each language.
# They may include files of this folder and of algorithms/common. The target's sources see them by
# #include "FOLDER_sources.hpp", which declares concord::detail::kernel_sources::NAME() for each NAME of a file.
function(concord_embed_kernels target)
  include(${PROJECT_SOURCE_DIR}/cmake/languages.cmake)
  list(TRANSFORM languages REPLACE "(.+)" "*.\\1" OUTPUT_VARIABLE patterns)
  list(APPEND patterns *.kernel)
  list(TRANSFORM patterns PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE own_patterns)
  file(GLOB files CONFIGURE_DEPENDS ${own_patterns})
  set(common ${PROJECT_SOURCE_DIR}/algorithms/common)
  set(shared "")
  if(NOT CMAKE_CURRENT_SOURCE_DIR STREQUAL common)
    list(TRANSFORM patterns PREPEND ${common}/)
    file(GLOB shared CONFIGURE_DEPENDS ${patterns})
  endif()
  concord_embed(${target} FILES ${files} SHARED ${shared})

  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  list(TRANSFORM files REPLACE ".*/(.+)\\.[a-z]+$" "const KernelSource& \\1()" OUTPUT_VARIABLE declarations)
  list(REMOVE_DUPLICATES declarations)
  list(JOIN declarations ";\n" declarations)
  set(headers ${PROJECT_BINARY_DIR}/kernel_sources/${target})
  file(CONFIGURE OUTPUT ${headers}/${folder}_sources.hpp @ONLY CONTENT [[
#pragma once
// The kernel sources in this folder.

#include <concord/kernel.hpp>

namespace concord::detail::kernel_sources {
@declarations@;
}
]])
  target_include_directories(${target} PRIVATE ${headers})
endfunction()

# concord_add_backend(NAME SOURCES ... [LIBRARIES ...] [INCLUDES ...]): adds a loadable module
# concord-backend-NAME.so. In a static build, adds the sources to the library.
function(concord_add_backend name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;INCLUDES" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY CONCORD_BUILT_BACKENDS ${name})
  if(CONCORD_STATIC_BACKENDS)
    set(target concord_backend_${name})
    add_library(${target} OBJECT ${arg_SOURCES})
    target_compile_options(${target} PRIVATE ${CONCORD_PUBLIC_OPTIONS})
    target_compile_definitions(${target} PRIVATE CONCORD_VERSION="${PROJECT_VERSION}")
    target_sources(concord PRIVATE $<TARGET_OBJECTS:${target}>)
    target_link_libraries(concord PRIVATE ${arg_LIBRARIES})
    set_property(GLOBAL APPEND PROPERTY CONCORD_STATIC_LIBRARIES ${arg_LIBRARIES})
  else()
    set(target concord-backend-${name})
    add_library(${target} MODULE ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES PREFIX "")
    concord_search_libraries(${target} $ORIGIN/.. $ORIGIN)
    target_link_libraries(${target} PRIVATE concord)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/concord COMPONENT runtime)
    # A build of the library includes its backends.
    add_dependencies(concord_modules concord-backend-${name})
  endif()
  concord_compile_together(${target} 10)
  target_link_libraries(${target} PRIVATE concord_core_internal concord_flags ${arg_LIBRARIES})
  target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
endfunction()
add_custom_target(concord_modules ALL)

# The list of backends that are built into the library.
function(concord_finish_backends)
  get_property(names GLOBAL PROPERTY CONCORD_BUILT_BACKENDS)
  set(declarations "")
  set(entries "")
  if(CONCORD_STATIC_BACKENDS)
    foreach(name IN LISTS names)
      string(APPEND declarations "extern \"C\" const concord::BackendModule* concord_backend_${name}();\n")
      string(APPEND entries "concord_backend_${name}, ")
    endforeach()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/builtin_backends.cpp @ONLY CONTENT [[
#include <concord/backend.hpp>
@declarations@
namespace concord {
// Ends with a null.
extern const BackendEntry builtin_backends[] = {@entries@nullptr};
}  // namespace concord
]])
  target_sources(concord_core PRIVATE ${PROJECT_BINARY_DIR}/builtin_backends.cpp)
endfunction()

# The libraries that libconcord links, and its installation.
function(concord_finish_library)
  target_include_directories(concord PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(concord PUBLIC cxx_std_20)
  target_compile_options(concord PUBLIC ${CONCORD_PUBLIC_OPTIONS})
  target_compile_definitions(concord PUBLIC CONCORD_VERSION="${PROJECT_VERSION}")
  target_link_libraries(concord PRIVATE $<BUILD_INTERFACE:concord_flags> $<BUILD_INTERFACE:spdlog::spdlog> Threads::Threads
                        ${CMAKE_DL_LIBS})
  set_target_properties(concord PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        WINDOWS_EXPORT_ALL_SYMBOLS ON LINKER_LANGUAGE CXX)
  concord_search_libraries(concord)
  concord_install_library(concord)
endfunction()
