# SPDX-License-Identifier: MIT
# A short front for CMake + Ninja. `make test` and `make demo` do all set-up on a fresh Debian 12 machine.
BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: all build demo test cycles torture soak suites suites-bt suites-systemtap values stacks bench fuzz tidy tsan asan plots coverage coverage-unit install deb format lint clean deps-build deps-test deps-bench deps-soak deps-suites deps-deb

all: build

deps-build deps-test deps-bench deps-soak deps-suites deps-deb:
	@scripts/install-deps.sh $(if $(filter deps-build,$@),build,build $(@:deps-%=%))

build: deps-build
	@cmake -S . -B $(BUILD) -G Ninja -DBLIP_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip blip_share

demo: build
	@scripts/demo.sh $(BUILD)

test: deps-test
	@cmake -S . -B $(BUILD) -G Ninja -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@(cd $(BUILD) && ctest --output-on-failure -j $(JOBS) --timeout 300); code=$$?; tests/skipped.py $(BUILD); exit $$code

# Attach and detach CYCLES times under load; `make test` has a short cut of it.
cycles: deps-test
	@cmake -S . -B $(BUILD) -G Ninja -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip e2e_targets
	@tests/torture/sessions.py --blip $(BUILD)/blip --targets $(BUILD)/targets --cycles $(or $(CYCLES),1000)

# The long random tests, TORTURE_S seconds in all; SEED=N repeats a run. At last whether the test of reads that cannot fault would fail if
# one of their steps were left out.
TORTURE_S ?= 600
torture: deps-test
	@cmake -S . -B $(BUILD) -G Ninja -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip cycler e2e_targets ring_test
	@tests/torture.py --build $(BUILD) --seconds $(TORTURE_S) $(if $(SEED),--seed $(SEED))
	@$(BUILD)/ring_test --gtest_also_run_disabled_tests --gtest_filter='SafeReads.*' --gtest_brief=1

# Backtraces against gdb, hit by hit; `make test` has a short cut of it.
stacks: deps-test
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip
	@tests/stacks.py --blip $(BUILD)/blip

# Values of variables against gdb: samples by both compilers at all levels, Rust, then python3.11 and libc at random (SEED=);
# what functions return; then arguments and results against what programs at random say themselves (ROUNDS=).
values: deps-test deps-suites
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target values_at blip
	@tests/values.py --tool $(BUILD)/values_at
	@tests/finish.py --blip $(BUILD)/blip --rounds 3 $(if $(SEED),--seed $(SEED))
	@tests/passed.py --blip $(BUILD)/blip --rounds $(or $(ROUNDS),200) $(if $(SEED),--seed $(SEED))
	@for test in nested globals dead_frames; do tests/$$test.py --blip $(BUILD)/blip --rounds $(or $(ROUNDS),60) $(if $(SEED),--seed $(SEED)) || exit 1; done
	@tests/values.py --tool $(BUILD)/values_at --real $(if $(SEED),--seed $(SEED)) $(if $(PROGRAM),--program "$(PROGRAM)")
	@tests/collected.py --blip $(BUILD)/blip --rounds $(or $(ROUNDS),60) $(if $(SEED),--seed $(SEED))

# Real servers under load while probes come and go, SOAK_S seconds; SEED=N repeats a run.
SOAK_S ?= 300
soak: deps-test deps-soak
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip
	@tests/soak.py --build $(BUILD) --seconds $(SOAK_S) $(if $(SEED),--seed $(SEED))

# The own test suites of CPython and SQLite, and programs of node, Java, Go and Rust, untraced and probed: the same results.
suites: deps-suites
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip
	@tests/suites.py --build $(BUILD) $(SUITES)

# bpftrace's own tests of user space, from a checkout of it: make suites-bt SUITES=DIR. tests/suites/bpftrace.py says which count.
suites-bt: deps-test
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip bt_parse
	@tests/suites/bpftrace.py $(SUITES) --blip $(BUILD)/blip --parser --kept $(BUILD)/bpftrace_parser.txt
	@tests/suites/bpftrace.py $(SUITES) --blip $(BUILD)/blip --kept $(BUILD)/bpftrace_runtime.txt

# SystemTap's own scripts, from a checkout that SYSTEMTAP names (commit 2e5a105); nothing of them is in this repository.
suites-systemtap: deps-build
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip
	@tests/suites/systemtap.py --build $(BUILD) $(SYSTEMTAP)

# BENCH_QUICK=1 is the short cut; BENCH="--only TEXT..." selects (bench/run.py --list names what there is). A blip with all debugging
# information is what blip is started on where there should be much of it.
bench: deps-bench
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip blip_coverage bench_programs
	@cmake -S . -B $(BUILD)-debug -G Ninja -DBLIP_DEBUG=-g -DBLIP_TESTS=OFF >/dev/null
	@cmake --build $(BUILD)-debug -j $(JOBS) --target blip
	@bench/run.py --build $(BUILD) $(if $(BENCH_QUICK),--quick) $(BENCH)

# The ladder table over installed binaries: which share of their instructions each step reaches.
coverage: deps-bench
	@cmake -S . -B $(BUILD) -G Ninja >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target blip_coverage
	@$(BUILD)/blip_coverage -v $$(bench/coverage_files.py)

# Branches of the rooms plan, drain and collect that unit tests alone cover; UNIT_ROOMS="session/drain --missed" selects, and lists lines.
coverage-unit: deps-test
	@cmake -S . -B $(BUILD) -G Ninja -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target session_test collect_test
	@tools/unit_coverage.py --build $(BUILD) --jobs $(JOBS) $(UNIT_ROOMS)

# Every fuzzer (src/*/NAME_fuzz.cc, built by clang with asan and ubsan) for FUZZ_S seconds; SEED=N repeats a run.
FUZZ_S ?= 30
fuzz: deps-test
	@cmake -S . -B $(BUILD)-clang -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
	  -DBLIP_SANITIZE=ON -DBLIP_FUZZ=ON -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD)-clang -j $(JOBS) --target fuzzers
	@scripts/fuzz.sh $(BUILD)-clang $(FUZZ_S) $(SEED)

# clang-tidy with the checks of .clang-tidy, over all of src or over TIDY="src/ring ...".
tidy: deps-test
	@cmake -S . -B $(BUILD)-tidy -G Ninja -DBLIP_PRECOMPILE=OFF >/dev/null
	@scripts/tidy.sh $(BUILD)-tidy $(JOBS) $(TIDY)

# Units with threads of their own, under the thread sanitizer: rings, parallel work, progress, the watch of the loader. Not the target that
# scribbles over what blip reads: that race is the test. Nor threads that end in a failed CHECK: the sanitizer waits for ever for one that
# ends without its knowledge.
TSAN_TESTS = base_test ring_test threads_test
tsan: deps-test
	@cmake -S . -B $(BUILD)-tsan -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-g1 -O1" -DCMAKE_C_COMPILER=clang-14 \
	  -DCMAKE_CXX_COMPILER=clang++-14 -DBLIP_SANITIZE=thread -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD)-tsan -j $(JOBS) --target $(TSAN_TESTS)
	@for test in $(TSAN_TESTS); do timeout -v 600 $(BUILD)-tsan/$$test --gtest_brief=1 --gtest_filter=-Hostile.*:CheckDeathTest.* || exit 1; done

# The tests of what needs processes under asan and ubsan, and cases end to end; the tests of the pure layers run so in .ci/run.
ASAN_TESTS = proc_test cli_test probe_test session_test
asan: deps-test
	@cmake -S . -B $(BUILD) -G Ninja -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target e2e_targets
	@cmake -S . -B $(BUILD)-clang -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-g1 -O1" -DCMAKE_C_COMPILER=clang-14 \
	  -DCMAKE_CXX_COMPILER=clang++-14 -DBLIP_SANITIZE=ON -DBLIP_FUZZ=ON -DBLIP_TESTS=ON >/dev/null
	@cmake --build $(BUILD)-clang -j $(JOBS) --target blip $(ASAN_TESTS)
	@scripts/asan.sh $(BUILD)-clang $(BUILD)/targets $(ASAN_TESTS)

# docs/plots/*.svg from the newest bench/results/*.json, or from PLOTS=FILE.
plots:
	@bench/plots.py $(PLOTS)

# The program, its manual page, completion for bash, zsh and fish. DESTDIR=... for packagers.
install: build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) --component Unspecified

deb: deps-deb build
	@packaging/deb.sh $(BUILD)

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format-14 -i

lint: deps-test
	@tools/check_layers.py
	@git ls-files '*.cc' '*.h' | xargs clang-format-14 --dry-run -Werror

clean:
	rm -rf $(BUILD)
