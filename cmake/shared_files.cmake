# Writes the manual pages and the completions by running the program that was just built:
#
#   cmake -D SNAG=build/snag -D OUT=build/share -P shared_files.cmake
#
# makes man/man1/*.1, man/man5/snag-formats.5, bash-completion/completions/snag, zsh/site-functions/_snag and
# fish/vendor_completions.d/snag.fish below OUT.

function(print_to file)
  get_filename_component(directory ${OUT}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${directory})
  execute_process(COMMAND ${SNAG} ${ARGN} OUTPUT_FILE ${OUT}/${file} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "'snag ${ARGN}' failed: ${status}")
  endif()
endfunction()

file(REMOVE_RECURSE ${OUT})
print_to(man/man1/snag.1 man)
file(STRINGS ${OUT}/man/man1/snag.1 rows REGEX "^\\.It Xr snag")
foreach(row ${rows})
  string(REGEX REPLACE "^\\.It Xr snag[\\]?-([a-z-]+) 1$" "\\1" command "${row}")
  print_to(man/man1/snag-${command}.1 man ${command})
endforeach()
print_to(man/man5/snag-formats.5 man formats)
print_to(bash-completion/completions/snag completion bash)
print_to(zsh/site-functions/_snag completion zsh)
print_to(fish/vendor_completions.d/snag.fish completion fish)
