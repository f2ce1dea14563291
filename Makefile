# Stand-in until the real one lands in the next commit: libraries and unit tests only.
PACKAGES := libzmq libczmq libcjson hwloc dnnl libprotobuf-c libsodium spng libjpeg openblas
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Ilib -I.
CFLAGS ?= -O2 -g
CFLAGS += -std=c11 -Wall -Wextra -fvisibility=hidden -fPIC -MMD -MP
LIB_O := $(patsubst %.c,build/%.o,$(wildcard lib/*/*.c))
TESTS := $(patsubst test/unit/%.c,build/test/unit/%,$(filter-out test/unit/unit.c,$(wildcard test/unit/test_*.c)))
LIBS := -lzmq -lczmq -lcjson -lhwloc -ldnnl -lprotobuf-c -lsodium -lspng -ljpeg -lopenblas -lm -lpthread
all: build/libdlsched.a
build/libdlsched.a: $(LIB_O)
	rm -f $@; ar rcs $@ $^
build/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
build/test/unit/%: build/test/unit/%.o build/test/unit/unit.o build/libdlsched.a
	$(CC) -o $@ $^ -lcmocka $(LIBS)
check: $(TESTS)
	set -e; for t in $(TESTS); do $$t; done
.SECONDARY:
-include $(shell find build -name '*.d' 2>/dev/null)
