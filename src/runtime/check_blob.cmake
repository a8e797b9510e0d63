# SPDX-License-Identifier: MIT
# Fails the build unless ELF is self-contained position-independent code with the entry at 0, and no function of it needs
# more stack than pads set aside. usage: cmake -D ELF= -D STACK_USAGE= -D STACK_LIMIT= -D READELF= -P check_blob.cmake
execute_process(COMMAND ${READELF} -rW ${ELF} OUTPUT_VARIABLE relocations COMMAND_ERROR_IS_FATAL ANY)
if(NOT relocations MATCHES "There are no relocations")
  message(FATAL_ERROR "runtime blob: relocations are left:\n${relocations}")
endif()

execute_process(COMMAND ${READELF} -SW ${ELF} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\] [^\n]+ [WAXMSIlLGTCxoEDp]*A[WAXMSIlLGTCxoEDp]* +[0-9]+ +[0-9]+ +[0-9]+\n" loaded "${sections}")
foreach(section IN LISTS loaded)
  if(NOT section MATCHES "^\\] \\.text ")
    message(FATAL_ERROR "runtime blob: only .text may be loaded, found: ${section}")
  endif()
endforeach()
if(NOT loaded)
  message(FATAL_ERROR "runtime blob: no .text found:\n${sections}")
endif()

execute_process(COMMAND ${READELF} -sW ${ELF} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "0000000000000000 +[0-9]+ FUNC +[A-Z]+ +[A-Z]+ +[0-9]+ blip_reserve\n")
  message(FATAL_ERROR "runtime blob: blip_reserve is not at offset 0:\n${symbols}")
endif()
if(symbols MATCHES " UND [A-Za-z_]")
  message(FATAL_ERROR "runtime blob: undefined symbols:\n${symbols}")
endif()

# All functions together: whatever calls whatever, there is no recursion.
file(STRINGS ${STACK_USAGE} usages)
set(total 0)
foreach(usage IN LISTS usages)
  if(NOT usage MATCHES "\t([0-9]+)\tstatic$")
    message(FATAL_ERROR "runtime blob: unbounded stack: ${usage}")
  endif()
  math(EXPR total "${total} + ${CMAKE_MATCH_1} + 8")
endforeach()
if(total GREATER STACK_LIMIT)
  message(FATAL_ERROR "runtime blob: ${total} bytes of stack, at most ${STACK_LIMIT} are allowed")
endif()
