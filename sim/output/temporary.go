package output

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// temporaryName is the name of a temporary file, .trainsim-MACHINE-PROCESS-NUMBER.tmp,
// by which those of a process that was killed are told from those that are being
// written.
var temporaryName = regexp.MustCompile(`^\.trainsim-([0-9a-f]{8})-([0-9]{1,10})-[0-9]{1,10}\.tmp$`)

// machine names where a process number is one process: the host since it was
// started and, where there are containers, the container.
var machine = sync.OnceValue(func() string {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux has both
	space, _ := os.Readlink("/proc/self/ns/pid")
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", host, boot, space))
	return hex.EncodeToString(sum[:4])
})

// temporary creates a file in dir with the permissions that the umask gives a new
// file; os.CreateTemp would make it private.
func temporary(dir string) (*os.File, error) {
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".trainsim-%s-%d-%d.tmp", machine(), os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// abandoned is how old the temporary file of another machine's process is before
// it counts as left behind: none takes that long to write.
const abandoned = 24 * time.Hour

// looked holds the folders in which this process has looked for stale files.
var looked sync.Map

// removeStale removes temporary files beside a new one that nobody will finish:
// those of processes of this machine that are gone, and old ones of others. The
// new file's time is that of the disk.
func removeStale(f *os.File) {
	dir := filepath.Dir(f.Name())
	if _, before := looked.LoadOrStore(dir, true); before {
		return
	}
	now, err := f.Stat()
	if err != nil {
		return
	}
	for _, path := range temporariesIn(dir) {
		if stale(path, now.ModTime()) {
			os.Remove(path) //nolint:errcheck // whoever is next removes it
		}
	}
}

// stale reports whether nobody will finish a temporary file.
func stale(path string, now time.Time) bool {
	m := temporaryName.FindStringSubmatch(filepath.Base(path))
	if process, err := strconv.Atoi(m[2]); err == nil && m[1] == machine() && gone(process) {
		return true
	}
	info, err := os.Lstat(path)
	return err == nil && now.Sub(info.ModTime()) > abandoned
}

// RemoveStale removes all temporary files of a folder that is locked, so that
// nobody else is writing them.
func RemoveStale(dir string) {
	for _, path := range temporariesIn(dir) {
		os.Remove(path) //nolint:errcheck // whoever is next removes it
	}
}

// Abandon removes the temporary files that this process is writing, before it ends
// in the middle of that.
func Abandon() {
	ours := fmt.Sprintf(".trainsim-%s-%d-", machine(), os.Getpid())
	looked.Range(func(dir, _ any) bool {
		for _, path := range temporariesIn(dir.(string)) {
			if strings.HasPrefix(filepath.Base(path), ours) {
				os.Remove(path) //nolint:errcheck // whoever is next removes it
			}
		}
		return true
	})
}

// temporariesIn lists the temporary files of a folder.
func temporariesIn(dir string) []string {
	entries, _ := os.ReadDir(dir) // what cannot be read is left as it is
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && temporaryName.MatchString(e.Name()) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}
