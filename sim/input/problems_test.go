package input

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExcerptOfALongLine(t *testing.T) {
	line := fmt.Sprintf("%0300d", 7)
	text, caret := excerpt(line, 300, 1)
	assert.Len(t, []rune(text), maxLine/2+1)
	assert.Equal(t, byte('7'), text[len(caret)-1])
	text, caret = excerpt("\ta\x00b", 4, 1)
	assert.Equal(t, " a b", text)
	assert.Equal(t, "   ^", caret)
}

// Problems stand in the order of their sources and places; the same words at the
// same place count once.
func TestProblemsAreSorted(t *testing.T) {
	first := &Source{Name: "a.toml", Text: []byte("x = 1\n\ty = é2\n")}
	second := &Source{Name: "b.toml", Text: []byte("z\n"), Order: 1}
	var p Problems
	require.NoError(t, p.Err())
	p.Add(Span{second, 0, 1}, "z", "is wrong; write %d", 3)
	p.Add(Span{first, 11, 14}, "y", "is small")
	p.Add(Span{first, 0, 1}, "x", "is wrong")
	p.Add(Span{first, 0, 1}, "x", "is wrong")
	p.AddFile(second, "is short")
	p.Add(Span{}, "", "is nowhere")
	p.Adopt(FileError("c.toml", "does not exist"), Span{first, 0, 1})
	assert.Equal(t, 6, p.Len())
	want := "is nowhere\n" +
		"a.toml:1:1: x: is wrong\n    x = 1\n    ^\n" +
		"a.toml:1:1: c.toml: does not exist\n    x = 1\n    ^\n" +
		"a.toml:2:6: y: is small\n     y = é2\n         ^~\n" +
		"b.toml: is short\n" +
		"b.toml:1:1: z: is wrong; write 3\n    z\n    ^"
	assert.EqualError(t, p.Err(), want)
}

func ExampleProblems() {
	src := &Source{Name: "job.toml", Text: []byte("tp = 3\n")}
	var p Problems
	p.Add(Span{src, 5, 6}, "parallel.tp", "%d does not divide 8; write 1, 2, 4 or 8", 3)
	fmt.Println(p.Err())
	// Output:
	// job.toml:1:6: parallel.tp: 3 does not divide 8; write 1, 2, 4 or 8
	//     tp = 3
	//          ^
}

func TestPlacesInWords(t *testing.T) {
	for want, p := range map[string]*Problem{
		"nics: is wrong": Bad("nics", "is %s", "wrong"), "line 3: is torn": {Line: 3, Text: "is torn"},
		"t.txt:3: is torn": {File: "t.txt", Line: 3, Text: "is torn"}, "t.txt:3:4: is torn": {File: "t.txt", Line: 3,
			Column: 4, Text: "is torn"},
		"s.csv: row 3: is torn": {File: "s.csv", Line: 3, At: "row 3",
			Text: "is torn"}, "t.txt: is torn": {File: "t.txt", Text: "is torn"},
	} {
		assert.EqualError(t, p, want)
	}
}

// Each takes joined errors apart, however deep; an error that is no problem has
// no key.
func TestEach(t *testing.T) {
	assert.Empty(t, Each(nil))
	a, b := Bad("a", "is 1").With("c", "d"), Bad("b", "is 2")
	all := Each(errors.Join(a, errors.Join(fmt.Errorf("reading: %w", b), errors.New("broken"))))
	assert.Equal(t, []*Problem{a, b, {Text: "broken"}}, all)
	assert.Equal(t, []string{"c", "d"}, all[0].Others())
	assert.ErrorIs(t, &Problem{Text: "x", Cause: b}, b)
}
