package output

import (
	"errors"
	"fmt"
)

// lockName is the file by which a process holds a folder of results.
const lockName = ".lock"

// ErrInUse says that another process writes to a folder.
var ErrInUse = errors.New("is in use by another trainsim")

func inUse(dir string) error { return fmt.Errorf("%s %w", dir, ErrInUse) }
