## bridgecheck: does this sandbox let an agent reach its MCP servers and nothing else?
##
##   make verify        the verdict on the reference bridge
##   make test          the tests of this repository
##

SUBJECT  ?= ref-native
RESULTS  ?= results
FUZZTIME ?= 10s
SOAK     ?= 10m

go_folders := ref suites fakes containers ci
programs   := ./ref/cmd/refbridge ./suites/cmd/bridgecheck ./fakes/cmd/probe ./fakes/cmd/fakemcp ./fakes/cmd/knob

# A value of 0 or nothing is off.
on = $(filter-out 0,$($1))

# A folder that git does not trust has no commit to stamp, and go would stop there.
buildvcs := $(shell git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false)

# The checks that let released programs work are run on request.
released = cd ci/conformance && CGO_ENABLED=0 go build -trimpath $(buildvcs) -o ../../build/conformance/ tool .
verify_released = build/bridgecheck verify --tools build --cell user --subject '$(SUBJECT)' --results '$(RESULTS)'

.DEFAULT_GOAL := help
.PHONY: help build doubles cdouble test lint verify case report list explain cases conformance gateways agents mutants gate matrix doctor soak fuzz bench clean

help: ## Show this help
	@awk -F ':.*## ' \
	  '/^##( |$$)/ { print substr($$0, 4) } \
	   /^[a-z]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the static binaries into build/
	CGO_ENABLED=0 go build -trimpath $(buildvcs) -o build/ $(programs)

test: ## Vet, check the format, run all tests; with the race detector where a C compiler is
	go vet ./...
	@unformatted=$$(gofmt -l $(go_folders)); \
	  if [ -n "$$unformatted" ]; then echo "gofmt -w these:"; echo "$$unformatted"; exit 1; fi
	@race=-race; \
	  if ! echo '#include <stdlib.h>' | $$(go env CC) -fsyntax-only -x c - 2>/dev/null; then \
	    race=; echo "no C compiler with headers here: the tests run WITHOUT the race detector"; fi; \
	  echo "go test $$race ./..."; go test $$race ./... && \
	  for module in ref/egress/oracles ref/arapuca ref/arapuca/double ci/conformance; do \
	    echo "go test $$race ./... in $$module"; (cd $$module && go vet ./... && go test $$race ./...) || exit 1; \
	  done

lint: ## Run golangci-lint with .golangci.yml
	@command -v golangci-lint >/dev/null || { echo "golangci-lint is missing; install it with: go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest"; exit 1; }
	golangci-lint run ./...

# Subjects on the doubles of arapuca: the bridge over go-arapuca, in both modes, and
# over the command line, each with the program that asks go-arapuca itself.
doubles := $(filter %-double,$(notdir $(wildcard ref/arapuca/cmd/*-double)))

doubles: ## Build the subjects on the doubles of arapuca into build/
	cd ref/arapuca && CGO_ENABLED=0 go build -trimpath $(buildvcs) -o ../../build/ $(doubles:%=./cmd/%)
	for subject in ref-arapuca-double ref-arapuca-hosts-double; do ln -f build/ara-double build/$$subject-ara; done

cdouble: ## Build the double of libarapuca into build/arapuca-double, to link a go-arapuca against
	$(MAKE) -C ref/arapuca/double/c install PREFIX='$(abspath build/arapuca-double)'

verify: build $(if $(filter %-double,$(SUBJECT)),doubles) ## Run the checks against SUBJECT and give the verdict
	build/bridgecheck verify --subject '$(SUBJECT)' --results '$(RESULTS)' $(if $(ID),--id '$(ID)') \
	  $(if $(AREA),--area '$(AREA)') $(if $(PROFILE),--profile '$(PROFILE)') $(if $(call on,STRICT),--strict)

case: build $(if $(filter %-double,$(SUBJECT)),doubles) ## Run one check, in labs of this machine: make case ID=ALW-002
	@[ -n '$(ID)' ] || { echo "which check? make case ID=ALW-002; make list shows them"; exit 2; }
	build/bridgecheck verify --engine none $(if $(TOOLS),--tools '$(TOOLS)') --subject '$(SUBJECT)' --results '$(RESULTS)' --id '$(ID)'

report: build ## Show the last verdict on SUBJECT again
	@build/bridgecheck report '$(RESULTS)/$(notdir $(SUBJECT))'

list: build ## List all checks
	@build/bridgecheck list

explain: build ## Explain one check: make explain ID=ALW-002
	@[ -n '$(ID)' ] || { echo "which check? make explain ID=ALW-002; make list shows them"; exit 2; }
	@build/bridgecheck explain '$(ID)'

cases: build ## Write suites/CASES.md and suites/cases.json anew
	build/bridgecheck list --write

conformance: build ## Run the official MCP conformance suite direct and through the bridge, and compare
	ci/conformance/install.sh conformance
	$(released)
	$(verify_released) --id MCP-015; code=$$?; \
	  cat '$(RESULTS)/$(notdir $(SUBJECT))'/cell-user/shard-*/tools/MCP-015/conformance.md; exit $$code

gateways: build ## Compare the bridge with other stdio-to-HTTP gateways, measured side by side
	ci/conformance/install.sh conformance
	ci/conformance/install.sh gateways
	$(released)
	build/conformance/conformance -results '$(abspath $(RESULTS))/conformance' gateways

agents: build ## Let real agents and real MCP servers work through the bridge (installs 1.5 GB from npm)
	for set in conformance gateways agents; do ci/conformance/install.sh $$set || exit 1; done
	$(released)
	$(verify_released) --id AGT-003,AGT-004,AGT-005

mutants: build ## Demand that each planted fault is caught by every check that names it
	build/bridgecheck mutants $(if $(ID),--id '$(ID)') $(if $(call on,FULL),--full)

gate: build ## Judge a change of go-arapuca: make gate GO_ARAPUCA=./go-arapuca (or a version, commit, branch, pr:12)
	CGO_ENABLED=0 go build -trimpath $(buildvcs) -o build/ ./ci/cmd/gate
	@build/gate -go-arapuca '$(GO_ARAPUCA)' -arapuca '$(ARAPUCA)' -base '$(BASE)' -arapuca-base '$(ARAPUCA_BASE)' -results '$(RESULTS)/gate' \
	  $(if $(filter-out ref-native,$(SUBJECT)),-subject '$(SUBJECT)') -- $(if $(ID),--id '$(ID)') $(if $(AREA),--area '$(AREA)') $(if $(PROFILE),--profile '$(PROFILE)')

matrix: ## List the version matrix, or run one row of it in a container: make matrix ROW=3
	@CGO_ENABLED=0 go run ./ci/cmd/matrix $(if $(ROW),-row '$(ROW)' -results '$(RESULTS)/matrix')

doctor: build ## Tell what this host can enforce, and what is missing
	@build/bridgecheck doctor

soak: build ## End phases in every way for SOAK, and demand that nothing is left
	build/bridgecheck soak --subject '$(SUBJECT)' --for '$(SOAK)'$(if $(SEED), --seed '$(SEED)')

fuzz: ## Run each fuzz target for FUZZTIME
	@set -e; for file in $$(grep -rl '^func Fuzz' --include='*_test.go' $(go_folders)); do \
	  for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
	    echo "== $$name in $${file%/*}"; \
	    go test -run '^$$' -fuzz "^$$name\$$" -fuzztime '$(FUZZTIME)' "./$${file%/*}"; \
	  done; done

bench: ## Run the benchmarks; RESULTS/scale.svg shows what many servers, phases and rounds take
	BENCH_PLOT='$(abspath $(RESULTS))/scale.svg' go test -run '^$$' -bench . -benchmem ./...
	cd ref/egress/oracles && go test -run '^$$' -bench . ./...

clean: ## Remove build/ and results/
	rm -rf build results

##
## Variables (make verify SUBJECT=./my-sandbox ID=ALW-002):
##   SUBJECT   a known name or an executable that speaks the contract (ref-native)
##   ID AREA PROFILE   choose checks, as ID=ALW-002, AREA=ALW, PROFILE=bridge
##   TOOLS=build   case: what make agents has installed, for a check that needs it
##   GO_ARAPUCA ARAPUCA   gate: the heads; BASE and ARAPUCA_BASE: what they began from
##   RESULTS   where verdicts and evidence go (results)
##   STRICT=1  anything this host cannot show counts as red, a missing engine too
##   FULL=1    mutants: run every check against every fault
##   FUZZTIME  how long each fuzz target runs (10s)
##   SOAK      how long the soak lasts (10m)
##   SEED      which soak: the same number brings the same ends in the same order
