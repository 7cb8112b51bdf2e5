# The page, as a table of files inside the program (src/serve/routes.h).
#
# SNAG_PAGE=ON builds it from web/ with npm; OFF takes web/placeholder; AUTO builds it if npm and
# web/package.json are there and it can be built, and says why where it cannot. A directory is a page that another build has
# made (build/release/page), for machines that no registry is reached from. A build with sanitizers takes what the release build
# beside it has made, or the placeholder.
#
# npm runs in a copy of web/ in the build directory: the sources stay as they are.

set(SNAG_PAGE AUTO CACHE STRING "build the page with npm: AUTO, ON or OFF; or the directory of one that is built")
set_property(CACHE SNAG_PAGE PROPERTY STRINGS AUTO ON OFF)

set(web ${PROJECT_SOURCE_DIR}/web)
set(page ${PROJECT_BINARY_DIR}/page)
set(openapi ${PROJECT_SOURCE_DIR}/src/serve/openapi.json)
set(SNAG_PAGE_INCLUDE ${PROJECT_BINARY_DIR}/page_include)
set(table ${SNAG_PAGE_INCLUDE}/serve/assets_table.inc)
set(made ${page}.stamp)

find_program(NPM npm)
set(mode ${SNAG_PAGE})
set(reused ${PROJECT_SOURCE_DIR}/build/release/page)
if(SNAG_PAGE MATCHES "/")
  set(mode REUSE)
  get_filename_component(reused ${SNAG_PAGE} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(NOT EXISTS ${reused}/index.html OR NOT EXISTS ${reused}/report.html)
    message(FATAL_ERROR "SNAG_PAGE=${SNAG_PAGE} is no page: it has no index.html, or no report.html")
  endif()
elseif(SNAG_SANITIZE AND NOT SNAG_PAGE STREQUAL "ON")
  set(mode REUSE)
elseif(NOT NPM OR NOT EXISTS ${web}/package.json)
  if(SNAG_PAGE STREQUAL "ON")
    message(FATAL_ERROR "SNAG_PAGE=ON needs npm and web/package.json")
  endif()
  if(SNAG_PAGE STREQUAL "AUTO")
    set(mode NONE)
  endif()
endif()

file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${web}/*)
list(FILTER page_sources EXCLUDE REGEX "/(node_modules|dist|tests?)/")

add_custom_command(
  OUTPUT ${made}
  COMMAND ${CMAKE_COMMAND} -D MODE=${mode} -D NPM=${NPM} -D WEB=${web} -D PAGE=${page}
    -D RELEASE=${reused} -D COPY=${PROJECT_BINARY_DIR}/web
    -P ${PROJECT_SOURCE_DIR}/cmake/make_page.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${made}
  DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/cmake/make_page.cmake
  COMMENT "Making the page"
  VERBATIM)
add_custom_command(
  OUTPUT ${table}
  COMMAND ${CMAKE_COMMAND} -D ROOT=${page} -D OPENAPI=${openapi} -D OUT=${table}
    -P ${PROJECT_SOURCE_DIR}/cmake/assets.cmake
  DEPENDS ${made} ${openapi} ${PROJECT_SOURCE_DIR}/cmake/assets.cmake
  VERBATIM)
add_custom_target(snag_page DEPENDS ${table})
