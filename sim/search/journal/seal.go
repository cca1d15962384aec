package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// sum is the checksum of a line: the first bytes of its SHA-256, which is the same
// on every machine.
type sum [8]byte

// sumOf is the checksum of a line's JSON under a key: nothing for the header, the
// header's own checksum for the rows, so that a row of another journal is none of
// this one.
func sumOf(key, text []byte) (s sum) {
	h := sha256.New()
	h.Write(key)  //nolint:errcheck // a hash does not fail
	h.Write(text) //nolint:errcheck // as above
	copy(s[:], h.Sum(nil))
	return s
}

// Before and behind the checksum, which is the last key of a line's object.
const (
	beforeSum = `,"sum":"`
	behindSum = "\"}\n"
	sealed    = len(beforeSum) + 2*len(sum{}) + len(behindSum)
)

// seal puts its checksum into a line of JSON, an object with an end of line.
func seal(key, line []byte) []byte {
	text := bytes.TrimSuffix(line, []byte("\n"))
	s := sumOf(key, text)
	out := make([]byte, 0, len(text)+sealed)
	out = append(out, text[:len(text)-1]...)
	out = append(out, beforeSum...)
	out = hex.AppendEncode(out, s[:])
	return append(out, behindSum...)
}

var (
	errNoSum    = errors.New("it does not end with a checksum")
	errWrongSum = errors.New("its checksum is another: it was changed or damaged")
)

// unseal checks the checksum of a line and returns its JSON and its checksum.
func unseal(key, line []byte) (text []byte, s sum, err error) {
	at := len(line) - sealed
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(beforeSum)) || !bytes.HasSuffix(line, []byte(behindSum)) {
		return nil, s, errNoSum
	}
	digits := line[at+len(beforeSum) : len(line)-len(behindSum)]
	if _, err := hex.Decode(s[:], digits); err != nil {
		return nil, s, errNoSum
	}
	text = append(bytes.Clone(line[:at]), '}')
	if sumOf(key, text) != s {
		return nil, s, errWrongSum
	}
	return text, s, nil
}
