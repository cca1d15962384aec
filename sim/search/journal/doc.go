// Package journal keeps the results of a search on a disk: in a file to which they
// are appended as they come, so that a crash loses at most the points in work and
// the same search goes on where it stopped. It also joins the journals of a
// search's shards.
//
// Files in reading order: journal.go (the results in a folder), append.go,
// header.go, format.go, seal.go and place.go (the file), merge.go (shards).
package journal
