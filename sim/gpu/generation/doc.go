// Package generation is the table of GPU generations: what software asks of a
// GPU's compute capability beside the figures of its own data sheet. Each
// generation is one TOML file in this folder, with the sources of its figures;
// no code compares capability numbers. To add a generation, add its file: it may
// stand on another (base) and say what differs.
//
// Files in reading order: generation.go (a generation, and which one a compute
// capability belongs to), nccl.go (what NCCL's tuning knows of it), fits.go
// (how NCCL's kernels were measured to perform on its NVLinks), load.go.
package generation
