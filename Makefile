# The checks of this project. `make test` is all of them; CI runs the same.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Runs the tests as go test does, and those that failed, if few, once more: live tests meet a machine's moods, and emulated
# ones most of all. What fails twice fails; what failed once is listed at the end, with its output, and is a bug to be mended.
GOTESTSUM = gotest.tools/gotestsum@v1.13.0
TEST = $(GO) run $(GOTESTSUM) --format standard-quiet --hide-summary skipped --rerun-fails=1 --rerun-fails-max-failures=5 --rerun-fails-run-root-test
export CGO_ENABLED ?= 0
RACE = ./compile/... ./runtime/... ./script/... ./engine/module/... ./engine/place/... ./engine/debuginfo/...
FUZZTIME ?= 5s

.PHONY: all build test deps lint unit race fuzz cross bench clean
all: build

build:
	$(GO) build -trimpath -ldflags="-s -w" -o gotap ./cmd/gotap

test: deps lint unit race fuzz cross

deps:
	@.ci/deps

lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# One package at a time: the live tests of the engine want the machine for themselves.
unit:
	$(TEST) --packages=./... -- -p 1 -timeout 60m

# The race detector needs cgo, and cannot follow a ptrace loop that runs other programs; it takes the packages with goroutines.
race:
	CGO_ENABLED=1 $(TEST) --rerun-fails-abort-on-data-race --packages="$(RACE)" -- -race -short -timeout 60m

# Each fuzz target for a moment; what one finds is kept beside it in testdata.
fuzz:
	@.ci/fuzz $(FUZZTIME)

# The same program for the architectures that it can trace.
cross:
	@for a in arm64 arm; do echo "cross $$a"; \
		GOARCH=$$a $(GO) vet ./... && GOARCH=$$a $(GO) build -o /dev/null ./cmd/gotap || exit 1; \
	done

bench: build
	./gotap bench

clean:
	rm -rf gotap build
