package vshape

// run builds the lists of all ranks.
func (s *greedy) run() error {
	s.warmUp()
	s.levelForwards()
	for range 2 * s.m {
		if err := s.req.Err(); err != nil {
			return err
		}
		s.backwardRound()
		s.forwardRound()
	}
	for r := range s.ranks {
		for len(s.ranks[r].pending) > 0 {
			s.ranks[r].putWeight()
		}
	}
	return nil
}

// warmUp runs the first micro-batch down and up the ranks. While it is on its
// way up, each rank and those before it take more micro-batches, as long as
// they fit before it arrives and in memory.
func (s *greedy) warmUp() {
	p := len(s.ranks)
	for r := range s.ranks {
		s.put(r, passDown)
	}
	s.put(p-1, passUp)
	for r := p - 2; r >= 0; r-- {
		rank := &s.ranks[r]
		arrival, _ := s.remote(r, passUp)
		for rank.live+2+2*r <= s.limit && rank.clock+rank.cost[0].Forward <= arrival && rank.count[passDown] < s.m {
			for j := range r + 1 {
				s.put(j, passDown)
			}
		}
		s.put(r, passUp)
	}
}

// levelForwards lets the later ranks catch up, so that none has run fewer
// forwards than the rank before it.
func (s *greedy) levelForwards() {
	pass := passDown
	for r := 1; r < len(s.ranks); r++ {
		for s.behind(r) {
			progress := false
			for range 2 {
				progress = s.forwardFrom(r, pass) || progress
				pass = passUp - pass
				if !s.behind(r) {
					break
				}
			}
			if !progress {
				return
			}
		}
	}
}

// forwardFrom runs one forward of a chunk on rank r and all ranks after it,
// last rank first, where its input is there.
func (s *greedy) forwardFrom(r, pass int) (progress bool) {
	for j := len(s.ranks) - 1; j >= r; j-- {
		if s.available(j, pass) {
			s.put(j, pass)
			progress = true
		}
	}
	return progress
}

// behind reports whether a rank has run fewer forwards than the one before it,
// in all or on the chunk of the way up.
func (s *greedy) behind(r int) bool {
	a, b := &s.ranks[r].count, &s.ranks[r-1].count
	if a[passDown]+a[passUp] < b[passDown]+b[passUp] {
		return true
	}
	return a[passUp] <= b[passUp] && b[passUp] < s.m
}

// backwardRound gives every rank an input gradient: first the ranks that go on
// with one from the rank after, last rank first, then those that go on with
// one from the rank before.
func (s *greedy) backwardRound() {
	up := make([]bool, len(s.ranks))
	for r := range s.ranks {
		up[r] = s.prefersUp(r)
	}
	for r := len(s.ranks) - 1; r >= 0; r-- {
		if up[r] {
			s.backward(r, passBackUp, true)
		}
	}
	for r := range s.ranks {
		if !up[r] {
			s.backward(r, passBackDown, s.fillBackward)
		}
	}
}

// prefersUp reports whether a rank's next input gradient is that of chunk 0.
func (s *greedy) prefersUp(r int) bool {
	count := &s.ranks[r].count
	switch {
	case count[passBackUp] >= count[passBackDown]:
		return false
	case r == len(s.ranks)-1:
		return true
	}
	return s.available(r, passBackUp) || count[passBackDown] >= s.m
}

func (s *greedy) backward(r, pass int, force bool) {
	if !s.available(r, pass) {
		return
	}
	s.prepare(r, pass, force)
	s.put(r, pass)
}

// forwardRound gives every rank a forward: of the way up if one is there, else
// of the way down.
func (s *greedy) forwardRound() {
	for r := range s.ranks {
		pass, ok := s.nextForward(r)
		if !ok {
			continue
		}
		rank := &s.ranks[r]
		for rank.live+1 > s.limit && len(rank.pending) > 0 {
			rank.putWeight()
		}
		s.prepare(r, pass, s.fillForward)
		s.put(r, pass)
	}
}

func (s *greedy) nextForward(r int) (pass int, ok bool) {
	for _, pass := range []int{passUp, passDown} {
		if s.available(r, pass) {
			return pass, true
		}
	}
	return 0, false
}
