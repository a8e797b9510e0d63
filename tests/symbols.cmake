# SPDX-License-Identifier: MIT
# Symbols: chosen at run time, several of one name, separate, packed, gone.
e2e_target(libifunc.so.1 SOURCES libifunc.c FLAGS -shared -fPIC -Wl,-soname,libifunc.so.1)
e2e_target(ifunc_calls SOURCES ifunc_calls.c DEPENDS ${TARGET_DIR}/libifunc.so.1
           FLAGS -fno-builtin ${TARGET_DIR}/libifunc.so.1 -Wl,-rpath,$ORIGIN -Wl,-z,lazy)
e2e_target(ifunc_static SOURCES ifunc_calls.c libifunc.c FLAGS -fno-builtin -static)
e2e_target(libcalls_other.so.1 SOURCES libcalls.c
           FLAGS -O1 -shared -fPIC -Wl,-soname,libcalls.so.1 -fpatchable-function-entry=16)
e2e_target(twins SOURCES twins.c twins_other.c)
e2e_target(clones SOURCES clones.c FLAGS -O2 -fipa-cp-clone)
e2e_target(overloads SOURCES overloads.cc COMPILER ${CMAKE_CXX_COMPILER})
set(main_flags_pie)
set(main_flags_nopie -no-pie -fno-pie)
set(main_flags_cet -fcf-protection=full)
set(main_flags_static -static)
set(main_flags_static_pie -static-pie -fPIE)
foreach(kind pie nopie cet static static_pie)
  e2e_target(main_${kind} SOURCES main_again.c FLAGS -g0 -s ${main_flags_${kind}})
endforeach()

# separate_symbols(NAME): from loop_calls, NAME stripped with a .gnu_debuglink to NAME.debug, and NAME.xz with the
# symbols packed inside (.gnu_debugdata).
function(separate_symbols name)
  set(out ${TARGET_DIR}/${name})
  add_custom_command(OUTPUT ${out} ${out}.debug ${out}.xz
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${TARGET_DIR}/loop_calls ${out}.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=${out}.debug ${TARGET_DIR}/loop_calls ${out}
    COMMAND ${CMAKE_OBJCOPY} --strip-debug --remove-section .comment ${out}.debug ${out}.mini
    COMMAND xz -kf ${out}.mini
    COMMAND ${CMAKE_OBJCOPY} --strip-all --add-section .gnu_debugdata=${out}.mini.xz ${TARGET_DIR}/loop_calls ${out}.xz
    DEPENDS ${TARGET_DIR}/loop_calls COMMENT "target ${name}" VERBATIM)
  set(all_targets ${all_targets} ${out} ${out}.debug ${out}.xz PARENT_SCOPE)
endfunction()
separate_symbols(loop_separate)

find_program(RUSTC rustc PATHS /usr/bin NO_DEFAULT_PATH)
if(RUSTC)
  set(rust_flags_legacy)
  set(rust_flags_v0 -C symbol-mangling-version=v0)
  foreach(scheme legacy v0)
    add_custom_command(OUTPUT ${TARGET_DIR}/rust_${scheme}
      COMMAND ${RUSTC} -O ${rust_flags_${scheme}} -o ${TARGET_DIR}/rust_${scheme} ${SOURCE_DIR}/rust_names.rs
      DEPENDS ${SOURCE_DIR}/rust_names.rs COMMENT "target rust_${scheme}" VERBATIM)
    list(APPEND all_targets ${TARGET_DIR}/rust_${scheme})
  endforeach()
endif()
