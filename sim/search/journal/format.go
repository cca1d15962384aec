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

// Contents is what stands in a journal beside its rows.
type Contents struct {
	Header *Header
	// Sound is the offset behind the last whole line: what follows was torn by a
	// crash in the middle of a write.
	Sound   int64
	Damaged Damage

	key  sum      // of the rows' checksums
	keys []string // that a row has settings of
}

// Entry is a row and where it stands in a journal.
type Entry struct {
	Row    report.SweepRow
	Line   int // from 1, which is the header
	Offset int64
	Length int // in bytes, with its end

	result sum // of what the row says
}

// Damage is lines that hold no row, or one that cannot be.
type Damage struct {
	Lines int
	First int    // the number of the first of them
	Text  string // what is wrong with it
}

// String says it in words.
func (d *Damage) String() string {
	if d.Lines == 1 {
		return fmt.Sprintf("line %d is damaged: %s", d.First, d.Text)
	}
	return fmt.Sprintf("%d lines are damaged, the first is line %d: %s", d.Lines, d.First, d.Text)
}

func (d *Damage) note(line int, err error) {
	if d.Lines++; d.Lines == 1 {
		d.First, d.Text = line, err.Error()
	}
}

// Read reads a journal's header and calls each for every row, in the order of the
// file. Nothing is taken on trust: a line counts as damaged and is passed over if
// its checksum is another, or if what it says cannot be. An error means that there
// is no journal.
func Read(r io.Reader, each func(Entry) error) (*Contents, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	line, err := readLine(br)
	if err != nil {
		return nil, fmt.Errorf("its first line is cut off: %w", err)
	}
	c := &Contents{Sound: int64(len(line))}
	if c.Header, c.key, err = readHeader(line); err != nil {
		return nil, err
	}
	c.keys = c.Header.keys()
	for n := 2; ; n++ {
		line, err := readLine(br)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		e := Entry{Line: n, Offset: c.Sound, Length: len(line)}
		c.Sound += int64(len(line))
		if err := e.read(c, line); err != nil {
			c.Damaged.note(n, err)
			continue
		}
		if err := each(e); err != nil {
			return c, err
		}
	}
}

// read reads a row and checks it.
func (e *Entry) read(c *Contents, line []byte) error {
	text, _, err := unseal(c.key[:], line)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &e.Row); err != nil {
		return fmt.Errorf("it is no result: %w", err)
	}
	e.result = sumOf(nil, text)
	if err := c.Header.checkRow(&e.Row, c.keys); err != nil {
		return err
	}
	return e.Row.Check()
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
