package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"trainsim/sim/output"
)

// results is buffered stdout that remembers its first failure, so that a full
// disk behind a redirection is an error and not a shorter report.
type results struct{ *bufio.Writer }

func newResults(w io.Writer) *results { return &results{bufio.NewWriterSize(w, 64<<10)} }

// Flush writes what is buffered and returns the first failure of any write.
func (o *results) Flush() error {
	if err := o.Writer.Flush(); err != nil {
		return &coded{exitFailure, fmt.Errorf("standard output: %w", output.Cause(err))}
	}
	return nil
}

// isTerminal reports whether w is a terminal that understands cursor movement.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// warnf writes a warning to stderr, --quiet or not.
func (a *app) warnf(format string, args ...any) {
	fmt.Fprintf(a.stderr, "trainsim: warning: %s\n", harmless(fmt.Sprintf(format, args...)))
}

// harmless replaces control characters, which names of files and texts in them may
// have: a terminal would take them for commands.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// notef writes a remark such as a wall-clock time to stderr unless --quiet.
func (a *app) notef(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, harmless(fmt.Sprintf(format, args...)))
	}
}

// progress returns a bar over n steps; it is silent unless stderr is a terminal.
func (a *app) progress(n int, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions(n,
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetVisibility(a.terminal && !a.quiet),
		progressbar.OptionEnableColorCodes(false),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
	)
}

// bar returns what a search tells how far it has come, and what takes the bar
// away again.
func (a *app) bar(what string) (hear func(done, total int), finish func()) {
	bar := a.progress(1, what)
	hear = func(done, total int) {
		bar.ChangeMax(total)
		bar.Set(done) //nolint:errcheck // a bar that cannot be drawn hinders nobody
	}
	return hear, func() { bar.Finish() } //nolint:errcheck // as above
}

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

// jsonFlag gives cmd the flag --json, which sets a.json.
func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON document on stdout and nothing else")
}

// asJSON returns what writes v as one indented JSON document.
func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error { return output.JSON(w, v) }
}

// writeJSON prints v as one indented JSON document on stdout.
func (a *app) writeJSON(v any) error {
	return output.JSON(a.stdout, v)
}

// showAll prints what a command made of each of its scenarios, if --json asks
// for it: one document, an array of several.
func showAll[T any](a *app, each []T) error {
	switch {
	case !a.json:
		return nil
	case len(each) == 1:
		return a.writeJSON(each[0])
	}
	return a.writeJSON(each)
}

// terminalWidth returns the columns of the terminal on stdout, 0 without one.
func terminalWidth() int {
	if !isTerminal(os.Stdout) {
		return 0
	}
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}
