package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"trainsim/sim/output"
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

// writeFile has write produce the file at path: whole or not at all. A path of
// "-" is stdout.
func (a *app) writeFile(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(a.stdout)
	}
	return output.WriteFile(path, write)
}
