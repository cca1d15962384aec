package report

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/trace"
)

func saved(t testing.TB) []byte {
	t.Helper()
	run := Run{Report: &Report{Schema: Schema, StepTime: 1.5, OOM: &OOM{Phase: "start-up"}}, Recording: &trace.Recording{}}
	lane := run.Recording.AddLane(trace.Lane{})
	run.Recording.Add(trace.Span{End: 7, Lane: lane})
	var b bytes.Buffer
	require.NoError(t, run.Write(&b))
	return b.Bytes()
}

func TestRunRoundTrip(t *testing.T) {
	text := saved(t)
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	_, err := zw.Write(text)
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	for _, data := range [][]byte{text, zipped.Bytes()} {
		run, err := ReadRun(bytes.NewReader(data))
		require.NoError(t, err)
		assert.Equal(t, 1.5, run.Report.StepTime)
		assert.Equal(t, 1, run.Recording.Len())
		var again bytes.Buffer
		require.NoError(t, run.Write(&again))
		assert.Equal(t, string(text), again.String())
	}
}

func TestReadRunRefuses(t *testing.T) {
	text := string(saved(t))
	for name, c := range map[string]struct{ text, want string }{
		"another schema":  {strings.Replace(text, runSchema, "trainsim.run/v9", 1), "trainsim.run/v9"},
		"another report":  {strings.Replace(text, Schema, "x", 1), "report's schema"},
		"no report":       {`{"schema":"trainsim.run/v1","report":null,"recording":{}}`, "null"},
		"not JSON":        {"step_time = 4", "invalid character"},
		"empty":           {"", "EOF"},
		"broken gzip":     {"\x1f\x8b\x00", "gzip"},
		"report of sorts": {strings.Replace(text, `"step_time_s":1.5`, `"step_time_s":"x"`, 1), "step_time_s"},
	} {
		_, err := ReadRun(strings.NewReader(c.text))
		assert.ErrorContains(t, err, c.want, name)
	}
	assert.Error(t, (&Run{}).Write(&bytes.Buffer{}))
}

func FuzzReadRun(f *testing.F) {
	f.Add(saved(f))
	f.Add([]byte(`{"schema":"trainsim.run/v1","report":{},"recording":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := ReadRun(bytes.NewReader(data))
		if err == nil {
			require.NoError(t, run.Write(&bytes.Buffer{}))
		}
	})
}
