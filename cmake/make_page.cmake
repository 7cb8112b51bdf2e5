# Fills the directory PAGE with what is to be served, see page.cmake:
#
#   cmake -D MODE=AUTO|ON|OFF|NONE|REUSE -D NPM=npm -D WEB=web -D COPY=dir -D RELEASE=dir -D PAGE=dir -P ...
#
# Where that is a placeholder that nobody asked for, PAGE.missing says what failed and what to do about it. MODE=NONE:
# npm is not here.

# Two builds of one directory at once would take npm's modules from each other.
file(LOCK ${COPY}.lock GUARD PROCESS TIMEOUT 600 RESULT_VARIABLE locked)
if(NOT locked EQUAL 0)
  message(FATAL_ERROR "another build of this directory has made the page for ten minutes: ${locked}")
endif()

file(REMOVE_RECURSE ${PAGE})
file(REMOVE ${PAGE}.missing)

# placeholder_is_served(WHY WAY_OUT) -- said once, by what is built with this; setup.sh says it again from the file.
set(again "then remove ${PAGE}.stamp and build again")
function(placeholder_is_served why way_out)
  set(text "The page was not made: ${why}. snag serve shows a placeholder, and all commands work. ${way_out}."
    " -D SNAG_PAGE=OFF is a build without the page.")
  string(CONCAT text ${text})
  file(WRITE ${PAGE}.missing "${text}\n")
  message(NOTICE "${text}")
endfunction()

if(MODE STREQUAL "REUSE" AND EXISTS ${RELEASE}/index.html AND EXISTS ${RELEASE}/report.html)
  file(COPY ${RELEASE}/ DESTINATION ${PAGE})
  return()
endif()

if(MODE STREQUAL "AUTO" OR MODE STREQUAL "ON")
  file(REMOVE_RECURSE ${COPY})
  file(COPY ${WEB}/ DESTINATION ${COPY} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
  set(status 0)
  set(failed)
  foreach(step "ci;--no-audit;--no-fund" "run;build")
    if(status EQUAL 0)
      execute_process(COMMAND ${CMAKE_COMMAND} -E env SNAG_PAGE_OUT=${PAGE} ${NPM} ${step}
        WORKING_DIRECTORY ${COPY} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
      list(GET step 0 failed)
    endif()
  endforeach()
  if(status EQUAL 0 AND EXISTS ${PAGE}/index.html AND EXISTS ${PAGE}/report.html)
    return()
  endif()
  if(MODE STREQUAL "ON")
    message(FATAL_ERROR "the page cannot be built: ${said}")
  endif()
  file(WRITE ${PAGE}.log "${said}")
  file(REMOVE_RECURSE ${PAGE})
  # npm says the same in many lines: its codes, and what it could not reach
  string(REGEX MATCH "(E[A-Z_]*(NOTFOUND|AGAIN|CONN[A-Z]+|TIMEDOUT|UNREACH)|ERR_SOCKET_TIMEOUT|ECERT[A-Z_]*|SELF_SIGNED[A-Z_]*|E40[0-9]|E50[0-9])" code "${said}")
  if(failed STREQUAL "ci" AND code)
    execute_process(COMMAND ${NPM} config get registry WORKING_DIRECTORY ${COPY} OUTPUT_VARIABLE registry
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    placeholder_is_served("npm does not reach its registry, ${registry} (${code})"
      "Name one that this machine reaches (npm config set registry URL), or a proxy (npm config set https-proxy URL), ${again}")
  else()
    placeholder_is_served("npm ${failed} failed (${PAGE}.log)" "Mend what it says, ${again}")
  endif()
elseif(MODE STREQUAL "NONE")
  placeholder_is_served("there is no npm" "Install Node.js 18 or later with npm, then configure and build again")
endif()

file(COPY ${WEB}/placeholder/ DESTINATION ${PAGE})
