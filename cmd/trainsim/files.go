package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// interruptible is stdin that Ctrl-C can stop waiting for.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (s *interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done, buffer := make(chan result, 1), make([]byte, len(p))
	go func() {
		n, err := s.r.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	}
}

// readFile returns the content of path, or of stdin when path is "-".
func (a *app) readFile(path string) ([]byte, error) {
	if path == "-" {
		data, err := io.ReadAll(a.stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return data, nil
	}
	return os.ReadFile(path)
}

// writeFile has write produce the file at path: whole or not at all. The bytes
// go to a temporary file beside it, to the disk, and only then to the name. A
// path of "-" is stdout; devices and pipes are written to directly.
func (a *app) writeFile(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(a.stdout)
	}
	target := path
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("%s is a directory; write the name of a file", path)
		}
		if !info.Mode().IsRegular() {
			return writeDirectly(path, write)
		}
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return writeError(path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return writeError(path, err)
	}
	temp, err := temporary(target)
	if err != nil {
		return writeError(path, err)
	}
	err = fill(temp, write)
	if err == nil {
		err = os.Rename(temp.Name(), target)
	}
	if err != nil {
		os.Remove(temp.Name())
		return writeError(path, err)
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
		return writeError(path, err)
	}
	buffer := bufio.NewWriter(f)
	err = write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return writeError(path, err)
}

// writeError names the path that the user knows instead of a temporary one.
func writeError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", path, cause(err))
}

// cause strips the operation and the path off an error of the file system.
func cause(err error) error {
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
