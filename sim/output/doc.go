// Package output writes the files of a folder of results: whole or not at all,
// one process at a time in a folder.
//
// Files in reading order: output.go (files), temporary.go (what they are until they
// are whole), lock.go, lock_unix.go, lock_other.go (folders), gone_unix.go and
// gone_other.go (processes); json.go (a document).
package output
