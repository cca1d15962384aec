package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilesAreWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "out.json")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error { io.WriteString(w, s); return err }
	}
	require.NoError(t, WriteFile(path, text("one", nil)))
	err := WriteFile(path, text("two", errors.New("disk on fire")))
	assert.EqualError(t, err, "cannot write "+path+": disk on fire")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "one", string(got))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, WriteFile(link, text("three", nil)))
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "three", string(got), "a link is followed, not replaced")

	assert.EqualError(t, WriteFile(dir, text("", nil)), dir+" is a directory; write the name of a file")
	assert.EqualError(t, WriteFile(path+"/x", text("", nil)), "cannot write "+path+"/x: not a directory")
	assert.EqualError(t, WriteFile("/dev/full", text("x", nil)), "cannot write /dev/full: no space left on device")
	assert.NoError(t, WriteFile("/dev/null", text("x", nil)))
}

// A folder is held by one at a time, and free again afterwards.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir)
	require.NoError(t, err)
	_, err = Lock(dir)
	assert.ErrorIs(t, err, ErrInUse)
	assert.ErrorContains(t, err, dir+" is in use by another trainsim")
	unlock()
	unlock, err = Lock(dir)
	require.NoError(t, err)
	unlock()
}

// fakeTemporary writes a temporary file of a process, so many hours ago.
func fakeTemporary(t *testing.T, dir, machine string, process int, hours time.Duration) string {
	path := filepath.Join(dir, fmt.Sprintf(".trainsim-%s-%d-0.tmp", machine, process))
	require.NoError(t, os.WriteFile(path, []byte("half"), 0o666))
	at := time.Now().Add(-hours * time.Hour)
	require.NoError(t, os.Chtimes(path, at, at))
	return path
}

// ended is the number of a process that has come to its end.
func ended(t *testing.T) int {
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	require.NoError(t, cmd.Run())
	return cmd.Process.Pid
}

// What nobody will finish goes with the next file that is written, and nothing
// else does.
func TestStaleTemporaryFilesGo(t *testing.T) {
	dir, dead := t.TempDir(), ended(t)
	stale := []string{
		fakeTemporary(t, dir, machine(), dead, 0),
		fakeTemporary(t, dir, "00000000", os.Getpid(), 25),
		fakeTemporary(t, dir, machine(), os.Getpid(), 25),
	}
	kept := []string{
		fakeTemporary(t, dir, machine(), os.Getppid(), 0),
		fakeTemporary(t, dir, "00000000", dead, 1),
		filepath.Join(dir, ".trainsim-notes.tmp"), filepath.Join(dir, ".main.go.tmp"), filepath.Join(dir, "trainsim-1-2.tmp"),
	}
	for _, path := range kept[2:] {
		require.NoError(t, os.WriteFile(path, nil, 0o666))
	}
	require.NoError(t, WriteFile(filepath.Join(dir, "f"), func(io.Writer) error { return nil }))
	for _, path := range stale {
		assert.NoFileExists(t, path)
	}
	for _, path := range kept {
		assert.FileExists(t, path)
	}
	RemoveStale(dir) // which is for a folder that is locked
	for i, path := range kept {
		if i < 2 {
			assert.NoFileExists(t, path)
		} else {
			assert.FileExists(t, path)
		}
	}
}

// A process that leaves in the middle of a file leaves nothing of it.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	other := fakeTemporary(t, dir, machine(), os.Getppid(), 0)
	err := WriteFile(filepath.Join(dir, "f"), func(w io.Writer) error {
		require.Len(t, temporariesIn(dir), 2)
		Abandon()
		return nil
	})
	assert.Error(t, err, "there is nothing to rename")
	assert.Equal(t, []string{other}, temporariesIn(dir))
}
