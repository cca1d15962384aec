package scenarios

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryScenarioLoadsAndReloads(t *testing.T) {
	for _, name := range builtinNames(".") {
		t.Run(name, func(t *testing.T) {
			cfg, err := Load(name)
			require.NoError(t, err)
			assert.Equal(t, name, cfg.Name)
			var b bytes.Buffer
			require.NoError(t, Write(&b, cfg))
			again, err := LoadReader(&b, "resolved", nil)
			require.NoError(t, err)
			assert.Equal(t, cfg, again)
		})
	}
}
