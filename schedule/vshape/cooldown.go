package vshape

// coolDown lays out anew what comes after the last forward: the last input
// gradients as tight as they depend on each other, and their weight gradients
// in the gaps.
func (g *blockGrid) coolDown(m int) bool {
	p := len(g.kind)
	peak := g.peak()
	up := min((peak+1)/2, m)
	down := min(peak-up, m)
	start := -1
	for r := range g.kind {
		taken := g.takeTail(r, peak, down, up)
		if r == 0 {
			start = taken.lastUp
		}
		if !g.putTail(r, start, p, taken) {
			return false
		}
	}
	g.refillWeights()
	return g.squeeze(m)
}

// tail is what coolDown takes out of a row.
type tail struct {
	lastUp   int // slot of the last forward of chunk 1
	down, up int // input gradients of chunk 1 and of chunk 0
}

// takeTail takes the last input gradients and weight gradients out of a row.
func (g *blockGrid) takeTail(r, peak, down, up int) tail {
	row := g.kind[r]
	t := tail{lastUp: -1}
	for j := len(row) - 1; j >= 0; j-- {
		switch kind := row[j]; {
		case kind == passUp && t.lastUp < 0:
			t.lastUp = j
		case kind == passBackDown && t.down < min(r+1, down):
			row[j] = blank
			t.down++
		case kind == passBackUp && t.up < up:
			row[j] = blank
			t.up++
		}
	}
	var weights [2]int
	for j := len(row) - 1; j >= 0; j-- {
		if weights[0] >= t.down && weights[1] >= t.up && weights[0]+weights[1] >= peak {
			break
		}
		if isWeight(row[j]) {
			weights[row[j]-blockWeight]++
			row[j] = blank
		}
	}
	return t
}

// putTail puts the input gradients back, those of each chunk in every other
// slot.
func (g *blockGrid) putTail(r, start, p int, t tail) bool {
	for k := range t.up {
		if !g.putAt(r, start-r+2*p-2*k, passBackUp) {
			return false
		}
	}
	for k := range t.down {
		if !g.putAt(r, start+1+r-2*k, passBackDown) {
			return false
		}
	}
	return true
}

func (g *blockGrid) putAt(r, slot int, kind int8) bool {
	if slot < 0 {
		return false
	}
	for len(g.kind[r]) <= slot {
		g.kind[r] = append(g.kind[r], blank)
	}
	if g.kind[r][slot] != blank {
		return false
	}
	g.kind[r][slot] = kind
	return true
}

// refillWeights puts the weight gradients back into the empty slots after the
// last one that is left, chunk 1 first, and behind the row.
func (g *blockGrid) refillWeights() {
	longest := 0
	for r, row := range g.kind {
		last := -1
		for j, kind := range row {
			if isWeight(kind) {
				last = j
			}
		}
		var due [2]int
		for j, kind := range row {
			switch {
			case kind == passBackDown || kind == passBackUp:
				due[kind-passBackDown]++
			case isWeight(kind):
				due[kind-blockWeight]--
			case kind == blank && j > last:
				row[j] = takeDue(&due)
			}
		}
		for due[0] > 0 || due[1] > 0 {
			row = append(row, takeDue(&due))
		}
		g.kind[r] = row
		longest = max(longest, len(row))
	}
	for r := range g.kind {
		for len(g.kind[r]) < longest {
			g.kind[r] = append(g.kind[r], blank)
		}
	}
}

// takeDue returns the weight gradient that is due, chunk 1's first.
func takeDue(due *[2]int) int8 {
	for i := range due {
		if due[i] > 0 {
			due[i]--
			return int8(blockWeight + i)
		}
	}
	return blank
}

// relabelWeights gives the weight gradients to the input gradients in their
// order, whichever chunk they are of.
func (g *blockGrid) relabelWeights() {
	for _, row := range g.kind {
		var queue []int8
		for j, kind := range row {
			switch {
			case kind == passBackDown || kind == passBackUp:
				queue = append(queue, kind-passBackDown+blockWeight)
			case isWeight(kind) && len(queue) > 0:
				row[j] = queue[0]
				queue = queue[1:]
			}
		}
	}
}
