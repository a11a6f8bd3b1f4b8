# RiftChime's chores. `make` or `make help` lists them.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.7.0
GOLANGCI    ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
LDFLAGS      = -s -w -X main.version=$(VERSION)

.DEFAULT_GOAL := help

.PHONY: help
help: ## List these chores
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Show RiftChime at work: three short hours, no account or key needed
	$(GO) run ./cmd/riftchime demo --hours 3

.PHONY: test
test: ## Run every test with the race detector, both databases included
	.ci/postgres run -- $(GO) test -race -timeout 20m ./...

.PHONY: build
build: ## Build the program into ./riftchime
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o riftchime ./cmd/riftchime

.PHONY: check
check: ## gofmt, vet and staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

.PHONY: lint
lint: ## The stricter linters (golangci-lint; takes minutes to build)
	$(GO) run $(GOLANGCI) run

.PHONY: day
day: ## A virtual day of 260 channels and 1,200 players, with its calls an hour
	$(GO) test -count=1 -v -run '^TestDay$$' ./bot/hour

.PHONY: bench
bench: ## The limiter beside others on one workload, then the benchmarks
	$(GO) test -count=1 -v -run '^TestWorkload' ./riot
	$(GO) test -run '^$$' -bench . -benchmem ./ratelimit ./riot ./bot/report ./bot/render

.PHONY: crash
crash: ## Kill the program at random moments of the delivery, 50 times; count doubles and losses
	RIFTCHIME_CRASH_ROUNDS=50 .ci/postgres run -- $(GO) test -count=1 -v -timeout 15m -run '^TestCrash$$' ./cmd/riftchime

.PHONY: memory
memory: ## Resident memory with 2,600 channels and 10,000 players (takes minutes)
	$(GO) test -tags memory -count=1 -v -timeout 20m -run '^TestMemory$$' ./cmd/riftchime

.PHONY: clean
clean: ## Remove what was built
	rm -f riftchime
