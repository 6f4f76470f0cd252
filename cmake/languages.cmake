# Sets `languages` to the suffixes in the table of languages: those of their kernels' files.
get_filename_component(language_table ${CMAKE_CURRENT_LIST_DIR}/../core/internal/concord/internal/language.hpp ABSOLUTE)
file(STRINGS ${language_table} languages REGEX "\\.suffix = \"")
list(TRANSFORM languages REPLACE ".*\\.suffix = \"([a-z]+)\".*" "\\1")
list(REMOVE_DUPLICATES languages)
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${language_table})
endif()
