# The checks of this project. `make test` is all of them; CI runs the same.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Runs the tests as go test does, and those that failed, if few, once more: live tests meet a machine's moods, and emulated
# ones most of all. What fails twice fails; what failed once is listed at the end, with its output, and is a bug to be mended.
GOTESTSUM = gotest.tools/gotestsum@v1.13.0
TEST = $(GO) run $(GOTESTSUM) --format standard-quiet --hide-summary skipped --rerun-fails=1 --rerun-fails-max-failures=5 --rerun-fails-run-root-test
export CGO_ENABLED ?= 0
# As what is released, so that nothing is compiled twice.
export GOFLAGS ?= -trimpath

FUZZTIME ?= 500ms
# Packages whose tests trace live processes, boot machines or link the program.
LIVE = gotap/cmd/gotap/static gotap/engine gotap/engine/armtest gotap/engine/remote gotap/cmd/gotap

.PHONY: all build dist test checks quick long deps lint unit race fuzz cross packages bench clean
all: build

build:
	$(GO) build -trimpath -ldflags="-s -w" -o gotap ./cmd/gotap

# What is released: binaries and packages for all architectures, in build/dist.
dist:
	rm -rf build/dist
	.ci/dist build/dist amd64 arm64 arm

# The unit tests wait for processes much of the time. Beside them the other checks run, one after the other: first those
# that compile everything anew in their own way, then those that can use what was compiled for the unit tests.
test: deps
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target checks

checks: unit race cross lint packages

# For the inner loop: no emulated machines, no soak, few live processes. What go vet has seen, go test need not vet again. Most
# test binaries have one CPU: others are tested on the other one, and goroutines that wake each other across CPUs cost time.
# With all CPUs, tests of what runs at the same time are in `unit` and `race`.
quick:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) test -short -vet=off -cpu 1 -ldflags=-w $$($(GO) list ./... | grep -vxF "$$(printf '%s\n' $(LIVE))")
	$(GO) test -short -vet=off -ldflags=-w -run '^Test(CountsAreExact|Returns|Filters|DetachUnderLoad|CleanLeavesData)$$' ./engine

# All seeds and rounds, and each fuzz target for a minute: hours.
long: deps
	GOTAP_LONG=1 $(TEST) --packages=./... -- -p 1 -timeout 12h
	@.ci/fuzz 1m guided
	.ci/packages cold

deps:
	@.ci/deps

lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# The packages that take longest begin first, the emulated machines before all. That live tests wait much leaves time for
# a third package. Lint vets them all. Linking takes a third less time without debug information.
unit:
	$(TEST) --packages="./engine/armtest ./engine ./cmd/gotap ./engine/remote ./arch/arm ./..." -- -p 3 -vet=off -ldflags=-w -timeout 45m

# The race detector needs cgo and cannot follow a ptrace loop that runs other programs. Nobody debugs these test binaries, and
# without debug information the compiler has less to do.
RACE = CGO_ENABLED=1 $(TEST) --rerun-fails-abort-on-data-race
race:
	$(RACE) --packages="$$(.ci/concurrent packages)" -- -race -gcflags=all=-dwarf=false -short -vet=off -timeout 45m
	$(RACE) --packages="$$(.ci/concurrent folders)" -- -race -gcflags=all=-dwarf=false -short -vet=off -run "$$(.ci/concurrent tests)" -timeout 45m

# Each fuzz target for a moment, on inputs changed at random; an input that fails is kept beside it in testdata. The unit tests
# run all inputs that are kept, so that a change is judged by the same inputs each time.
fuzz:
	@.ci/fuzz $(FUZZTIME)

# The same program for the architectures that it can trace.
cross:
	@for a in arm64 arm; do echo "cross $$a"; \
		GOARCH=$$a $(GO) vet ./... && GOARCH=$$a $(GO) build -o /dev/null ./cmd/gotap || exit 1; \
	done

# Builds the packages twice, compares them, and installs and uses one.
packages:
	.ci/packages

bench: build
	./gotap bench

clean:
	rm -rf gotap build
