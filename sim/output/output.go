package output

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile has write produce the file at path: whole or not at all. The bytes
// go to a temporary file beside it, to the disk, and only then to the name. What
// processes that were killed have left of such files is removed. Devices and pipes
// are written to directly.
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
	temp, err := temporary(filepath.Dir(target))
	if err != nil {
		return WriteError(path, err)
	}
	removeStale(temp)
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

// Same reports whether the file at path is there and is what write produces.
func Same(path string, write func(io.Writer) error) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	there, new := sha256.New(), sha256.New()
	if _, err := io.Copy(there, f); err != nil {
		return false
	}
	return write(new) == nil && bytes.Equal(there.Sum(nil), new.Sum(nil))
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
