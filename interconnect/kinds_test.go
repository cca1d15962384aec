package interconnect

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	for k := range Kind(len(kindNames)) {
		var back Kind
		require.NoError(t, back.UnmarshalText([]byte(k.String())))
		assert.Equal(t, k, back)
	}
	assert.Equal(t, "unknown", Kind(99).String())
	assert.Equal(t, "NV12 SYS X", fmt.Sprint(Cell{PathNVL, 12}, " ", Cell{Type: PathSYS}, " ", Cell{}))
	for _, names := range [][2]string{
		{Rail.String(), "rail"}, {OffSocket.String(), "off-socket"}, {Rails.String(), "rails"},
		{LinkSocket.String(), "socket"}, {PathPXB.String(), "PXB"},
	} {
		assert.Equal(t, names[1], names[0])
	}
}
