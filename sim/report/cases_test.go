package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	named := func(name string) *Run { return &Run{Report: &Report{Scenario: map[string]any{"name": name}}} }
	var names []string
	for _, c := range Cases([]*Run{named("a"), named("b"), named("a"), named(""), named("b"), named("b")},
		[]string{"1.toml", "2.toml", "3.toml", "4.toml", "2.toml", "2.toml"}) {
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"1.toml", "2.toml", "3.toml", "4.toml", "2.toml (2)", "2.toml (3)"}, names)
	assert.Equal(t, "a", Cases([]*Run{named("a"), named("b")}, []string{"x", "x"})[0].Name)
}
