package input

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestQuote: up to sixty characters are quoted whole, of more the beginning.
func TestQuote(t *testing.T) {
	for _, letter := range []string{"x", "ü", "\xff"} {
		whole := strings.Repeat(letter, 60)
		require.Equal(t, whole, Clip(whole))
		cut := Clip(whole + letter)
		require.Equal(t, strings.Repeat(letter, 59)+"…", cut)
		require.Equal(t, 60, utf8.RuneCountInString(cut))
	}
	require.Equal(t, `"a\n"`, Quote("a\n"))
	require.Equal(t, `""`, Quote(""))
}

func TestSeparator(t *testing.T) {
	for line, want := range map[string]string{
		"a;b;c": "semicolons", "a\tb": "tabs", "a,b": "", "a": "", "1,5;2": "", "1,5;2;3": "semicolons", "(0F7;7B3),0F1,0B2": "",
	} {
		require.Equal(t, want, Separator(line), line)
	}
}
