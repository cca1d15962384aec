package scenarios

import (
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"trainsim/sim/input"
)

// builtin holds the scenarios and presets that ship with the program.
//
//go:embed *.toml models/*.toml gpus/*.toml clusters/*.toml frameworks/*.toml
var builtin embed.FS

// builtinName is how errors name a file that ships with the program.
func builtinName(file string) string { return "<built-in>/" + file }

// builtinNames lists what a folder of the built-in files holds, sorted, without
// the ending; "." is the scenarios.
func builtinNames(dir string) []string {
	entries, _ := fs.ReadDir(builtin, dir)
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok && !e.IsDir() {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// readBuiltin reads a built-in file, nil when there is none of that name.
func readBuiltin(file string) []byte {
	text, err := fs.ReadFile(builtin, file)
	if err != nil {
		return nil
	}
	return text
}

// readFile reads a small file, or says why it cannot be a scenario. what names
// the kind of file for the message, as in "a scenario".
func readFile(file, what string) ([]byte, *input.Errors) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, input.FileError(file, "does not exist; write the path of %s", what)
	case err != nil:
		return nil, input.FileError(file, "cannot be read: %v; write the path of %s", reason(err), what)
	case info.IsDir():
		return nil, input.FileError(file, "is a directory; write the path of %s in it", what)
	case info.Size() > maxFile:
		return nil, input.FileError(file, "is %d MB large; %s is a text file of at most %d MiB", info.Size()/1e6, what,
			maxFile>>20)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, input.FileError(file, "cannot be read: %v; write the path of %s", reason(err), what)
	}
	defer f.Close()
	return readAll(f, file, what)
}

// readAll reads at most maxFile bytes.
func readAll(r io.Reader, name, what string) ([]byte, *input.Errors) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, input.FileError(name, "cannot be read: %v; write the path of %s", reason(err), what)
	}
	if len(text) > maxFile {
		return nil, input.FileError(name, "is larger than %d MiB; %s is a small text file", maxFile>>20, what)
	}
	return text, nil
}

// reason is the cause of an I/O error without the path, which the message has already.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// isFile reports whether something that can be read stands at a path.
func isFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir()
}

// openScenario finds a scenario: a file, or a built-in one by name with or
// without .toml. A file goes before a built-in scenario, a directory does not.
func openScenario(name string) (*input.Source, *input.Errors) {
	if name == "" {
		return nil, input.FileError("scenario",
			"has no name; write the path of a file or the name of a built-in one (trainsim list scenarios)")
	}
	short := strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".toml")
	bare := name == short || name == short+".toml"
	if !isFile(name) && bare {
		if text := readBuiltin(short + ".toml"); text != nil {
			return &input.Source{Name: builtinName(short + ".toml"), Text: text}, nil
		}
		if isFile(name + ".toml") {
			name += ".toml"
		} else if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil, input.FileError(name, "is neither a file nor a built-in scenario; %s",
				input.DidYouMean(short, builtinNames(".")))
		}
	}
	text, err := readFile(name, "a scenario")
	if err != nil {
		return nil, err
	}
	return &input.Source{Name: name, Dir: filepath.Dir(name), Text: text}, nil
}
