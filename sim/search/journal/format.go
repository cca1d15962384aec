package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"trainsim/sim/report"
)

// maxLine bounds a line: a header with all values of all axes is the longest.
const maxLine = 16 << 20

// Entry is where a row stands in a journal.
type Entry struct {
	Row    report.SweepRow
	Offset int64
	Length int
}

// Read reads a journal's header and calls each for every row, in the
// order of the file. Sound is the offset behind the last whole line: what
// follows was torn by a crash in the middle of a write. Lines that hold no row
// are passed over; bad counts them. An error means that there is no journal.
func Read(r io.Reader, each func(Entry) error) (h *Header, sound int64, bad int, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	line, err := readLine(br)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("its first line is cut off: %w", err)
	}
	h = &Header{}
	if err := json.Unmarshal(line, h); err != nil || h.Schema != Schema {
		return nil, 0, 0, fmt.Errorf("it does not begin as a journal of this version (%s)", Schema)
	}
	sound = int64(len(line))
	for {
		line, err := readLine(br)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return h, sound, bad, nil
		}
		if err != nil {
			return h, sound, bad, err
		}
		e := Entry{Offset: sound, Length: len(line)}
		sound += int64(len(line))
		if json.Unmarshal(line, &e.Row) != nil || e.Row.ID == "" || e.Row.Point < 0 || e.Row.Point >= h.Points {
			bad++
			continue
		}
		if err := each(e); err != nil {
			return h, sound, bad, err
		}
	}
}

// readLine reads a line with its end. A line that just stops is
// io.ErrUnexpectedEOF, as is one that is longer than any row: both are torn.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case err == bufio.ErrBufferFull && len(line) < maxLine:
			continue
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err == io.EOF || err == bufio.ErrBufferFull:
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
}
