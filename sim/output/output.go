// Package output writes the files of a folder of results: whole or not at all,
// one process at a time in a folder.
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile has write produce the file at path: whole or not at all. The bytes
// go to a temporary file beside it, to the disk, and only then to the name.
// Devices and pipes are written to directly.
func WriteFile(path string, write func(io.Writer) error) error {
	target := path
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("%s is a directory; write the name of a file", path)
		}
		if !info.Mode().IsRegular() {
			return writeDirectly(path, write)
		}
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return WriteError(path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return WriteError(path, err)
	}
	temp, err := temporary(target)
	if err != nil {
		return WriteError(path, err)
	}
	err = fill(temp, write)
	if err == nil {
		err = os.Rename(temp.Name(), target)
	}
	if err != nil {
		os.Remove(temp.Name())
		return WriteError(path, err)
	}
	return nil
}

// temporary creates a file beside path with the permissions that the umask
// gives a new file; os.CreateTemp would make it private.
func temporary(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", base, os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// fill writes, flushes to the disk and closes f.
func fill(f *os.File, write func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(f, 64<<10)
	err := write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// writeDirectly writes to what is not a regular file and cannot be replaced.
func writeDirectly(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return WriteError(path, err)
	}
	buffer := bufio.NewWriter(f)
	err = write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return WriteError(path, err)
}

// RemoveTorn removes what a crash has left of files that were being written in a
// folder. The folder has to be locked, so that nobody else is writing them.
func RemoveTorn(dir string) {
	for _, pattern := range []string{".*.tmp", ".trainsim-*"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			os.Remove(name)
		}
	}
}

// WriteError names the path that the user knows instead of a temporary one; nil
// stays nil.
func WriteError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", path, Cause(err))
}

// Cause strips the operation and the path off an error of the file system.
func Cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
