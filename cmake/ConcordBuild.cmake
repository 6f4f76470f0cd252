# What the folders' CMakeLists.txt share: language level, flags, public headers, kernel texts, backends.
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
# The modules lie beside the library, which is where it looks for them, in other projects' build trees too.
if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endif()
# From an installed program to the library.
file(RELATIVE_PATH CONCORD_BIN_TO_LIB ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

# Flags of all our own targets. g++ 12 warns of overlap within std::string's own operator+ (its bug 105329).
add_library(concord_flags INTERFACE)
target_compile_options(concord_flags INTERFACE -Wall -Wextra -Wno-psabi $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<BOOL:${CONCORD_WERROR}>:-Werror>)
if(CONCORD_SANITIZE)
  target_compile_options(concord_flags INTERFACE -fsanitize=${CONCORD_SANITIZE} -fno-omit-frame-pointer -g
                         -fno-sanitize-recover=all)
  target_link_options(concord_flags INTERFACE -fsanitize=${CONCORD_SANITIZE})
endif()

# concord_parse_once(TARGET [HEADERS ...]): these, and what most files include, are parsed once for all files of a target, which saves
# up to a third of the time to compile, and takes 80 MB a target. Not in other projects' builds, nor with
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON, which prove that each file includes what it uses.
function(concord_parse_once target)
  if(NOT PROJECT_IS_TOP_LEVEL OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstring> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <span> <string> <string_view> <thread> <vector> ${ARGN})
  # g++ 12 no longer knows then that these are the system's, and warns of what its own std::string does (bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# concord_public_headers([FOLDER name] reduce.hpp ...): public headers are included as <concord/NAME.hpp>, or
# <concord/FOLDER/NAME.hpp>, everywhere: in the tree through links in this folder, after install from include/concord.
set(CONCORD_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
function(concord_public_headers)
  cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
  set(folder concord/${arg_FOLDER})
  foreach(header IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(name ${header} NAME)
    file(MAKE_DIRECTORY ${CONCORD_INCLUDE_DIR}/${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${CONCORD_INCLUDE_DIR}/${folder}/${name}
         COPY_ON_ERROR SYMBOLIC)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT development)
  endforeach()
endfunction()

# concord_embed_kernels([TARGET name] scan.cu scan.cl): adds the texts to the library, or to that target, as
# concord::texts::scan_cu and scan_cl.
function(concord_embed_kernels)
  cmake_parse_arguments(arg "" "TARGET" "" ${ARGN})
  set(target concord)
  if(arg_TARGET)
    set(target ${arg_TARGET})
  endif()
  set(outputs "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    string(REPLACE "." "_" symbol ${file})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}_text.cpp)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
              -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      COMMENT "Embedding ${file}" VERBATIM)
    list(APPEND outputs ${output})
  endforeach()
  # A target of this folder, because the rule that makes a file belongs to the folder that states it.
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_library(concord_texts_${folder} OBJECT ${outputs})
  # Each is little more than its header, so all are compiled at once.
  set_target_properties(concord_texts_${folder} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_include_directories(concord_texts_${folder} PRIVATE ${CONCORD_INCLUDE_DIR})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:concord_texts_${folder}>)
endfunction()

# concord_add_backend(NAME SOURCES ... [LIBRARIES ...] [INCLUDES ...]): a loadable module
# concord-backend-NAME.so, or part of the library in a static build.
function(concord_add_backend name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;INCLUDES" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY CONCORD_BUILT_BACKENDS ${name})
  if(CONCORD_STATIC_BACKENDS)
    target_sources(concord PRIVATE ${arg_SOURCES})
    target_link_libraries(concord PRIVATE ${arg_LIBRARIES})
    target_include_directories(concord SYSTEM PRIVATE ${arg_INCLUDES})
    set_property(GLOBAL APPEND PROPERTY CONCORD_STATIC_LIBRARIES ${arg_LIBRARIES})
  else()
    add_library(concord-backend-${name} MODULE ${arg_SOURCES})
    set_target_properties(concord-backend-${name} PROPERTIES PREFIX "" INSTALL_RPATH "$ORIGIN/..")
    target_link_libraries(concord-backend-${name} PRIVATE concord concord_flags ${arg_LIBRARIES})
    target_include_directories(concord-backend-${name} SYSTEM PRIVATE ${arg_INCLUDES})
    install(TARGETS concord-backend-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/concord COMPONENT runtime)
    # Whoever builds the library wants its backends too.
    add_dependencies(concord_modules concord-backend-${name})
  endif()
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
  target_sources(concord PRIVATE ${PROJECT_BINARY_DIR}/builtin_backends.cpp)
endfunction()
