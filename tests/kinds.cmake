# SPDX-License-Identifier: MIT
# Programs built in all the ways people build programs. What needs a compiler that is not installed is left out; its
# cases are skipped by `needs`.
set(kinds
  loop_Os "-Os"
  loop_O3 "-O3 -march=x86-64-v2"
  loop_pg "-pg"
  loop_fentry "-pg -mfentry"
  loop_patchable "-fpatchable-function-entry=16"
  loop_patchable_before "-fpatchable-function-entry=16,8"
  loop_no_plt "-fno-plt -Wl,-z,now"
  loop_lto "-flto"
  loop_asan "-fsanitize=address"
  loop_ubsan "-fsanitize=undefined"
  loop_frame_pointer "-fno-omit-frame-pointer -mno-red-zone"
  loop_stack_protector "-fstack-protector-all -fstack-clash-protection"
  loop_fixed "-no-pie -fno-pie -Wl,-Ttext-segment=0x70000000"
  loop_based "-pie -fPIE -Wl,-Ttext-segment=0x5500000000"
  loop_one_segment "-Wl,-z,noseparate-code"
  loop_large_model "-no-pie -fno-pie -mcmodel=large"
  loop_sections "-ffunction-sections -Wl,--gc-sections -Wl,--build-id=none")
while(kinds)
  list(POP_FRONT kinds name flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  e2e_target(${name} SOURCES loop_calls.c FLAGS ${flags})
endwhile()
e2e_target(undumpable SOURCES undumpable.c)
e2e_target(loop_writable_text SOURCES writable_text.c FLAGS -Wl,--no-warn-rwx-segments)
e2e_target(hot_cold SOURCES hot_cold.c FLAGS -freorder-blocks-and-partition)
e2e_target(throws_O0 SOURCES throws.cc COMPILER ${CMAKE_CXX_COMPILER} FLAGS -O0)
e2e_target(lives_static SOURCES lives.c FLAGS -static)
e2e_target(throws_static SOURCES throws.cc COMPILER ${CMAKE_CXX_COMPILER} FLAGS -static)

# Three modules more than 2 GiB apart.
e2e_target(libfar_one.so SOURCES far_lib.c FLAGS -DNAME=far_one -shared -fPIC)
e2e_target(libfar_two.so SOURCES far_lib.c FLAGS -DNAME=far_two -shared -fPIC)
e2e_target(far_libs SOURCES far_libs.c FLAGS -no-pie -fno-pie -Wl,-rpath,$ORIGIN)

set(huge ${CMAKE_CURRENT_BINARY_DIR}/huge.s)
add_custom_command(OUTPUT ${huge} COMMAND ${Python3_EXECUTABLE} ${SOURCE_DIR}/gen_huge.py 96 > ${huge}
                   DEPENDS ${SOURCE_DIR}/gen_huge.py)
e2e_target(huge_text SOURCES many_main.c ${huge})

find_program(MUSL_GCC musl-gcc)
if(MUSL_GCC)
  e2e_target(loop_musl SOURCES loop_calls.c COMPILER ${MUSL_GCC})
  e2e_target(loop_musl_static SOURCES loop_calls.c COMPILER ${MUSL_GCC} FLAGS -static)
  e2e_target(threads_musl SOURCES threads.c COMPILER ${MUSL_GCC})
  e2e_target(cancels_musl_static SOURCES cancels.c COMPILER ${MUSL_GCC} FLAGS -static)
  e2e_target(threads_musl_static SOURCES threads.c COMPILER ${MUSL_GCC} FLAGS -static)
  e2e_target(lives_musl SOURCES lives.c COMPILER ${MUSL_GCC})
  e2e_target(lives_musl_static SOURCES lives.c COMPILER ${MUSL_GCC} FLAGS -static)
endif()

find_program(CLANG_C clang-14 NAMES clang)
if(CLANG_C)
  e2e_target(loop_clang SOURCES loop_calls.c COMPILER ${CLANG_C})
  e2e_target(inlined_clang SOURCES inlined.c COMPILER ${CLANG_C})
  e2e_target(loop_clang_O3 SOURCES loop_calls.c COMPILER ${CLANG_C} FLAGS -O3 -fno-pie -no-pie)
endif()

# Values of the standard library.
e2e_target(containers SOURCES containers.cc COMPILER ${CMAKE_CXX_COMPILER} FLAGS -std=c++20)
e2e_target(containers_o0 SOURCES containers.cc COMPILER ${CMAKE_CXX_COMPILER} FLAGS -std=c++20 -O0)
find_program(CLANG_CXX clang++-14)
if(CLANG_CXX)
  e2e_target(containers_clang SOURCES containers.cc COMPILER ${CLANG_CXX} FLAGS -std=c++20)
  e2e_target(node_types_clang SOURCES node_types.cc COMPILER ${CLANG_CXX} FLAGS -std=c++20)
  e2e_target(node_types_clang_o0 SOURCES node_types.cc COMPILER ${CLANG_CXX} FLAGS -std=c++20 -O0)
  execute_process(COMMAND ${CLANG_CXX} -stdlib=libc++ -x c++ -fsyntax-only -include map /dev/null
                  RESULT_VARIABLE no_libcxx OUTPUT_QUIET ERROR_QUIET)
  if(NOT no_libcxx)
    e2e_target(node_types_libcxx SOURCES node_types.cc COMPILER ${CLANG_CXX} FLAGS -std=c++20 -stdlib=libc++)
    e2e_target(node_types_libcxx_o0 SOURCES node_types.cc COMPILER ${CLANG_CXX} FLAGS -std=c++20 -stdlib=libc++ -O0)
  endif()
endif()

# e2e_foreign(NAME SOURCE COMMAND...): another language; @OUT@ and @IN@ stand for the files.
function(e2e_foreign name source)
  string(REPLACE "@OUT@" "${TARGET_DIR}/${name}" command "${ARGN}")
  string(REPLACE "@IN@" "${SOURCE_DIR}/${source}" command "${command}")
  add_custom_command(OUTPUT ${TARGET_DIR}/${name} COMMAND ${command} DEPENDS ${SOURCE_DIR}/${source}
                     COMMENT "target ${name}" VERBATIM)
  set(all_targets ${all_targets} ${TARGET_DIR}/${name} PARENT_SCOPE)
endfunction()

find_program(RUSTC rustc PATHS /usr/bin NO_DEFAULT_PATH)
if(RUSTC)
  e2e_foreign(rust_calls rust_calls.rs ${RUSTC} -O -g -o @OUT@ @IN@)
  e2e_foreign(rust_debug rust_calls.rs ${RUSTC} -o @OUT@ @IN@)
  e2e_foreign(containers_rust containers.rs ${RUSTC} -O -g -o @OUT@ @IN@)
  e2e_foreign(containers_rust_debug containers.rs ${RUSTC} -g -o @OUT@ @IN@)
  foreach(level 0 1 2 3)
    e2e_foreign(variants_O${level} variants.rs ${RUSTC} -g -Copt-level=${level} -o @OUT@ @IN@)
  endforeach()
endif()

find_program(GO go)
if(GO)
  set(go ${CMAKE_COMMAND} -E env GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go GO111MODULE=off CGO_ENABLED=0 GOFLAGS= ${GO} build)
  e2e_foreign(go_calls go_calls.go ${go} -o @OUT@ @IN@)
  e2e_foreign(containers_go containers.go ${go} -o @OUT@ @IN@)
  e2e_foreign(go_pie go_calls.go ${go} -buildmode=pie -o @OUT@ @IN@)
  e2e_foreign(go_stripped go_calls.go ${go} "-ldflags=-s -w" -o @OUT@ @IN@)
  e2e_foreign(go_http go_http.go ${go} -o @OUT@ @IN@)
endif()
