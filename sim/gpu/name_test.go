package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDevicesAreFoundByTheNamesInTables(t *testing.T) {
	all := presets(t)
	for name, want := range map[string]string{
		"A100-SXM4-80GB": "a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb", "H100 80GB HBM3": "h100-sxm5-80gb",
		"H200": "h200-sxm-141gb", "B200": "b200-sxm-180gb", "A100-PCIe-80GB": "a100-pcie-80gb", "rtx4090-24gb": "rtx4090-24gb",
		"NVIDIA GeForce RTX 3090": "rtx3090-24gb", "MI300X": "", "": "",
	} {
		found := ""
		for _, d := range all {
			if d.Is(name) {
				assert.Empty(t, found, "%s means two devices", name)
				found = d.Name
			}
		}
		assert.Equal(t, want, found, name)
	}
}
