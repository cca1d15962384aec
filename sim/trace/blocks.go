package trace

import (
	"encoding/json"
	"fmt"
)

// Blocks is a device's caching allocator at one moment: its segments by
// ascending address, each cut into blocks.
type Blocks struct {
	Rank, Stage int
	Failed      bool // the moment is that of a failed allocation, not the peak
	Segments    [][]Block
}

// Block is a part of a segment: in use for a kind of memory ("weights",
// "activations" and so on), or idle where Kind is empty.
type Block struct {
	Bytes int64
	Kind  string
}

// maxBlocks bounds the blocks of a saved run.
const maxBlocks = 1 << 20

// savedBlocks is the saved form: kinds by number, a segment as bytes and kind in
// turns.
type savedBlocks struct {
	Rank     int       `json:"rank"`
	Stage    int       `json:"stage"`
	Failed   bool      `json:"failed"`
	Kinds    []string  `json:"kinds"`
	Segments [][]int64 `json:"segments"`
}

// MarshalJSON writes {"rank":0,...,"kinds":["","weights"],"segments":[[512,1,1024,0]]}.
func (b *Blocks) MarshalJSON() ([]byte, error) {
	s := savedBlocks{Rank: b.Rank, Stage: b.Stage, Failed: b.Failed, Segments: make([][]int64, len(b.Segments)),
		Kinds: []string{}}
	number := map[string]int64{}
	for i, blocks := range b.Segments {
		s.Segments[i] = make([]int64, 0, 2*len(blocks))
		for _, x := range blocks {
			n, ok := number[x.Kind]
			if !ok {
				n = int64(len(s.Kinds))
				number[x.Kind] = n
				s.Kinds = append(s.Kinds, x.Kind)
			}
			s.Segments[i] = append(s.Segments[i], x.Bytes, n)
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *Blocks) UnmarshalJSON(text []byte) error {
	var s savedBlocks
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*b = Blocks{Rank: s.Rank, Stage: s.Stage, Failed: s.Failed, Segments: make([][]Block, len(s.Segments))}
	left, bytes := maxBlocks, int64(0)
	for i, row := range s.Segments {
		if left -= 1 + len(row)/2; left < 0 {
			return fmt.Errorf("trace: more than %d blocks", maxBlocks)
		}
		for at := 0; at+1 < len(row); at += 2 {
			size, kind := row[at], row[at+1]
			if size < 0 || size > 1<<50 || kind < 0 || kind >= int64(len(s.Kinds)) {
				return fmt.Errorf("trace: block %d of segment %d: %d bytes of kind %d are out of range", at/2, i,
					size, kind)
			}
			if bytes += size; bytes > 1<<50 {
				return fmt.Errorf("trace: the blocks are larger than any device")
			}
			b.Segments[i] = append(b.Segments[i], Block{size, s.Kinds[kind]})
		}
	}
	return nil
}
