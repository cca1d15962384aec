package search

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Shard is the part of a search that one of several processes does: the points
// whose number leaves Index when divided by Of. The zero value is all points.
type Shard struct{ Index, Of int }

// ParseShard reads "I/N" with I from 0 to N-1.
func ParseShard(text string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || index < 0 || of < 1 || index >= of {
		return Shard{}, fmt.Errorf("%q: write I/N with I from 0 to N-1, as in 0/4", text)
	}
	return Shard{index, of}, nil
}

// Whole reports whether the shard is all points.
func (s Shard) Whole() bool { return s.Of <= 1 }

// Stride returns the number of shards, at least 1.
func (s Shard) Stride() int { return max(s.Of, 1) }

// String writes the shard as [ParseShard] reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Stride()) }

// ShardFolders is the pattern of the names of shards' folders.
const ShardFolders = "shard-*-of-*"

// Folder returns where the shard's results go when those of the whole search go to
// dir: to a folder of its own in it.
func (s Shard) Folder(dir string) string {
	if s.Whole() {
		return dir
	}
	return filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d", s.Index, s.Of))
}

// Count returns how many of n points are the shard's.
func (s Shard) Count(n int) int { return (n - s.Index + s.Stride() - 1) / s.Stride() }

// Point returns the number of the shard's i-th point.
func (s Shard) Point(i int) int { return s.Index + i*s.Stride() }
