//go:build !unix

package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Lock makes sure that no other process writes to dir until unlock. A folder that
// another process holds is [ErrInUse]; after a crash its file has to be deleted.
func Lock(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w (after a crash, delete %s)", inUse(dir), path)
	}
	if err != nil {
		return nil, WriteError(path, err)
	}
	return func() { f.Close(); os.Remove(path) }, nil
}
