package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Beside a topology the GPU says what its slots and its driver are, unless the
// scenario does.
func TestSlotsOfATopologysGPU(t *testing.T) {
	const text = "[model]\npreset = \"bert-large\"\n[cluster]\ntopology = \"testdata/topo/l40s-4gpu-2nic.txt\"\ngpu = "
	for _, test := range []struct {
		keys  string
		gen   int
		noP2P bool
	}{
		{`"h100-pcie-80gb"`, 5, false}, {`"rtx4090-24gb"`, 4, true}, {`"v100-sxm2-32gb"`, 3, false},
		{"\"rtx4090-24gb\"\npcie_gen = 3\nno_p2p = false", 3, false},
	} {
		cfg, err := LoadReader(strings.NewReader(text+test.keys+"\n"), "t.toml", nil)
		require.NoError(t, err, test.keys)
		assert.Equal(t, test.gen, cfg.Cluster.PCIeGen, test.keys)
		assert.Equal(t, test.noP2P, cfg.Cluster.NoP2P, test.keys)
		assert.Equal(t, cfg, reload(t, cfg))
	}
}
