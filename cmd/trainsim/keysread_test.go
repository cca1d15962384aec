package main

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
	"trainsim/scenarios/keys"
	"trainsim/sim/job"
	"trainsim/sim/report"
	"trainsim/sim/step"
)

const textSays = "its text says that it informs only"

// informational are the keys of a scenario that no step's time or memory depends
// on, and why they are there.
var informational = map[string]string{
	"name": "names the job", "description": "describes it", "model.name": "names the model",
	"gpu.name": "names the GPU", "gpu.description": "describes it", "gpu.aliases": "names in tables of measurements",
	"gpu.architecture": textSays, "gpu.boost_clock": textSays, "gpu.power_limit": textSays,
	"gpu.power.patience": "kernels of a benchmark", "gpu.attention.prefill": "kernels of an inference library, in tables",
	"gpu.peak.tf32": "kernels and runs in tables", "framework.vocab_multiple": "runs in tables",
	"framework.name": "names the framework",
	"schedule.file":  "its content is schedule.csv", "data.lengths_file": "its content is data.length_list",
}

// others are values of keys that only together with others, or not by a mere
// factor, make another job of one of testdata/keys; behind a bar, what is set in
// both jobs.
var others = map[string]string{
	"cluster.cpu":                   "cluster.cpu=intel-skylake",
	"cluster.gpus_per_host_bridge":  "cluster.gpus_per_host_bridge=4 | " + ownPorts,
	"cluster.gpus_per_node":         "cluster.gpus_per_node=8 parallel.dp=4",
	"cluster.nodes":                 "cluster.nodes=8 parallel.dp=4",
	"cluster.nvlink_domain":         "cluster.nvlink_domain=8",
	"cluster.visible_devices":       "cluster.visible_devices=[0,2,1,3]",
	"data.length_list":              "data.length_list=[100,200] | data.lengths=list data.length_list=[300]",
	"faults.slow_gpus":              `faults.slow_gpus=["1=0.5"]`,
	"faults.slow_links":             `faults.slow_links=["node0/gpu0/pcie/up=0.1"]`,
	"framework.host.blocked":        "framework.host.blocked=1ms | host.launch_blocking=true",
	"framework.host.sync_p2p":       "framework.host.sync_p2p=true | schedule.blocking_p2p=true",
	"framework.ring":                "framework.ring=in-order | parallel.cp=2 parallel.dp=1 parallel.cp_comm=p2p",
	"framework.ring_only":           "framework.ring_only=true | parallel.tp=2 parallel.cp=2",
	"framework.scatter_gather":      "framework.scatter_gather=true | parallel.sequence_parallel=false",
	"framework.selective_recompute": "framework.selective_recompute=attention | training.recompute=selective",
	"framework.software_date":       "framework.software_date=2024-01 | model.attention=flash framework.preset=" + engine,
	"gpu.gemm.tiles":                "gpu.gemm.tiles=[{m=64,n=64,efficiency=0.5,preference=1.0}]",
	"gpu.peak.fp32":                 "gpu.peak.fp32=1TFLOPS | training.precision=fp32",
	"lora.targets":                  "lora.targets=qkv",
	"memory.alloc_conf":             "memory.alloc_conf=expandable_segments:True",
	"nccl.algo":                     `nccl.algo=["Tree"]`,
	"nccl.min_nchannels":            "nccl.min_nchannels=32",
	"nccl.p2p_level":                "nccl.p2p_level=LOC",
	"nccl.proto":                    `nccl.proto=["LL"]`,
	"parallel.cp":                   "parallel.cp=2 parallel.dp=1",
	"parallel.cp_comm":              "parallel.cp_comm=a2a | parallel.cp=2 parallel.dp=1",
	"parallel.dp":                   "parallel.dp=1 parallel.pp=4",
	"parallel.pp":                   "parallel.pp=4 parallel.dp=1",
	"parallel.tp":                   "parallel.tp=2 parallel.dp=4",
	"schedule.csv":                  `schedule.csv="0F0,0F1,0B1,0B0\n1F0,1F1,1B1,1B0" | ` + fromCSV,
	"schedule.first_last_layers":    "schedule.first_last_layers=auto",
	"schedule.group_size":           "schedule.group_size=4",
	"schedule.kind":                 "schedule.kind=gpipe",
	"schedule.layers_per_stage":     "schedule.layers_per_stage=[1,3]",
	"schedule.memory_cap":           "schedule.memory_cap=2 | schedule.kind=zb-auto",
}

// refused are values that make a job with what stands behind the bar one that
// cannot be.
var refused = map[string]string{
	"framework.experts":     "framework.experts=false",
	"framework.fp8_weights": "framework.fp8_weights=false | training.fp8_param_gather=true",
}

const (
	engine   = "megatron-core-te"
	ownPorts = "cluster.gpus_per_switch=0 cluster.gpus_per_upper_switch=0 cluster.sockets=1 " +
		"cluster.cpu=intel-skylake nccl.p2p_level=SYS"
	fromCSV = `schedule.kind=csv schedule.microbatches=2 schedule.csv="0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1"`
)

// TestEveryKeyIsRead: a key that nothing depends on would be a promise that is
// not kept.
func TestEveryKeyIsRead(t *testing.T) {
	jobs, err := filepath.Glob("testdata/keys/*.toml")
	require.NoError(t, err)
	unread := leavesOf(reflect.TypeFor[job.Config](), "", nil)
	for _, file := range jobs {
		base, err := scenarios.Load(file)
		require.NoError(t, err)
		before := outcome(t, file, "")
		require.NotEmpty(t, before, file)
		unread = slices.DeleteFunc(unread, func(l leaf) bool {
			if other := others[l.path] + refused[l.path]; other != "" {
				set, both, _ := strings.Cut(other, " | ")
				without, got := outcome(t, file, both), outcome(t, file, both+" "+set)
				return without != "" && (got == "") == (refused[l.path] != "") && got != without
			}
			return l.informs() || slices.ContainsFunc(variants(l, base), func(v string) bool {
				got := outcome(t, file, l.path+"="+v)
				return got != "" && got != before
			})
		})
	}
	for path, why := range informational {
		if k, err := keys.Explain(path); why == textSays && assert.NoError(t, err) {
			assert.Contains(t, k[0].Text, "informs only")
		}
	}
	for _, l := range unread {
		assert.Fail(t, "nothing depends on "+l.path, "read it, take it out, or say in its text and here that it informs only")
	}
}

// leaf is one key of a scenario: a field of a Config that is no table.
type leaf struct {
	path  string
	index []int
}

func leavesOf(t reflect.Type, path string, index []int) []leaf {
	var out []leaf
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "-" || name == "" {
			continue
		}
		l := leaf{strings.TrimPrefix(path+"."+name, "."), append(slices.Clone(index), i)}
		if _, text := reflect.New(f.Type).Interface().(encoding.TextUnmarshaler); f.Type.Kind() == reflect.Struct && !text {
			out = append(out, leavesOf(f.Type, l.path, l.index)...)
		} else {
			out = append(out, l)
		}
	}
	return out
}

func (l *leaf) of(c *job.Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(l.index)
}

func (l *leaf) informs() bool {
	for path := range informational {
		if l.path == path || strings.HasPrefix(l.path, path+".") {
			return true
		}
	}
	return false
}

// variants are other values of a key, as --set takes them.
func variants(l leaf, c *job.Config) []string {
	if k, err := keys.Explain(l.path); err == nil && len(k[0].Values) > 0 {
		return slices.Clone(k[0].Values)
	}
	v := l.of(c)
	var out []string
	add := func(x any) {
		w := reflect.ValueOf(x).Convert(v.Type())
		if m, ok := w.Interface().(encoding.TextMarshaler); ok {
			text, _ := m.MarshalText()
			out = append(out, string(text))
		} else {
			out = append(out, fmt.Sprint(x))
		}
	}
	switch {
	case v.Kind() == reflect.Bool:
		add(!v.Bool())
	case v.CanUint():
		add(v.Uint() + 1)
	case v.CanInt():
		for _, x := range []int64{2 * v.Int(), v.Int() / 2, v.Int() + 1, v.Int() + 1e6, v.Int() + 1e9} {
			add(x)
		}
	case v.CanFloat():
		for _, x := range []float64{v.Float() / 2, 2 * v.Float(), v.Float() + 0.3, v.Float() + 1e9} {
			add(x)
		}
	}
	return out
}

// outcome is the report of a job with some keys set, without its scenario; "" for
// one that cannot be or does not run.
func outcome(t *testing.T, file, sets string) string {
	t.Helper()
	c, err := scenarios.LoadWith(file, strings.Fields(sets))
	if err != nil {
		return ""
	}
	res, err := step.Run(context.Background(), c, step.Options{})
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	require.NoError(t, json.NewEncoder(&b).Encode(report.NewRun(context.Background(), res, nil).Report))
	return b.String()
}
