# libdlsched: `make help` says what there is to make. One file for the whole tree; what is made lies under build/.
#
# Sources are found by wildcard, so that a new file needs no line here. A changed flag or a changed list of sources
# makes again what depends on it. `make` itself never uses the network; `make deps`, and the test environment and the
# model that `check` and `quickstart` fetch once, do.

BUILD  ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
CFLAGS ?= -O2 -g
PYTHON ?= /usr/bin/python3
RPATH  ?= $$ORIGIN:$$ORIGIN/$(shell realpath -m --relative-to=$(PREFIX)/bin $(LIBDIR))# of the programs: built, installed

version  = $(shell sed -n 's/^\#define DLS_VERSION_$1 //p' include/dlsched/version.h)
VERSION  := $(call version,MAJOR).$(call version,MINOR).$(call version,PATCH)
SONAME   := libdlsched.so.$(call version,MAJOR).$(call version,MINOR)
PACKAGES := libzmq libcjson lua5.4 hwloc libprotobuf-c libsodium spng libjpeg raft
DNNL     := $(abspath $(ONEDNN))# empty: the system's
ONNX     := $(firstword $(wildcard /usr/include/onnx/onnx.proto /usr/local/include/onnx/onnx.proto))

# What follows from the tree.
ISA_C     := $(wildcard lib/kernel/*_isa.c)# once per variant: an instruction set and the lanes of its vectors
VARIANTS  := generic8 generic16 $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),avx2 avx512)
ISA_O     := $(foreach variant,$(VARIANTS),$(ISA_C:%.c=$(BUILD)/%.$(variant).o))
LIB_O     := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(ISA_C),$(wildcard lib/*/*.c))) $(ISA_O) \
             $(BUILD)/gen/onnx/onnx.pb-c.o
PROGRAMS  := $(patsubst cli/%.c,$(BUILD)/%,$(wildcard cli/dls-*.c))
CLI_O     := $(patsubst %.c,$(BUILD)/%.o,$(filter-out cli/dls-%,$(wildcard cli/*.c)))
EXAMPLES  := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
PLUGINS   := $(patsubst %.c,$(BUILD)/%.so,$(wildcard examples/policies/*.c))
BENCHES   := $(patsubst %.c,$(BUILD)/%,$(filter-out %_tool.c,$(wildcard bench/*.c)))
FUZZERS   := $(patsubst %.c,$(BUILD)/%,$(wildcard test/fuzz/*.c))
TOOLS     := $(patsubst %.c,$(BUILD)/%,$(wildcard test/*/*_tool.c bench/*_tool.c))
TOOLS     := $(if $(shell pkg-config --exists gearmand 2>/dev/null || echo none),$(filter-out %_gearman_tool,$(TOOLS)),$(TOOLS))
UNIT      := $(patsubst %.c,$(BUILD)/%,$(wildcard test/unit/test_*.c))
UNIT_O    := $(patsubst %.c,$(BUILD)/%.o,$(filter-out test/unit/test_%,$(wildcard test/unit/*.c)))
SIM_O     := $(patsubst %.c,$(BUILD)/%.o,$(wildcard test/sim/*.c))
SIM       := $(if $(SIM_O),$(BUILD)/test/sim/sim)
PYTESTS   := $(sort $(dir $(wildcard test/*/test_*.py)))
TEST_O    := $(UNIT_O) $(SIM_O) $(addsuffix .o,$(UNIT) $(BENCHES) $(FUZZERS) $(TOOLS))
LIBRARIES := $(BUILD)/libdlsched.a $(BUILD)/libdlsched.so

# Flags that the code needs, beside the user's CPPFLAGS, CFLAGS and LDFLAGS. cli/ and examples/ see include/ only.
WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings -Wundef
PUBLIC   := -std=c11 -D_GNU_SOURCE -Iinclude -I. -pthread $(WARNINGS) $(SANITIZER)
INTERNAL  = $(PUBLIC) -Ilib -I$(BUILD)/gen -fPIC -fvisibility=hidden $(DNNL:%=-isystem %/include) $(PACKAGE_CFLAGS)
# What a kernel is compiled for. Products and sums may become one instruction, and nobody asks for errno. Vectors wider
# than the processor's are passed among inlined functions only, so that no ABI is concerned.
VARIANT_generic8  := -DDLSI_LANES=8
VARIANT_generic16 := -DDLSI_LANES=16
VARIANT_avx2      := -DDLSI_LANES=8 -mavx2 -mfma
VARIANT_avx512    := -DDLSI_LANES=16 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
KERNEL            := -ffp-contract=fast -fno-math-errno -Wno-psabi
# Threads of kernels are libgomp's, which oneDNN has loaded already. clang knows another library only: no threads then.
OPENMP            := $(if $(shell $(CC) -dM -E -xc /dev/null 2>/dev/null | grep __clang__),,-fopenmp)
LINK      = $(CC) -pthread $(SANITIZER) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed
LIBS      = $(PACKAGE_LIBS) $(DNNL:%=-L%/lib) $(DNNL:%=-Wl,-rpath,%/lib) -ldnnl $(OPENMP:-fopenmp=-lgomp) -lm

# The third-party libraries are asked for when the first recipe needs them, so that `make deps` works without any.
package        = $(if $(shell $(PROBE) && echo found),$(shell pkg-config $1 $(PACKAGES)),$(error $(MISSING)))
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $$(call package,--cflags))$(PACKAGE_CFLAGS)
PACKAGE_LIBS   = $(eval PACKAGE_LIBS := $$(call package,--libs))$(PACKAGE_LIBS)
PROBE          = pkg-config --exists --print-errors $(PACKAGES) && command -v protoc-c && test -e "$(ONNX)" && \
                 echo '\#include <dnnl.h>' | $(CC) $(DNNL:%=-I%/include) $(CPPFLAGS) -fsyntax-only -xc -
MISSING        = a library or tool that the build needs is missing: `make deps` installs the Debian packages that \
                 packages.txt lists; elsewhere install what it names and make again

ifeq ($(V),1)
say := @:
else
.SILENT:
say = @printf '  %-8s %s\n'
endif

# As many jobs as processors, unless -j says how many: the command line wins.
MAKEFLAGS += --no-print-directory $(if $(filter 0,$(MAKELEVEL)),-j$(shell nproc))
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all check tests asan ubsan tsan lint exports fuzz bench clean distclean install help deps quickstart \
	quickstart-batch run-fuzzers conform run-conform bench-infer bench-dispatch bench-scale bench-sim FORCE

all: $(LIBRARIES) $(PROGRAMS)

help:
	@echo 'make                     the libraries and programs, under build/'
	@echo 'make quickstart          classify photos over a master and two workers on this machine'
	@echo 'make quickstart-batch    classify 10,000 labelled pictures and count the right answers'
	@echo 'make check [T=NAME]      all tests, or those named: a unit (ranges), sim, lint, a folder (cli), a path'
	@echo 'make asan|ubsan|tsan     the tests under a sanitizer'
	@echo 'make lint                the rules of the tree; make exports rewrites the list of exported functions'
	@echo 'make conform [DIR=FOLDER]  the tests that ONNX has of its operators, and what is refused of them'
	@echo 'make fuzz [SECONDS=20]   each fuzz target for some seconds (clang)'
	@echo 'make bench               the benchmarks'
	@echo 'make bench-infer         the engine beside ONNX Runtime and OpenVINO [MODELS="alexnet vgg19"] [BATCHES="1 32"]'
	@echo 'make bench-dispatch      tasks a second beside libzmq, Gearman, Ray and Dask [ONLY="payload latency"]'
	@echo 'make bench-scale         1 to 100 workers on this machine whose devices are emulated [MODELS=alexnet]'
	@echo 'make bench-sim           10 to 10,000 simulated workers beside what is possible [FIGURES="sim.alexnet sim.resnet50.n100."]'
	@echo 'make deps                install the Debian packages of packages.txt (as root or by sudo)'
	@echo 'make install             into PREFIX ($(PREFIX)) under DESTDIR; make uninstall removes the same files'
	@echo 'make clean | distclean   remove what was made; distclean also what was fetched'
	@echo 'Variables: CC CPPFLAGS CFLAGS LDFLAGS BUILD PREFIX LIBDIR DESTDIR PYTHON V=1 DEPS=0 (never install anything)'
	@echo '           ONEDNN=FOLDER: another oneDNN than the system'"'s, 2.6 or newer, with include/ and lib/ below FOLDER"

# ---- the libraries and programs

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(say) CC $<
	mkdir -p $(@D)
	$(CC) $(INTERNAL) $(CPPFLAGS) $(CFLAGS) $(WERROR) -MMD -MP -c $< -o $@

$(BUILD)/cli/%.o $(BUILD)/examples/%.o: private INTERNAL = $(PUBLIC)

$(BUILD)/lib/kernel/parallel.o: private INTERNAL += $(OPENMP)

define variant_rule
$(BUILD)/%.$1.o: %.c $(BUILD)/flags
	$$(say) CC '$$< ($1)'
	mkdir -p $$(@D)
	$$(CC) $$(INTERNAL) $$(CPPFLAGS) $$(CFLAGS) $$(WERROR) $(KERNEL) -DDLSI_VARIANT=$1 $(VARIANT_$1) -MMD -MP -c $$< -o $$@
endef
$(foreach variant,$(VARIANTS),$(eval $(call variant_rule,$(variant))))

$(LIB_O) $(TEST_O): | $(BUILD)/gen/onnx/onnx.pb-c.c

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	$(say) CC $<
	$(CC) $(INTERNAL) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/gen/onnx/onnx.pb-c.c: $(ONNX) $(BUILD)/flags
	$(say) PROTOC $(ONNX)
	mkdir -p $(@D)
	protoc-c -I$(patsubst %/onnx/onnx.proto,%,$(ONNX)) --c_out=$(BUILD)/gen onnx/onnx.proto

$(BUILD)/libdlsched.a: $(LIB_O) $(BUILD)/sources
	$(say) AR $@
	rm -f $@
	$(AR) rcs $@ $(LIB_O)

$(BUILD)/libdlsched.so: $(LIB_O) $(BUILD)/sources lib/libdlsched.map
	$(say) LINK $@
	$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=lib/libdlsched.map $(if $(SANITIZER),,-Wl,-z,defs) \
		-o $@.$(VERSION) $(LIB_O) $(LIBS)
	ln -sf libdlsched.so.$(VERSION) $(BUILD)/$(SONAME)
	ln -sf $(SONAME) $@

$(PROGRAMS): $(BUILD)/%: $(BUILD)/cli/%.o $(CLI_O) $(BUILD)/libdlsched.so $(BUILD)/rpath
	$(say) LINK $@
	$(LINK) -Wl,-rpath,'$(RPATH)' -o $@ $(filter %.o,$^) -L$(BUILD) -ldlsched -lcjson

$(EXAMPLES): %: %.o $(BUILD)/libdlsched.so
	$(say) LINK $@
	$(LINK) -Wl,-rpath,'$$ORIGIN/..' -o $@ $< -L$(BUILD) -ldlsched

$(PLUGINS): $(BUILD)/%.so: %.c include/dlsched/policy.h $(BUILD)/flags
	$(say) LINK $@
	mkdir -p $(@D)
	$(CC) $(PUBLIC) -fPIC $(CPPFLAGS) $(CFLAGS) $(WERROR) $(LDFLAGS) -shared -o $@ $<

# A file that changes only when its content does: the flags, what goes into the library, where programs look for it.
stamp = mkdir -p $(@D); echo '$1' | cmp -s - $@ || echo '$1' >$@

$(BUILD)/flags: FORCE
	$(call stamp,$(CC) $(INTERNAL) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OPENMP) $(KERNEL) $(foreach v,$(VARIANTS),$(VARIANT_$v)))
$(BUILD)/sources: FORCE
	$(call stamp,$(LIB_O))
$(BUILD)/rpath: FORCE
	$(call stamp,$(RPATH))

# ---- tests

WITH_CMOCKA := $(shell pkg-config --exists cmocka 2>/dev/null && echo yes)
VENV        := build/venv
VENV_STAMP  := $(VENV)/made

$(BUILD)/test/unit/libunit.a: $(UNIT_O)
	$(AR) rcs $@ $^

$(UNIT): %: %.o $(BUILD)/test/unit/libunit.a $(BUILD)/libdlsched.a
	$(say) LINK $@
	$(LINK) -o $@ $^ -lcmocka $(LIBS)

$(SIM): $(SIM_O) $(BUILD)/libdlsched.a
	$(say) LINK $@
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/bench/sim: $(BUILD)/bench/sim.o $(filter-out $(BUILD)/test/sim/sim.o,$(SIM_O)) $(BUILD)/libdlsched.a
	$(say) LINK $@
	$(LINK) -o $@ $^ $(LIBS)

$(filter-out $(BUILD)/bench/sim,$(BENCHES)) $(TOOLS): %: %.o $(BUILD)/libdlsched.a
	$(say) LINK $@
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/bench/dispatch_gearman_tool: LIBS += -lgearman

$(VENV_STAMP): test/requirements.txt
	@echo 'Making the Python environment of the tests in $(VENV), from PyPI; once.'
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --no-deps -r test/requirements.txt
	touch $@

# The words that test/run.sh gets: what to run, and what to leave out and why.
# T names tests by name or path: ranges, unit, cli, test/cli/, test/cli/test_jobs.py.
folder      = $(filter $1 test/$1 test/$1/,$(or $(T),$1))
unit_test   = $(filter $(BUILD)/test/unit/test_$1 $(patsubst %.c,$(BUILD)/%,$1),$(UNIT))
pytest      = $(or $(filter test/$1/ $(1:/=)/,$(PYTESTS)),$(wildcard test/*/test_$1.py) $(wildcard $(filter test/%.py,$1)))
RUN_UNIT   := $(if $(call folder,unit),$(UNIT),$(foreach t,$(T),$(call unit_test,$t)))
RUN_SIM    := $(if $(call folder,sim),$(SIM))
RUN_LINT   := $(if $(SANITIZER),,$(if $(call folder,lint),lint))
RUN_PYTEST := $(if $(T),$(foreach t,$(T),$(call pytest,$t)),$(PYTESTS))
RUN_PYTEST := $(if $(SANITIZER),$(filter-out test/lint/% test/install/% test/models/% test/bindings/%,$(RUN_PYTEST)),$(RUN_PYTEST))
RUN        := $(strip $(RUN_UNIT) $(RUN_SIM) $(RUN_LINT) $(RUN_PYTEST))

tests: all $(EXAMPLES) $(PLUGINS) $(if $(RUN_PYTEST),$(TOOLS)) $(if $(WITH_CMOCKA),$(RUN_UNIT)) $(RUN_SIM) \
		$(if $(RUN_PYTEST),$(if $(filter 0,$(DEPS)),,$(VENV_STAMP)))
	$(if $(RUN),,$(error no test is called $(T)))
	BUILD=$(abspath $(BUILD)) PYTEST=$(wildcard $(VENV)/bin/pytest) test/run.sh $(RUN)

# A second make, because what `deps` installs decides what the first one would have found.
check asan ubsan tsan fuzz conform quickstart quickstart-batch: $(if $(filter 0,$(DEPS)),,deps)

check:
	+$(MAKE) tests WERROR=-Werror
asan:
	+$(MAKE) tests BUILD=build/asan SANITIZER='-fsanitize=address -fno-omit-frame-pointer'
ubsan:
	+$(MAKE) tests BUILD=build/ubsan SANITIZER='-fsanitize=undefined -fno-sanitize-recover=all'
tsan:
	+TSAN_OPTIONS='suppressions=$(CURDIR)/test/tsan.supp' $(MAKE) tests BUILD=build/tsan SANITIZER=-fsanitize=thread

lint:
	test/lint/run.sh

exports:
	$(PYTHON) test/lint/rule_exports.py --write

fuzz:
	+$(MAKE) run-fuzzers BUILD=build/fuzz CC=clang SANITIZER='-fsanitize=fuzzer-no-link,address,undefined'

run-fuzzers: $(FUZZERS)
	test/fuzz/run.sh $(or $(SECONDS),20) $(FUZZERS)

# SHRINK=1 takes what passes now out of test/graph/refused.txt.
conform:
	+$(MAKE) run-conform

CASES := build/cache/conform/$(shell sed -n 's/^onnx==//p' test/requirements.txt)

run-conform: $(BUILD)/test/graph/model_tool $(VENV_STAMP)
	$(if $(DIR),,$(VENV)/bin/python test/graph/make_cases.py $(CASES))
	BUILD=$(abspath $(BUILD)) $(VENV)/bin/python test/graph/conform.py $(if $(SHRINK),--shrink) \
		$(or $(DIR),/usr/share/libonnx-testdata/data $(CASES))

$(FUZZERS): %: %.o $(BUILD)/libdlsched.a
	$(say) LINK $@
	$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS)

bench: all $(BENCHES) $(TOOLS) $(VENV_STAMP)
	set -e; for bench in $(filter-out %/sim,$(BENCHES)); do $$bench; done
	set -e; for bench in image_prepare soak; do BUILD=$(abspath $(BUILD)) $(VENV)/bin/python bench/$$bench.py; done

# The peers' packages are many, and each kind of benchmark has an environment of its own.
INFER_VENV    := build/bench-venv
DISPATCH_VENV := build/dispatch-venv

$(INFER_VENV)/made: bench/infer_requirements.txt
$(DISPATCH_VENV)/made: bench/dispatch_requirements.txt
$(INFER_VENV)/made $(DISPATCH_VENV)/made:
	@echo 'Making the Python environment of a benchmark in $(@D), from PyPI; once.'
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --no-deps -r $<
	touch $@

bench-infer: $(BUILD)/test/graph/model_tool $(INFER_VENV)/made
	BUILD=$(abspath $(BUILD)) $(INFER_VENV)/bin/python bench/infer.py

bench-dispatch: $(TOOLS) $(DISPATCH_VENV)/made
	BUILD=$(abspath $(BUILD)) $(DISPATCH_VENV)/bin/python bench/dispatch.py

bench-scale: $(BUILD)/bench/dispatch_tool
	BUILD=$(abspath $(BUILD)) $(PYTHON) bench/scale.py

bench-sim: $(BUILD)/bench/sim
	$< $(FIGURES)

# ---- around it

deps:
	scripts/deps.sh

quickstart quickstart-batch:
	+$(MAKE) all
	scripts/$@.sh

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/dlsched $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 include/dlsched/*.h $(DESTDIR)$(PREFIX)/include/dlsched
	install -m 644 $(BUILD)/libdlsched.a $(BUILD)/libdlsched.so.$(VERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libdlsched.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libdlsched.so
	$(if $(PROGRAMS),install $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|' \
		pkgconfig/dlsched.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/dlsched.pc

.PHONY: uninstall
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(wildcard include/dlsched/*.h) $(PROGRAMS:$(BUILD)/%=bin/%)) \
		$(addprefix $(DESTDIR)$(LIBDIR)/,libdlsched.a libdlsched.so $(SONAME) libdlsched.so.$(VERSION) pkgconfig/dlsched.pc)
	if test -d $(DESTDIR)$(PREFIX)/include/dlsched; then \
		rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/include/dlsched; fi

clean: # what took the network stays
	if test -d build; then find build -mindepth 1 -maxdepth 1 ! -name venv ! -name bench-venv ! -name dispatch-venv ! -name cache ! -name downloads -exec rm -rf {} +; fi

distclean:
	rm -rf build

-include $(patsubst %.o,%.d,$(LIB_O) $(TEST_O) $(CLI_O) $(PROGRAMS:$(BUILD)/%=$(BUILD)/cli/%.o) $(EXAMPLES:=.o))
