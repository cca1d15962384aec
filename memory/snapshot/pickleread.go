package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"trainsim/sim/input"
)

// maxText is the longest string that a snapshot's reader keeps; longer ones
// are skipped, whatever length they claim to have.
const maxText = 4096

// pickleInstr is an instruction of a pickle with its argument.
type pickleInstr struct {
	op   byte
	tag  tag    // what kind of value it pushes, if it pushes a plain one
	n    int64  // integer, word or memo index
	text string // of tagText
}

// pickleReader splits a pickle into instructions. It refuses every one that
// could name or call Python code, and reads no more than it needs.
type pickleReader struct {
	r    *bufio.Reader
	at   int64 // offset of the instruction
	next int64 // offset behind it
	line []byte
	keep bool // whether the text of an unknown string matters
}

func newPickleReader(r io.Reader) *pickleReader {
	return &pickleReader{r: bufio.NewReaderSize(r, 1<<16)}
}

func (p *pickleReader) fail(format string, args ...any) error {
	return fmt.Errorf("pickle, byte %d: %w", p.at, fmt.Errorf(format, args...))
}

// truncated turns the end of the file into an error that says so.
func (p *pickleReader) truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.fail("the file ends in the middle; copy it again or take a new snapshot")
	}
	return p.fail("%w", err)
}

// read returns the next n <= maxText bytes, valid until the next call.
func (p *pickleReader) read(n int) ([]byte, error) {
	raw, err := p.r.Peek(n)
	if err != nil {
		return nil, p.truncated(err)
	}
	p.r.Discard(n)
	p.next += int64(n)
	return raw, nil
}

// number reads an unsigned little-endian number of n <= 8 bytes.
func (p *pickleReader) number(n int) (uint64, error) {
	raw, err := p.read(n)
	var x uint64
	for i := len(raw) - 1; i >= 0; i-- {
		x = x<<8 | uint64(raw[i])
	}
	return x, err
}

func (p *pickleReader) skip(n uint64) error {
	for n > 0 {
		step := int(min(n, 1<<30))
		done, err := p.r.Discard(step)
		p.next += int64(done)
		if err != nil {
			return p.truncated(err)
		}
		n -= uint64(step)
	}
	return nil
}

// instr reads the next instruction.
func (p *pickleReader) instr() (pickleInstr, error) {
	p.at = p.next
	op, err := p.r.ReadByte()
	if err != nil {
		return pickleInstr{}, p.truncated(err)
	}
	p.next++
	in := pickleInstr{op: op}
	switch op {
	case opNone:
		in.tag = tagOther
	case opNewTrue, opNewFalse:
		in.tag = tagBool
		if op == opNewTrue {
			in.n = 1
		}
	case opMark, opStop, opPop, opPopMark, opDup, opAppend, opAppends, opDict, opList, opTuple, opSetItem, opSetItems,
		opEmptyTuple, opEmptyList, opEmptyDict, opTuple1, opTuple2, opTuple3, opMemoize:
	default:
		err = p.argument(&in)
	}
	return in, err
}

// argument reads the argument of an instruction that has one.
func (p *pickleReader) argument(in *pickleInstr) error {
	switch in.op {
	case opProto:
		return p.protocol()
	case opFrame:
		return p.skip(8)
	case opBinInt1, opBinInt2, opBinInt:
		return p.fixed(in)
	case opLong1, opLong4:
		return p.long(in)
	case opBinFloat:
		in.tag = tagOther
		return p.skip(8)
	case opShortBinUnicode, opShortBinString:
		return p.counted(in, 1)
	case opBinUnicode, opBinString:
		return p.counted(in, 4)
	case opBinUnicode8:
		return p.counted(in, 8)
	case opShortBinBytes:
		return p.bytes(in, 1)
	case opBinBytes:
		return p.bytes(in, 4)
	case opBinBytes8:
		return p.bytes(in, 8)
	case opBinGet, opBinPut:
		return p.index(in, 1)
	case opLongBinGet, opLongBinPut:
		return p.index(in, 4)
	case opInt, opLong, opFloat, opString, opUnicode, opGet, opPut:
		return p.textual(in)
	}
	if name, ok := pickleCode[in.op]; ok {
		return p.fail("%s would run Python code; a memory snapshot is made of plain values only, so nothing of this "+
			"file was used", name)
	}
	return p.fail("unknown instruction 0x%02x; this is not a pickle, or a damaged one", in.op)
}

// pickleCode names the instructions that import, build or call Python objects.
var pickleCode = map[byte]string{
	'c': "GLOBAL", 0x93: "STACK_GLOBAL", 'R': "REDUCE", 'b': "BUILD", 'i': "INST", 'o': "OBJ", 0x81: "NEWOBJ",
	0x92: "NEWOBJ_EX", 'P': "PERSID", 'Q': "BINPERSID", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4",
}

func (p *pickleReader) protocol() error {
	v, err := p.number(1)
	if err == nil && v > 5 {
		return p.fail("protocol %d; the newest known is 5", v)
	}
	return err
}

func (p *pickleReader) fixed(in *pickleInstr) error {
	size := 4
	switch in.op {
	case opBinInt1:
		size = 1
	case opBinInt2:
		size = 2
	}
	x, err := p.number(size)
	in.tag, in.n = tagInt, int64(x)
	if in.op == opBinInt {
		in.n = int64(int32(x))
	}
	return err
}

// long reads an integer of any length; what 64 bits cannot hold is no value
// that a snapshot needs.
func (p *pickleReader) long(in *pickleInstr) error {
	width := 1
	if in.op == opLong4 {
		width = 4
	}
	size, err := p.number(width)
	if err != nil {
		return err
	}
	in.tag = tagOther
	if size > 9 {
		return p.skip(size)
	}
	raw, err := p.read(int(size))
	if err != nil {
		return err
	}
	in.n, in.tag = signedInteger(raw)
	return nil
}

// signedInteger decodes two's complement, little endian. An address in the
// upper half of 64 bits is kept as the negative number with the same bits.
func signedInteger(raw []byte) (int64, tag) {
	var buf [8]byte
	n := len(raw)
	switch {
	case n == 0:
		return 0, tagInt
	case n == 9 && raw[8] != 0:
		return 0, tagOther
	case n < 8 && raw[n-1] >= 0x80:
		binary.LittleEndian.PutUint64(buf[:], math.MaxUint64)
	}
	copy(buf[:], raw)
	return int64(binary.LittleEndian.Uint64(buf[:])), tagInt
}

func (p *pickleReader) counted(in *pickleInstr, width int) error {
	size, err := p.number(width)
	if err != nil {
		return err
	}
	if size > maxText {
		in.tag = tagOther
		return p.skip(size)
	}
	raw, err := p.read(int(size))
	if err == nil {
		p.setText(in, raw)
	}
	return err
}

// setText makes the instruction push a string: a known word, a text that
// matters, or just something.
func (p *pickleReader) setText(in *pickleInstr, raw []byte) {
	if w, ok := wordIndex[string(raw)]; ok {
		in.tag, in.n = tagWord, int64(w)
		return
	}
	in.tag = tagOther
	if p.keep {
		in.tag, in.text = tagText, string(raw)
	}
}

func (p *pickleReader) bytes(in *pickleInstr, width int) error {
	size, err := p.number(width)
	in.tag = tagOther
	if err != nil {
		return err
	}
	return p.skip(size)
}

func (p *pickleReader) index(in *pickleInstr, width int) error {
	n, err := p.number(width)
	in.n = int64(n)
	return err
}

// textual reads an instruction whose argument is a line of text, as protocol
// 0 and some libraries write them.
func (p *pickleReader) textual(in *pickleInstr) error {
	line, err := p.readLine()
	if err != nil {
		return err
	}
	in.tag = tagOther
	switch in.op {
	case opInt, opLong:
		if n := len(line); in.op == opLong && n > 0 && line[n-1] == 'L' {
			line = line[:n-1]
		}
		if n, err := strconv.ParseInt(string(line), 10, 64); err == nil {
			in.tag, in.n = tagInt, n
		}
		if in.op == opInt && (string(line) == "00" || string(line) == "01") {
			in.tag = tagBool
		}
	case opGet, opPut:
		n, err := strconv.ParseUint(string(line), 10, 32)
		if err != nil {
			return p.fail("%s is not a memo index", input.Quote(string(line)))
		}
		in.tag, in.n = tagNothing, int64(n)
	case opUnicode:
		p.setText(in, line)
	case opString:
		if n := len(line); n >= 2 && line[0] == line[n-1] {
			p.setText(in, line[1:n-1])
		}
	}
	return nil
}

// readLine returns a line without its end; long lines are cut.
func (p *pickleReader) readLine() ([]byte, error) {
	p.line = p.line[:0]
	for {
		c, err := p.r.ReadByte()
		if err != nil {
			return nil, p.truncated(err)
		}
		p.next++
		if c == '\n' {
			return p.line, nil
		}
		if len(p.line) < maxText {
			p.line = append(p.line, c)
		}
	}
}
