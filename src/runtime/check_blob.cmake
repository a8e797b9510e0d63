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

if(NOT symbols MATCHES "0000000000000040 +[0-9]+ FUNC +[A-Z]+ +[A-Z]+ +[0-9]+ blip_reserve_monotonic\n")
  message(FATAL_ERROR "runtime blob: blip_reserve_monotonic is not at offset 64:\n${symbols}")
endif()

foreach(entry "0000000000000080;blip_trap" "00000000000000c0;blip_restore" "0000000000000100;blip_set_action"
        "0000000000000140;blip_enter" "0000000000000180;blip_find" "00000000000001c0;blip_leave"
        "0000000000000200;blip_enter_monotonic" "00000000000002c0;blip_tell_libraries"
        "0000000000000300;blip_find_reading" "0000000000000340;blip_begin_call" "0000000000000380;blip_find_range" "0000000000000400;blip_backtrace"
        "00000000000003c0;blip_fetch" "0000000000000440;blip_collect")
  list(GET entry 0 offset)
  list(GET entry 1 name)
  if(NOT symbols MATCHES "${offset} +[0-9]+ FUNC +[A-Z]+ +[A-Z]+ +[0-9]+ ${name}\n")
    message(FATAL_ERROR "runtime blob: ${name} is not at offset 0x${offset}:\n${symbols}")
  endif()
endforeach()

# All functions of an entry (a source file) together: whatever calls whatever, there is no recursion. Of those that match
# ALTERNATIVES none calls another: the largest counts.
foreach(file IN LISTS STACK_USAGE)
  file(STRINGS ${file} usages)
  set(total 0)
  set(largest 0)
  foreach(usage IN LISTS usages)
    if(NOT usage MATCHES "\t([0-9]+)\tstatic$")
      message(FATAL_ERROR "runtime blob: unbounded stack: ${usage}")
    endif()
    math(EXPR one "${CMAKE_MATCH_1} + 8")
    if(ALTERNATIVES AND usage MATCHES "${ALTERNATIVES}")
      if(one GREATER largest)
        set(largest ${one})
      endif()
    else()
      math(EXPR total "${total} + ${one}")
    endif()
  endforeach()
  math(EXPR total "${total} + ${largest}")
  if(total GREATER STACK_LIMIT)
    message(FATAL_ERROR "runtime blob: ${total} bytes of stack, at most ${STACK_LIMIT} are allowed: ${file}")
  endif()
endforeach()
