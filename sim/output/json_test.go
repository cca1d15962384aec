package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// JSON writes what encoding/json would.
func TestJSONAsTheLibraryIndents(t *testing.T) {
	deep := any("core")
	for range 40 {
		deep = []any{deep}
	}
	for _, v := range []any{
		nil, 1.5, "a \"quoted\" \\ {text}, [with]: signs\n<&>", []int{}, map[string]int{}, struct{}{},
		[]any{[]int{}, map[string]any{}, []any{map[string]any{"a": []int{1, 2}}}}, deep,
		map[string]any{"name": "\\", "list": []any{"}", "]", true, nil, -1e-9}, "empty": []string{}},
		json.RawMessage(`{"a" : [ 1,2 ] , "b":"\u003c"}`),
	} {
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		require.NoError(t, e.Encode(v))
		require.NoError(t, JSON(&got, v))
		assert.Equal(t, want.String(), got.String())
	}
	assert.Error(t, JSON(&bytes.Buffer{}, func() {}))
	assert.ErrorIs(t, JSON(broken{}, "x"), errBroken)
}

var errBroken = errors.New("out of paper")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
