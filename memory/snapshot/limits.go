package snapshot

import "fmt"

// What a snapshot may contain at most. The limits bound the memory that a
// hostile file can make its reader use; they are far above what
// torch.cuda.memory records in gigabytes of trace.
const (
	maxStack    = 1 << 20 // values that are not yet in a list or dictionary
	maxMemo     = 1 << 21 // values that are used more than once
	maxEntries  = 1 << 25
	maxBlocks   = 1 << 23
	maxSegments = 1 << 20
	maxDevices  = 1 << 10
	maxNested   = 1 << 21 // lists in lists, dictionaries in dictionaries
)

// limits counts what was kept of a file.
type limits struct {
	entries, blocks, segments, nested int
}

func (l *limits) check() error {
	for _, c := range []struct {
		n, max int
		what   string
	}{
		{l.entries, maxEntries, "trace entries"}, {l.blocks, maxBlocks, "blocks"},
		{l.segments, maxSegments, "segments"}, {l.nested, maxNested, "nested lists and dictionaries"},
	} {
		if c.n > c.max {
			return fmt.Errorf("more than %d %s; record a shorter trace", c.max, c.what)
		}
	}
	return nil
}
