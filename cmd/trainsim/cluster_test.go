package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The files for clusters split their work into as many shards as they start
// tasks, and use flags that there are.
func TestClusterFiles(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(moduleRoot, "scenarios", "cluster", name))
		require.NoError(t, err)
		return string(text)
	}
	one := func(text, pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		require.Len(t, m, 2, pattern)
		return m[1]
	}
	job := read("sweep-job.yaml")
	n := one(job, `completions: (\d+)`)
	assert.Equal(t, n, one(job, `parallelism: (\d+)`))
	assert.Equal(t, n, one(job, shardCount+`\n *value: "(\d+)"`))
	assert.Equal(t, n, one(job, `shard-\*-of-(\d+)`))
	assert.Contains(t, job, kubeIndex)
	cmd := newSweepCommand(&app{})
	var args []string
	for _, m := range regexp.MustCompile(`(?m)^ {12}- (\S+)$`).FindAllStringSubmatch(job, -1) {
		args = append(args, m[1])
	}
	require.Equal(t, "sweep", args[0])
	assert.NoError(t, cmd.ParseFlags(args[1:]))
	assert.Equal(t, []string{"70b-tp4-pp2"}, cmd.Flags().Args())
	changed := 0
	cmd.Flags().Visit(func(*pflag.Flag) { changed++ })
	assert.Equal(t, 3, changed)

	array := read("sweep.sbatch")
	assert.Equal(t, "6", one(array, `--array=0-(\d+)\n`))
	assert.Equal(t, "7", one(array, `shard-\*-of-(\d+)`))
	assert.Equal(t, "7", one(array, shardCount+`=(\d+)`))
	assert.True(t, strings.HasPrefix(array, "#!/bin/bash\n"))
}
