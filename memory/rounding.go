package memory

import "math/bits"

// The allocator's own sizes in bytes (CUDACachingAllocator.cpp).
const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30

	minBlock      = 512      // every block is a multiple of it
	smallMax      = mib      // the largest rounded size of the small pool
	smallSegment  = 2 * mib  // segment and granule of the small pool
	largeSegment  = 20 * mib // segment of requests below largeExact; granule
	largeExact    = 10 * mib // from here a segment is made for its request
	segmentMultip = 2 * mib  // what such a segment is rounded up to
	maxRequest    = int64(1) << 60
)

// roundUp returns the smallest multiple of step that is at least n.
func roundUp(n, step int64) int64 { return (n + step - 1) / step * step }

// round returns the block size for a request of n bytes, 0 < n < 2^60.
func (c *Conf) round(n int64) int64 {
	if n < minBlock {
		return minBlock
	}
	if c.rounds {
		if d := c.Divisions[bucket(n)]; d > 1 && n > minBlock*d {
			return roundDivision(n, d)
		}
	}
	return (n + minBlock - 1) &^ (minBlock - 1)
}

// roundDivision rounds n up to the next of the d equal parts into which the
// range between two powers of two is divided. d is a power of two.
func roundDivision(n, d int64) int64 {
	floor := int64(1) << (bits.Len64(uint64(n)) - 1)
	if n == floor {
		return n
	}
	step := floor >> (bits.Len64(uint64(d)) - 1)
	if step == 0 {
		return 2 * floor
	}
	return (n + step - 1) &^ (step - 1)
}

// bucket returns which entry of Conf.Divisions covers n: i for
// [2^i MiB, 2^(i+1) MiB), with everything below and above in the outer ones.
func bucket(n int64) int {
	i := bits.Len64(uint64(n)) - 1 - 20
	return min(max(i, 0), len(Conf{}.Divisions)-1)
}

// segmentSize returns the size of the segment that is asked from the driver
// for a rounded size.
func segmentSize(size int64) int64 {
	switch {
	case size <= smallMax:
		return smallSegment
	case size < largeExact:
		return largeSegment
	}
	return roundUp(size, segmentMultip)
}
