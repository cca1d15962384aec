// Package topo reads what `nvidia-smi topo -m` prints and says what it means for
// placing work.
//
// Files in reading order: parse.go and rows.go (the table), survey.go (NVLink
// islands, the best ring, tensor-parallel groups), placement.go (in words) and
// document.go (for programs).
package topo
