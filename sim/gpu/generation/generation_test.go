package generation

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOf: a capability that a file lists is that file's; one between two files
// is the older one's; one below all is the oldest's.
func TestOf(t *testing.T) {
	for capability, want := range map[int]string{
		0: "ampere", 50: "pascal", 60: "pascal", 70: "volta", 75: "turing", 80: "ampere", 86: "ampere-ga10x", 89: "ada",
		90: "hopper", 100: "blackwell", 103: "blackwell", 110: "blackwell", 120: "blackwell-gb20x", 4096: "blackwell-gb20x",
	} {
		assert.Equal(t, want, Of(capability).Name, "compute capability %d", capability)
	}
}

// TestTable: every file is whole, and no two files share a capability.
func TestTable(t *testing.T) {
	seen := make(map[int]string)
	for _, g := range all() {
		assert.NotEmpty(t, g.ComputeCapabilities, g.Name)
		for _, cc := range g.ComputeCapabilities {
			assert.Empty(t, seen[cc], "compute capability %d of %s", cc, g.Name)
			seen[cc] = g.Name
		}
		for what, x := range map[string]float64{
			"cublas_workspace": float64(g.CublasWorkspace), "nvlink.line_rate": float64(g.NVLink.LineRate),
			"nccl.nvlink_speed": g.NCCL.NVLinkSpeed, "nccl.ll_one_node": g.NCCL.LLOneNode,
			"nccl.ring_ll128": g.NCCL.RingLL128.At(3), "nccl.tree_ll128": g.NCCL.TreeLL128.At(3), "nccl.tree": g.NCCL.Tree.At(3),
			"nccl.ring_nodes_latency": g.NCCL.RingNodesLatency, "fit.ll": g.NVLink.Fit.LL.Share,
			"fit.ll128": g.NVLink.Fit.LL128.Share, "fit.simple": g.NVLink.Fit.Simple.Share, "fit.direct": g.NVLink.Fit.Direct.Share,
		} {
			assert.Positive(t, x, "%s of %s", what, g.Name)
		}
		for _, speeds := range [][]float64{g.NCCL.SpeedsOneNode, g.NCCL.SpeedsNodes} {
			assert.IsDecreasing(t, speeds, g.Name)
		}
		if n := &g.NCCL.NVLS; n.Supported {
			assert.Positive(t, min(n.Efficiency, n.Tree.At(3), g.NVLink.Fit.NVLS.Share, g.NVLink.Fit.NVLSTree.Share), g.Name)
			assert.Positive(t, min(n.ChannelsOneNode, n.ChannelsNodes), g.Name)
		}
	}
	assert.Contains(t, seen, 0, "a generation for clusters that name no GPU")
}

// TestBase: what a file leaves out is its base's, what it writes its own.
func TestBase(t *testing.T) {
	ampere, volta, pascal := Of(80), Of(70), Of(60)
	assert.Equal(t, ampere.NVLink.Fit, volta.NVLink.Fit)
	assert.Equal(t, volta.NCCL.Tree, pascal.NCCL.Tree)
	assert.NotEqual(t, ampere.NCCL.Tree, volta.NCCL.Tree)
	assert.True(t, volta.NCCL.LL128)
	assert.False(t, pascal.NCCL.LL128)
	assert.Equal(t, []int{60, 61, 62}, pascal.ComputeCapabilities)
}
