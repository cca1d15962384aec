package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

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
