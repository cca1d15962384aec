package measured

import (
	"context"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim"
	"trainsim/sim/account"
	"trainsim/sim/job"
	"trainsim/sim/step"
)

// readmeRows are the rows of the README's two tables of step times, by their
// first words, and the families of the tables in testdata that they sum up.
var readmeRows = []struct {
	begins   string
	families []string
	quality  string // only the families' rows of this quality; empty: all
	// sampled is the mean error of the rows here where they are a sample of the
	// README's, drawn without looking at errors; 0 where all are here.
	sampled float64
	quick   bool // simulated in a moment: held under -short, too
}{
	{begins: "Korthikanti", families: []string{"korthikanti"}},
	{begins: "vTrain, several nodes", families: []string{"vtrain"}, quality: "A", sampled: 0.0493},
	{begins: "vTrain, one node", families: []string{"vtrain"}, quality: "B", sampled: 0.0804, quick: true},
	{begins: "BLOOM", families: []string{"bloom"}, sampled: 0.0453},
	{begins: "MPT", families: []string{"mpt"}, sampled: 0.0446, quick: true},
	{begins: "NVIDIA DGX Cloud", families: []string{"dgxc"}},
	{begins: "Narayanan", families: []string{"narayanan"}},
	{begins: "SimuMax (B200)", families: []string{"b200"}, quick: true},
	{begins: "SimuMax, mixtures of experts", families: []string{"simumax-experts"}, quick: true},
	{begins: "SimuMax (A100 PCIe", families: []string{"a100pcie"}, quick: true},
	{begins: "zero-bubble paper", families: []string{"zb"}},
	{begins: "Megatron-Core on H100", families: []string{"h100tut"}, quick: true},

	{begins: "ByteDance", families: []string{"megascale"}},
	{begins: "BigScience", families: []string{"bigscience"}},
	{begins: "NVIDIA's Megatron-Bridge", families: []string{"megatronbridge-dense"}},
	{begins: "the same, mixtures of experts", families: []string{"megatronbridge-experts"}},
	{begins: "torchtitan", families: []string{"torchtitan"}},
	{begins: "nanotron", families: []string{"nanotron"}},
	{begins: "InternEvo", families: []string{"internevo"}},
	{begins: "XTuner", families: []string{"xtuner", "xtunerulysses"}, quick: true},
	{begins: "Megatron-LM of 2021 on V100", families: []string{"dlperfmlm"}},
	{begins: "NeMo, 175 billion", families: []string{"nemo2208"}},
	{begins: "NeMo, long contexts", families: []string{"nemocp", "nemocpb200"}},
	{begins: "Megatron-Core's functional tests", families: []string{"mcoreci"}, quick: true},
	{begins: "Qwen3-235B", families: []string{"moeh800"}},
}

// The README's tables of step times say what the runs in testdata give: mean and
// worst error within a tenth, or what a digit of the table is.
func TestReadmeTellsTheAccuracy(t *testing.T) {
	stated := statedErrors(t)
	require.Len(t, stated, len(readmeRows), "rows of the README and of this test")
	runs := publishedRuns(t)
	used := 0
	for i := range readmeRows {
		row := &readmeRows[i]
		if testing.Short() && !row.quick {
			continue
		}
		at := slices.IndexFunc(stated, func(s statedError) bool { return strings.HasPrefix(s.runs, row.begins) })
		require.GreaterOrEqual(t, at, 0, "the README has no row %q", row.begins)
		says := stated[at]
		own := slices.DeleteFunc(slices.Clone(runs), func(r trainingRun) bool {
			return !slices.Contains(row.families, r.Family) || row.quality != "" && r.Quality != row.quality
		})
		used += len(own)
		got, squares := errorsOf{}, 0.0
		for i, took := range predictRuns(t, own) {
			measured := sim.FromSeconds(own[i].Seconds)
			got.add(int64(took), int64(measured))
			squares += math.Pow(float64(took)/float64(measured)-1, 2)
		}
		t.Logf("%-34s n %3.0f of %3.0f mean %5.2f %% (%4.1f %%) worst %5.2f %% (%4.1f %%)", row.begins, got.n, says.n,
			100*got.mean(), 100*says.mean, 100*got.worst, 100*says.worst)
		if row.sampled == 0 {
			assert.Equal(t, says.n, got.n, row.begins)
			assert.InDelta(t, says.mean, got.mean(), max(0.1*says.mean, digit), row.begins)
			assert.InDelta(t, says.worst, got.worst, max(0.1*says.worst, digit), row.begins)
			continue
		}
		assert.InDelta(t, row.sampled, got.mean(), max(0.1*row.sampled, digit), row.begins)
		assert.LessOrEqual(t, got.worst, says.worst+digit, row.begins)
		// Three standard errors of the mean of n drawn from all without repetition.
		variance := (squares - got.n*got.mean()*got.mean()) / (got.n - 1)
		off := 3 * math.Sqrt(variance/got.n*(1-got.n/says.n))
		assert.Less(t, got.n, says.n, row.begins)
		assert.InDelta(t, says.mean, got.mean(), off+digit, "%s: a sample of %g", row.begins, got.n)
	}
	assert.True(t, testing.Short() || used == len(runs), "runs of no row of the README")
}

// digit is the last digit of the README's percentages.
const digit = 0.001

// statedError is a row of one of the README's tables of step times.
type statedError struct {
	runs           string
	n, mean, worst float64
}

// statedErrors reads the rows of the README's tables of step times.
func statedErrors(t *testing.T) (out []statedError) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		return x
	}
	row := regexp.MustCompile(`(?m)^\| (.+?) \| (\d+) \| ([\d.]+) % \| [\d.]+ % \| ([\d.]+) % \|$`)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		out = append(out, statedError{m[1], number(m[2]), number(m[3]) / 100, number(m[4]) / 100})
	}
	return out
}

// publishedRuns reads the tables of runs that the README sums up.
func publishedRuns(t *testing.T) (out []trainingRun) {
	for _, name := range []string{"testdata/readme_runs.csv", "testdata/experts_runs.csv", "testdata/unseen_runs.csv"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		runs, err := readRuns(text, name)
		require.NoError(t, err)
		out = append(out, runs...)
	}
	for i := range out {
		require.Empty(t, out[i].Skipped)
	}
	return out
}

// predictRuns simulates runs, two at a time.
func predictRuns(t *testing.T, runs []trainingRun) []sim.Time {
	out := make([]sim.Time, len(runs))
	errs := make([]error, len(runs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(runs); i = int(next.Add(1)) - 1 {
				out[i], errs[i] = stepTime(runs[i].Config)
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, runs[i].ID)
	}
	return out
}

// stepTime simulates a step without its memory.
func stepTime(c *job.Config) (sim.Time, error) {
	j, err := job.Build(context.Background(), c, account.Peaks)
	if err != nil {
		return 0, err
	}
	res, err := step.Timed(context.Background(), j, step.Options{Fold: true, NoRecording: true})
	if err != nil {
		return 0, err
	}
	return res.StepTime, nil
}
