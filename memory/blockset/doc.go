// Package blockset holds ordered sets of memory blocks, in which the caching
// allocator finds the best fit and neighbours by address.
//
// Blocks are ordered by size, then by address; sets that are ordered by address
// alone use size 0. set.go is all there is.
package blockset
