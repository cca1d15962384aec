package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// arrows lists which packages of the module each package imports. A new arrow is
// a change of the design: it belongs in this table first.
var arrows = map[string][]string{
	"sim":       {},
	"sim/input": {},
	"sim/gpu": {
		"sim", "sim/gpu/generation", "sim/input",
	},
	"sim/gpu/generation": {"sim"},
	"sim/framework":      {"sim", "sim/gpu/generation", "sim/model"},
	"sim/model":          {"sim/input", "sim/gpu"},
	"schedule": {
		"sim/input",
	},
	"schedule/vshape": {"schedule"},
	"schedule/kinds":  {"sim/input", "schedule", "schedule/vshape"},
	"schedule/draw":   {"schedule"},
	"sim/trace":       {"sim", "sim/input"},
	"interconnect": {
		"sim", "sim/gpu/generation", "sim/input",
	},
	"interconnect/nccl": {
		"sim", "sim/gpu/generation", "interconnect", "sim/input",
	},
	"interconnect/topo": {
		"interconnect", "interconnect/nccl", "sim/input",
	},
	"interconnect/bench": {"sim", "interconnect", "interconnect/nccl"},
	"memory/blockset":    {},
	"memory":             {"sim", "sim/input", "memory/blockset"},
	"memory/snapshot":    {"sim/input", "memory", "memory/blockset"},
	"sim/code":           {"sim", "sim/framework", "sim/gpu", "sim/model", "schedule", "sim/trace"},
	"sim/job": {
		"sim", "sim/gpu", "sim/model", "schedule", "schedule/kinds", "interconnect", "interconnect/nccl",
		"sim/trace", "sim/code", "sim/input", "sim/framework",
	},
	"sim/job/jobtest": {"sim", "sim/gpu", "sim/model", "interconnect", "sim/job", "scenarios"},
	"sim/account": {
		"sim", "sim/model", "schedule", "interconnect/nccl", "memory", "sim/trace", "sim/code", "sim/job", "sim/framework",
	},
	"sim/bound": {
		"sim", "sim/model", "schedule", "interconnect", "interconnect/nccl", "sim/trace", "sim/code", "sim/job", "sim/framework",
	},
	"sim/step": {
		"sim", "sim/model", "schedule", "interconnect", "interconnect/nccl", "memory", "sim/trace", "sim/code", "sim/job",
		"sim/account",
	},
	"sim/report": {
		"sim", "schedule", "sim/trace", "sim/job", "sim/account", "sim/bound", "sim/step", "sim/report/quantity",
	},
	"scenarios": {
		"sim/input", "sim/gpu", "sim/model", "schedule", "schedule/kinds", "interconnect", "memory",
		"sim/job", "interconnect/topo", "scenarios/keys", "scenarios/importers", "sim/framework", "sim/gpu/generation",
	},
	"scenarios/measured": {
		"sim", "sim/gpu", "sim/model", "schedule/kinds", "interconnect", "sim/input",
		"sim/job", "sim/account", "sim/step", "sim/report", "scenarios", "interconnect/nccl", "scenarios/machines",
	},
	"sim/output": {},
	"sim/search": {
		"sim/input", "sim/model", "schedule/kinds", "sim/account", "sim/bound", "sim/job", "sim/step", "sim/report", "scenarios", "scenarios/keys",
	},
	"sim/search/journal": {"sim/input", "sim/output", "sim/report", "sim/search"},
	"plots":              {"sim/trace", "sim/report", "plots/chart", "plots/timeline", "plots/gantt"},
	"cmd/trainsim": {
		"sim", "sim/input", "schedule", "schedule/kinds", "schedule/draw", "interconnect", "memory",
		"memory/snapshot", "sim/trace", "sim/job", "sim/account", "sim/step", "sim/report",
		"scenarios", "scenarios/measured", "plots", "plots/chart", "sim/report/text", "scenarios/calibrate",
		"interconnect/nccl", "interconnect/topo", "interconnect/bench", "sim/output", "sim/search", "sim/search/journal", "scenarios/keys",
	},
	"plots/chart":         {"sim/output", "sim/trace"},
	"plots/timeline":      {"sim", "sim/trace", "sim/report"},
	"plots/gantt":         {"sim/trace", "plots/chart", "plots/timeline"},
	"sim/report/quantity": {},
	"sim/report/text":     {"sim/report", "sim/report/quantity"},
	"scenarios/calibrate": {
		"sim", "sim/gpu", "interconnect", "sim/report", "sim/report/text", "scenarios", "scenarios/measured", "scenarios/machines",
	},
	"scenarios/keys": {
		"sim/input", "sim/job",
	},
	"scenarios/importers": {
		"sim/input", "sim/model", "scenarios/keys",
	},
	"scenarios/machines": {
		"sim", "sim/input", "sim/gpu", "sim/gpu/generation", "interconnect", "scenarios",
	},
}

func TestImportArrows(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, "./...")
	list.Dir = "../.."
	out, err := list.Output()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, ok := strings.CutPrefix(fields[0], "trainsim/")
		if !ok {
			continue
		}
		seen++
		allowed, known := arrows[from]
		assert.True(t, known, "package %s is not in the table of packages", from)
		for _, to := range allowed {
			assert.True(t, slices.Contains(fields[1:], "trainsim/"+to), "%s does not import %s: take this arrow out", from, to)
		}
		for _, path := range fields[1:] {
			if to, ours := strings.CutPrefix(path, "trainsim/"); ours {
				assert.True(t, slices.Contains(allowed, to), "%s imports %s: this arrow is not in the table", from, to)
			}
		}
	}
	assert.Equal(t, len(arrows), seen, "packages found")
}
