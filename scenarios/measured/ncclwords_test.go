package measured

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/interconnect/nccl"
)

func TestNCCLVariablesOfATable(t *testing.T) {
	for text, want := range map[string]nccl.Settings{
		"":                                       {},
		"default, single process":                {},
		"default (NVLS)":                         {},
		"default NCCL_DEBUG=INFO":                {},
		"NCCL_ALGO=Ring NCCL_PROTO=LL":           {Algo: []string{"ring"}, Proto: []string{"ll"}},
		"NCCL_ALGO=Ring,Tree;NCCL_PROTO=^LL":     {Algo: []string{"ring", "tree"}, Proto: []string{"LL128", "Simple"}},
		"NCCL_PROTO=LL,NCCL_MAX_NCHANNELS=2":     {Proto: []string{"ll"}, MaxChannels: 2},
		"NCCL_MIN_NCHANNELS=4, default":          {MinChannels: 4},
		"NCCL_NVLS_ENABLE=0":                     {Algo: []string{"Ring", "Tree"}},
		"NCCL_NVLS_ENABLE=1":                     {},
		"NCCL_ALGO=NVLS,Tree NCCL_NVLS_ENABLE=0": {Algo: []string{"tree"}},
		"NCCL_P2P_LEVEL=LOC":                     {P2PLevel: "LOC"},
		"nccl_p2p_disable=1":                     {P2PDisable: true},
		"NCCL_P2P_DISABLE=0":                     {},
		"NCCL_BUFFSIZE=8388608":                  {BuffSize: 8 << 20},
		"P2P off":                                {P2PDisable: true},
		"NVLS disabled (Ring)":                   {Algo: []string{"Ring", "Tree"}},
		"Ring LL128":                             {Algo: []string{"ring"}, Proto: []string{"ll128"}},
		"NVLSTree":                               {Algo: []string{"nvlstree"}},
	} {
		got, err := ncclWords(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"NCCL_CROSS_NIC=1":                  "NCCL_CROSS_NIC is not modelled",
		"NCCL_ALGO=CollNetDirect":           `"collnetdirect" is not modelled; write one of Ring`,
		"NCCL_MAX_NCHANNELS=many":           "NCCL_MAX_NCHANNELS=many",
		"NCCL_MAX_NCHANNELS=1000":           "out of range",
		"NCCL_P2P_LEVEL=FAR":                "unknown level",
		"NCCL_ALGO=NVLS NCCL_NVLS_ENABLE=0": "forces nvls and forbids it",
		"NCCL_PROTO=^LL,LL128,Simple":       "leaves nothing",
		"tuned by hand":                     `"tuned" is not understood; write default`,
	} {
		_, err := ncclWords(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// Variables change what is predicted, and a row whose variables cannot be
// honoured is skipped with the reason.
func TestNCCLVariablesAreHonoured(t *testing.T) {
	const head = "gpu_type,gpus,collective,size_bytes,time_us,algo_or_env\n"
	predict := func(env string) float64 {
		rows, err := ReadCollectives([]byte(head+"H100-SXM,8,all_reduce,1073741824,4000,\""+env+"\"\n"), "t.csv", "")
		require.NoError(t, err)
		var comms Communicators
		took, err := comms.Predict(&rows[0])
		require.NoError(t, err, env)
		return took.Seconds()
	}
	usual := predict("")
	for _, env := range []string{"NCCL_ALGO=Ring NCCL_PROTO=LL", "NCCL_MAX_NCHANNELS=2", "NCCL_NVLS_ENABLE=0",
		"NCCL_P2P_LEVEL=LOC"} {
		assert.Greater(t, predict(env), 1.05*usual, env)
	}
	rows, err := ReadCollectives([]byte(head+"H100-SXM,8,all_reduce,1024,10,NCCL_CROSS_NIC=1\n"), "t.csv", "")
	require.NoError(t, err)
	assert.Contains(t, rows[0].Skipped, "algo_or_env: NCCL_CROSS_NIC is not modelled")
}
