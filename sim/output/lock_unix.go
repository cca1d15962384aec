//go:build unix

package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Lock makes sure that no other process writes to dir until unlock. The lock's
// file is empty and stays: the lock is the kernel's and ends with the process,
// however that ends. A folder that another process holds is [ErrInUse].
func Lock(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, WriteError(path, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, inUse(dir)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
