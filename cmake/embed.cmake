# snag_embed(FILE OUT) -- write the text of FILE to OUT as a C string literal, a line per line.
function(snag_embed file out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  file(GENERATE OUTPUT ${out} CONTENT "\"${text}\"\n")
endfunction()
