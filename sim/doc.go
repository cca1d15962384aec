// Package sim is the discrete-event engine: time, events, their order, named
// random streams and units. It knows no GPU and no network.
//
// # Order
//
// Events are handled in a total order: time first; within one instant all
// events scheduled by At and After before those scheduled by AtEnd; within
// each of the two, the order in which they were scheduled. Every claim that a
// run is reproducible rests on this paragraph.
//
// # Time
//
// Time is an integer of picoseconds. A transfer's length is rounded up once,
// when the whole transfer is known, never once a hop or once a chunk.
//
// Files in reading order: time.go, engine.go, queue.go, rand.go, units.go.
package sim
