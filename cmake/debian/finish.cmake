# CPack runs this script between installation and packaging: the last changes to the files, for Debian's rules.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})

# Libraries are in a folder that the loader searches by default.
file(GLOB_RECURSE binaries ${root}/*.so ${root}/*.so.* ${root}/*/usr/bin/*)
foreach(binary IN LISTS binaries)
  if(NOT IS_SYMLINK ${binary})
    file(RPATH_REMOVE FILE ${binary})
  endif()
endforeach()

# zsh does not search site-functions on Debian.
file(GLOB folders ${root}/*/usr/share/zsh)
foreach(zsh IN LISTS folders)
  file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
endforeach()

file(GLOB_RECURSE pages ${root}/*/usr/share/man/*.1 ${root}/*/usr/share/doc/changelog.Debian)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)

# CPack makes folders with the permissions of the user's umask.
file(GLOB_RECURSE folders LIST_DIRECTORIES true ${root}/*)
foreach(folder IN LISTS folders)
  if(IS_DIRECTORY ${folder})
    file(CHMOD ${folder} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
