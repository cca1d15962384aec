package scenarios

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/input"
)

// oracle is what go-toml's own decoder makes of a text, in the form of plain.
func oracle(text []byte) (any, error) {
	var all map[string]any
	err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &all)
	if all == nil {
		all = map[string]any{}
	}
	return simple(all), err
}

func simple(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = simple(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = simple(v[i])
		}
		return v
	case float64:
		if math.IsNaN(v) {
			return "nan"
		}
		return v
	case string, bool, int64:
		return v
	}
	return "a date"
}

// dateless replaces what the tree keeps of dates, and NaN, as simple does.
func (n *node) dateless() {
	if n.kind == dateNode {
		n.text = "a date"
	}
	if n.kind == floatNode && math.IsNaN(n.float) {
		n.kind, n.text = stringNode, "nan"
	}
	for _, k := range n.keys {
		n.sub[k].dateless()
	}
	for _, x := range n.items {
		x.dateless()
	}
}

func TestTreeHoldsWhatTheTextSays(t *testing.T) {
	for _, text := range []string{
		"", "# only a comment", "a = 1\nb.c.d = 2\nb.c.e = 3", "[a]\n[a.b]\nx = 1\n[a.c]\ny = 2",
		"[a.b.c]\nx=1\n[a]\ny=2",
		"[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3\n[[a.c]]\nz = 4", "a = [[1, 2], [3.5, 4e2], [], ['x', \"y\\n\"]]",
		"a = {b = 1, c = {d = [1, {e = 2}]}}", "x = 0xff\ny = 0o17\nz = 0b101\nu = 1_000\nv = -5\nw = +6",
		"a = 1e3\nb = -0.0\nc = inf\nd = -inf\ne = nan",
		"a = '''\nx\n'''\nb = \"\"\"x \\\n   y\"\"\"", "\"quoted key\" = 1\n'it''' = 2",
		"a = 1979-05-27\nb = 07:32:00\nc = 1979-05-27T07:32:00Z",
		"\"\" = 1", "a . b = 1", "\ufeffa = 1", "a = 1\r\nb = 2\r\n",
	} {
		want, err := oracle([]byte(text))
		got, ok := treeText([]byte(text))
		assert.Equal(t, err == nil, ok, text)
		if err == nil {
			assert.Equal(t, want, got, text)
		}
	}
}

func treeText(text []byte) (any, bool) {
	var out input.Problems
	root := parseTOML(&input.Source{Name: "test.toml", Text: text}, &out)
	if root == nil {
		return nil, false
	}
	root.dateless()
	return root.plain(), true
}

// TestWrongTOML: what go-toml refuses, the tree refuses, at the same line.
func TestWrongTOML(t *testing.T) {
	for text, line := range map[string]int{
		"a = 1\na = 2": 2, "a = 1\na.b = 2": 2, "a.b = 1\n[a]\nc = 2": 2, "[a]\n[a]": 2, "a = {b = 1}\n[a]\nc = 2": 2,
		"a = {b = 1}\na.c = 2": 2,
		"a = [1]\n[[a]]":       2, "x = 1\ny = 01": 2, "x = 1__0": 1, "x = 99999999999999999999": 1, "x = 1979-13-01": 1,
		"x = \"a": 1, "x = \"\\q\"": 1, "=": 1,
		"x": 1, "[x": 1, "x = [1, 2": 1, "x = tru": 1, "a = {b = 1, b = 2}": 1,
	} {
		_, err := oracle([]byte(text))
		require.Error(t, err, text)
		var out input.Problems
		assert.Nil(t, parseTOML(&input.Source{Name: "test.toml", Text: []byte(text)}, &out), text)
		require.NotZero(t, out.Len(), text)
		first := out.All()[0]
		assert.Equal(t, line, first.Line, "%q: %s", text, first.String())
	}
}

// TestPositions: every key and value of a tree stands where the text has it.
func TestPositions(t *testing.T) {
	text := "a = 1 # one\n[\"é\".b]\n  \"c d\" = [10, \"x\", [2]]\nd = {e = true}\n[[f]]\ng = 'h'\n"
	var out input.Problems
	root := parseTOML(&input.Source{Name: "test.toml", Text: []byte(text)}, &out)
	require.NotNil(t, root)
	at := func(s input.Span) string {
		line, column := s.Src.Position(s.Start)
		return fmt.Sprintf("%d:%d %s", line, column, s.Src.Text[s.Start:s.End])
	}
	b := root.get("é").get("b")
	assert.Equal(t, "1:1 a", at(root.get("a").key))
	assert.Equal(t, "1:5 1", at(root.get("a").at))
	assert.Equal(t, "2:6 b", at(b.key))
	assert.Equal(t, "3:3 \"c d\"", at(b.get("c d").key))
	assert.Equal(t, "3:11 [10, \"x\", [2]]", at(b.get("c d").at))
	assert.Equal(t, "3:12 10", at(b.get("c d").items[0].at))
	assert.Equal(t, "3:16 \"x\"", at(b.get("c d").items[1].at))
	assert.Equal(t, "4:6 e", at(b.get("d").get("e").key))
	assert.Equal(t, "4:10 true", at(b.get("d").get("e").at))
	assert.Equal(t, "6:5 'h'", at(root.get("f").items[0].get("g").at))
}

// FuzzParse: the tree agrees with go-toml's decoder, and what is written from it
// reads back the same.
func FuzzParse(f *testing.F) {
	seed(f, "*.toml")
	seed(f, "models/*.toml")
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := treeText(text)
		if !ok {
			return
		}
		want, err := oracle(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
