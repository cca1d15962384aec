//go:build !unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lockName is the file that a running command puts into a folder of results.
const lockName = ".lock"

// lockFolder makes sure that no other command writes to dir until unlock.
func lockFolder(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is in use by another trainsim; wait for it, write elsewhere with --out, or, after a crash, delete %s", dir, path)
	}
	if err != nil {
		return nil, writeError(path, err)
	}
	return func() { f.Close(); os.Remove(path) }, nil
}
