//go:build unix

package output

import (
	"errors"
	"syscall"
)

// gone reports whether no process of this machine has a number.
func gone(process int) bool {
	return process > 0 && errors.Is(syscall.Kill(process, 0), syscall.ESRCH)
}
