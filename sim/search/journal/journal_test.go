package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/output"
	"trainsim/sim/report"
)

// written makes a folder with a journal of the header's sweep that has these rows.
func written(t *testing.T, h *Header, rows ...report.SweepRow) string {
	dir := t.TempDir()
	text, _, err := h.line()
	require.NoError(t, err)
	for i := range rows {
		text = append(text, rowLine(t, h, &rows[i])...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, Name), text, 0o666))
	return dir
}

func opened(t *testing.T, dir string, h *Header, start Start) *Journal {
	j, err := Open(dir, h, start)
	require.NoError(t, err)
	return j
}

// found are the rows that are there.
func found(t *testing.T, j *Journal) (out []report.SweepRow) {
	for row, err := range j.Found() {
		require.NoError(t, err)
		out = append(out, row)
	}
	return out
}

func failure(point int, text string) report.SweepRow {
	r := someRow(point, report.OutcomeFailed, nil)
	r.Reason = text
	return r
}

// What a journal keeps is the same whether it was closed or not, and in the order
// of the points once it is sorted.
func TestJournalGoesOn(t *testing.T) {
	dir, rows := t.TempDir(), someRows()
	for i := range rows {
		j := opened(t, dir, header(), GoOn)
		assert.Equal(t, i, j.Kept())
		_, err := Open(dir, header(), GoOn)
		assert.ErrorIs(t, err, output.ErrInUse)
		require.NoError(t, j.Add(&rows[i]))
		require.NoError(t, j.Finish())
		assert.True(t, j.Has(rows[i].Point, rows[i].ID))
		assert.False(t, j.Has(rows[i].Point, rows[0].ID[:31]+"f"))
		j.Close()
	}
	j := opened(t, dir, header(), GoOn)
	require.NoError(t, j.Sort())
	var points []int
	for row, err := range j.Rows() {
		require.NoError(t, err)
		points = append(points, row.Point)
	}
	assert.Equal(t, []int{0, 1, 2}, points)
	j.Close()
	other := header()
	other.Content = "d"
	_, err := Open(dir, other, GoOn)
	assert.ErrorIs(t, err, ErrOther)
	j = opened(t, dir, other, Fresh)
	assert.Zero(t, j.Kept())
	j.Close()
}

// A failure counts as found unless it is to be tried again, and gives way to a
// result; two results do not go together.
func TestJournalOfFailures(t *testing.T) {
	ok := someRows()[0]
	bad := failure(2, "internal error: x")
	for _, rows := range [][]report.SweepRow{{bad, ok}, {ok, bad}, {ok, ok}, {bad, ok, bad}} {
		j := opened(t, written(t, header(), rows...), header(), Retry)
		assert.Equal(t, []report.SweepRow{ok}, found(t, j))
		assert.Equal(t, 1, j.Kept())
		j.Close()
	}
	dir := written(t, header(), failure(2, "other"), bad)
	j := opened(t, dir, header(), GoOn)
	assert.True(t, j.Has(2, bad.ID))
	assert.Equal(t, 1, j.Kept())
	assert.Equal(t, []report.SweepRow{bad}, found(t, j))
	j.Close()
	j = opened(t, dir, header(), Retry)
	assert.False(t, j.Has(2, bad.ID))
	assert.Zero(t, j.Kept())
	j.Close()

	wrong := ok
	wrong.Metrics = &report.Metrics{GPUs: 8, Samples: 8, StepTime: 0.2}
	dir = written(t, header(), ok, someRows()[1], wrong)
	_, err := Open(dir, header(), GoOn)
	var c *Conflict
	require.ErrorAs(t, err, &c)
	path := filepath.Join(dir, Name)
	assert.EqualError(t, err, path+":4: point 2 has another result than is at "+path+":2")
	moved := wrong
	moved.ID = someRows()[1].ID // of a scenario that was changed meanwhile
	j = opened(t, written(t, header(), ok, moved), header(), GoOn)
	assert.Equal(t, []report.SweepRow{moved}, found(t, j))
	j.Close()
}

// shards are the headers of a sweep in two parts.
func shards() (whole, first, second *Header) {
	whole, first, second = header(), header(), header()
	first.Shards, second.Shard, second.Shards = 2, 1, 2
	return whole, first, second
}

// join joins folders of shards and returns the journal of the whole.
func join(t *testing.T, out string, dirs ...string) ([]byte, []string, error) {
	s, err := OpenShards(dirs)
	require.NoError(t, err)
	defer s.Close()
	j := opened(t, out, s.Header(), GoOn)
	defer j.Close()
	warnings, err := s.Join(j)
	require.NoError(t, j.Finish())
	require.NoError(t, j.Sort())
	text, e := os.ReadFile(j.Path())
	require.NoError(t, e)
	return text, warnings, err
}

// Shards are the whole, failures with them, in whatever order and however often
// they are joined; a folder twice with the same results does no harm.
func TestJoin(t *testing.T) {
	whole, first, second := shards()
	rows := someRows()
	failed := failure(1, "internal error: x")
	a := written(t, first, failure(2, "once"), rows[0], rows[1])
	b := written(t, second, failed)
	want, err := os.ReadFile(filepath.Join(written(t, whole, rows[1], failed, rows[0]), Name))
	require.NoError(t, err)
	out := t.TempDir()
	for _, dirs := range [][]string{{a, b}, {b, a}, {a, b, a}} {
		text, warnings, err := join(t, out, dirs...)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(text))
		assert.Len(t, warnings, len(dirs)-2)
	}
	// A result that comes later takes the place of the failure.
	text, _, err := join(t, out, a, written(t, second, rows[2]))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "internal error")
}

// Two results of one point are refused with both places, and nothing is joined.
func TestJoinRefusesTwoResults(t *testing.T) {
	_, first, second := shards()
	rows := someRows()
	other := rows[0]
	other.Metrics = &report.Metrics{GPUs: 8, Samples: 8, StepTime: 0.2}
	a, b, c := written(t, first, rows[1], rows[0]), written(t, second, rows[2]), written(t, first, other)
	place := func(dir, line string) string { return filepath.Join(dir, Name) + ":" + line }
	text, _, err := join(t, t.TempDir(), a, b, c)
	assert.EqualError(t, err, place(c, "2")+": point 2 has another result than is at "+place(a, "3"))
	assert.Equal(t, 1, bytes.Count(text, []byte("\n")), "the first line only")

	out := t.TempDir()
	_, _, err = join(t, out, a, b)
	require.NoError(t, err)
	_, _, err = join(t, out, c, b)
	assert.EqualError(t, err, place(c, "2")+": point 2 has another result than is at "+place(out, "4"))

	other.ID = rows[1].ID
	_, _, err = join(t, t.TempDir(), a, written(t, first, other))
	assert.ErrorContains(t, err, "point 2 is of another scenario than is at "+place(a, "3"))
}

// Damaged lines of a shard are named, and their points missing.
func TestJoinNamesDamage(t *testing.T) {
	_, first, second := shards()
	rows := someRows()
	a, b := written(t, first, rows[1], rows[0]), written(t, second, rows[2])
	path := filepath.Join(a, Name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte(`"step_time_s":0.1`), []byte(`"step_time_s":-5`), 1), 0o666))
	s, err := OpenShards([]string{a, b})
	require.NoError(t, err)
	defer s.Close()
	j := opened(t, t.TempDir(), s.Header(), GoOn)
	defer j.Close()
	warnings, err := s.Join(j)
	require.NoError(t, err)
	require.NoError(t, j.Finish())
	assert.Equal(t, []string{path + ": line 3 is damaged: its checksum is another: it was changed or damaged"}, warnings)
	assert.Equal(t, []string{"point 2 of shard 0/2"}, s.Missing(j, nil))
}

// A folder that holds the folders of shards stands for them.
func TestFindShards(t *testing.T) {
	dir := t.TempDir()
	assert.Equal(t, []string{dir}, FindShards([]string{dir}))
	var want []string
	for _, name := range []string{"shard-0-of-2", "shard-1-of-2"} {
		inside := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(inside, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(inside, Name), nil, 0o666))
		want = append(want, inside)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "shard-2-of-3"), 0o777), "without a journal")
	assert.Equal(t, append(want, "other"), FindShards([]string{dir, "other"}))
}
