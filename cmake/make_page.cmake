# Fills the directory PAGE with what is to be served, see page.cmake:
#
#   cmake -D MODE=AUTO|ON|OFF|REUSE -D NPM=npm -D WEB=web -D COPY=dir -D RELEASE=dir -D PAGE=dir -P ...

# Two builds of one directory at once would take npm's modules from each other.
file(LOCK ${COPY}.lock GUARD PROCESS TIMEOUT 600 RESULT_VARIABLE locked)
if(NOT locked EQUAL 0)
  message(FATAL_ERROR "another build of this directory has made the page for ten minutes: ${locked}")
endif()

file(REMOVE_RECURSE ${PAGE})

if(MODE STREQUAL "REUSE" AND EXISTS ${RELEASE}/index.html AND EXISTS ${RELEASE}/report.html)
  file(COPY ${RELEASE}/ DESTINATION ${PAGE})
  return()
endif()

if(MODE STREQUAL "AUTO" OR MODE STREQUAL "ON")
  file(REMOVE_RECURSE ${COPY})
  file(COPY ${WEB}/ DESTINATION ${COPY} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
  set(status 0)
  foreach(step "ci;--no-audit;--no-fund" "run;build")
    if(status EQUAL 0)
      execute_process(COMMAND ${CMAKE_COMMAND} -E env SNAG_PAGE_OUT=${PAGE} ${NPM} ${step}
        WORKING_DIRECTORY ${COPY} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    endif()
  endforeach()
  if(status EQUAL 0 AND EXISTS ${PAGE}/index.html AND EXISTS ${PAGE}/report.html)
    return()
  endif()
  if(MODE STREQUAL "ON")
    message(FATAL_ERROR "the page cannot be built: ${said}")
  endif()
  message(WARNING "the page cannot be built, a placeholder is served: ${said}")
  file(REMOVE_RECURSE ${PAGE})
endif()

file(COPY ${WEB}/placeholder/ DESTINATION ${PAGE})
