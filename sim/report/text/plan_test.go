package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/sim/report"
	"trainsim/sim/report/text"
)

func TestPlanWithoutALayout(t *testing.T) {
	var b strings.Builder
	require.NoError(t, text.Plan(&b, report.NewPlan("s", 8, nil, nil)))
	assert.Contains(t, b.String(), "No layout fits.")
}
