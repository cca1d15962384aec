// Package account accounts for the memory of a job. It replays the allocations
// of one rank of every pipeline rank through the caching allocator, in program
// order, which needs no clock.
package account
