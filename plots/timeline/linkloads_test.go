package timeline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLinksOfEachSort(t *testing.T) {
	var loads []Link
	for i := range 20 {
		loads = append(loads, Link{Counter: i, Name: fmt.Sprintf("nvlink%d", i), Mean: 0.9 - float64(i)/100})
	}
	loads = append(loads, Link{Counter: 20, Name: "nic", Mean: 0.1})
	chosen := Busiest(loads)
	assert.Len(t, chosen, shownLinks)
	assert.Equal(t, "nic", chosen[shownLinks-1].Name)
	assert.Equal(t, "gpu->nic", sortOf("gpu12->nic3"))
	assert.Len(t, Busiest(loads[:3]), 3)
}
