package trace

import (
	"fmt"
	"strings"
)

var counterNames = [...]string{"memory_by_kind", "memory_reserved", "link_rate"}

// kindNamed returns the kind of a name, "forward" for example.
func kindNamed(name string) (Kind, error) {
	i, err := unmarshalName("kind", kindNames[:], []byte(name))
	return Kind(i), err
}

// MarshalText writes the stream's name. A stream that does not exist is an error.
func (s Stream) MarshalText() ([]byte, error) {
	return marshalName("stream", streamNames[:], int(s))
}

// UnmarshalText reads a stream's name, "compute" for example.
func (s *Stream) UnmarshalText(text []byte) error {
	i, err := unmarshalName("stream", streamNames[:], text)
	*s = Stream(i)
	return err
}

// MarshalText writes the counter kind's name. A kind that does not exist is an
// error.
func (k CounterKind) MarshalText() ([]byte, error) {
	return marshalName("counter kind", counterNames[:], int(k))
}

// UnmarshalText reads a counter kind's name, "link_rate" for example.
func (k *CounterKind) UnmarshalText(text []byte) error {
	i, err := unmarshalName("counter kind", counterNames[:], text)
	*k = CounterKind(i)
	return err
}

func marshalName(what string, names []string, i int) ([]byte, error) {
	if i >= len(names) {
		return nil, fmt.Errorf("trace: %s %d does not exist; the last one is %d", what, i, len(names)-1)
	}
	return []byte(names[i]), nil
}

func unmarshalName(what string, names []string, text []byte) (int, error) {
	for i, n := range names {
		if n == string(text) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("trace: unknown %s %.40q; write one of %s", what, text, strings.Join(names, ", "))
}
