# Sets `languages` to the suffixes in the table of languages, those of their kernels' files. A suffix has letters and
# digits.
get_filename_component(language_table ${CMAKE_CURRENT_LIST_DIR}/../core/internal/concord/internal/language.hpp ABSOLUTE)
file(STRINGS ${language_table} languages REGEX "\\.suffix = \"")
list(TRANSFORM languages REPLACE "^ *\\.suffix = \"([A-Za-z0-9]+)\",$" "\\1")
list(REMOVE_DUPLICATES languages)
if(NOT languages MATCHES "^[A-Za-z0-9;]+$")
  message(FATAL_ERROR "${language_table}: expected lines '.suffix = \"LETTERS\",', got '${languages}'")
endif()
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${language_table})
endif()
