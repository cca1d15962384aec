package snapshot

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
)

// pickler writes plain values in pickle protocol 4, restricted to the opcodes
// that memory_viz understands. Two of its habits rule out a general encoder:
// integers above 32 bits must be LONG1 (memory_viz knows no text opcodes), and
// long lists must come in batches of about a thousand. Repeated strings are
// written once.
type pickler struct {
	w    *bufio.Writer
	memo map[string]uint32
	buf  [10]byte
}

func newPickler(w io.Writer) *pickler {
	p := &pickler{w: bufio.NewWriterSize(w, 1<<16), memo: map[string]uint32{}}
	p.w.Write([]byte{opProto, 4})
	return p
}

// close ends the pickle and returns the first error of any write.
func (p *pickler) close() error {
	p.w.WriteByte(opStop)
	return p.w.Flush()
}

func (p *pickler) boolean(b bool) {
	if b {
		p.w.WriteByte(opNewTrue)
	} else {
		p.w.WriteByte(opNewFalse)
	}
}

func (p *pickler) float(x float64) {
	p.w.WriteByte(opBinFloat)
	p.w.Write(binary.BigEndian.AppendUint64(p.buf[:0], math.Float64bits(x)))
}

func (p *pickler) integer(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		p.w.Write(append(p.buf[:0], opBinInt1, byte(n)))
	case n >= 0 && n < 1<<16:
		p.w.Write(append(p.buf[:0], opBinInt2, byte(n), byte(n>>8)))
	case n == int64(int32(n)):
		p.w.Write(binary.LittleEndian.AppendUint32(append(p.buf[:0], opBinInt), uint32(n)))
	default:
		size := bits.Len64(uint64(max(n, ^n)))/8 + 1
		raw := binary.LittleEndian.AppendUint64(append(p.buf[:0], opLong1, byte(size)), uint64(n))
		p.w.Write(raw[:2+size])
	}
}

// text writes a string, which is cut at 65535 bytes.
func (p *pickler) text(s string) {
	if at, ok := p.memo[s]; ok {
		if at < 1<<8 {
			p.w.Write(append(p.buf[:0], opBinGet, byte(at)))
		} else {
			p.w.Write(binary.LittleEndian.AppendUint32(append(p.buf[:0], opLongBinGet), at))
		}
		return
	}
	p.memo[s] = uint32(len(p.memo))
	s = s[:min(len(s), math.MaxUint16)]
	if len(s) < 1<<8 {
		p.w.Write(append(p.buf[:0], opShortBinUnicode, byte(len(s))))
	} else {
		p.w.Write(binary.LittleEndian.AppendUint32(append(p.buf[:0], opBinUnicode), uint32(len(s))))
	}
	p.w.WriteString(s)
	p.w.WriteByte(opMemoize)
}

// list writes n elements in batches of a thousand, as CPython does.
func (p *pickler) list(n int, element func(i int)) {
	const batch = 1000
	p.w.WriteByte(opEmptyList)
	for from := 0; from < n; from += batch {
		p.w.WriteByte(opMark)
		for i := from; i < min(from+batch, n); i++ {
			element(i)
		}
		p.w.WriteByte(opAppends)
	}
}

// dict writes a dictionary; fields calls key and a value in turn.
func (p *pickler) dict(fields func()) {
	p.w.Write([]byte{opEmptyDict, opMark})
	fields()
	p.w.WriteByte(opSetItems)
}

func (p *pickler) field(key string, n int64) {
	p.text(key)
	p.integer(n)
}
