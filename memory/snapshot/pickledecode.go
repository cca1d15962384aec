package snapshot

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"trainsim/memory"
)

// readPickle decodes a snapshot. It reads the file twice: first to learn which
// values are referred to again, since only those must be remembered, then to
// build the snapshot. Nothing is imported, built or called.
func readPickle(r io.ReadSeeker) (*memory.Snapshot, error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	m := newMemo()
	length, err := referred(newPickleReader(r), m)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(start, io.SeekStart); err != nil {
		return nil, err
	}
	vm := pickleVM{p: newPickleReader(r), memo: m, length: length}
	top, err := vm.run()
	if err != nil {
		return nil, err
	}
	return vm.snapshot(top)
}

// referred notes which memo indices the pickle fetches and returns its length.
func referred(p *pickleReader, m *memo) (length int64, err error) {
	for {
		in, err := p.instr()
		if err != nil {
			return 0, err
		}
		switch in.op {
		case opBinGet, opLongBinGet, opGet:
			m.want(in.n)
			if m.n > maxMemo {
				return 0, p.fail("more than %d values are used more than once; record a shorter trace", maxMemo)
			}
		case opStop:
			return p.next, nil
		}
	}
}

// pickleVM executes the instructions of a pickle.
type pickleVM struct {
	p      *pickleReader
	length int64 // of the pickle in bytes
	memo   *memo
	puts   int64 // MEMOIZE numbers its values
	stack  []value
	marks  []int
	spare  []*dictNode
	kept   limits
}

var errShort = errors.New("an instruction lacks its operands; this is a damaged pickle")

// run executes the pickle up to its end and returns the result.
func (vm *pickleVM) run() (value, error) {
	for {
		vm.p.keep = vm.isTop(wConf)
		in, err := vm.p.instr()
		if err != nil {
			return value{}, err
		}
		if in.op == opStop {
			break
		}
		if err := vm.step(in); err != nil {
			return value{}, vm.p.fail("%w", err)
		}
		if len(vm.stack) > maxStack || len(vm.marks) > maxStack {
			return value{}, vm.p.fail("more than %d values outside lists and dictionaries", maxStack)
		}
	}
	if len(vm.stack) != 1 {
		return value{}, vm.p.fail("%d values are left at the end; this is a damaged pickle", len(vm.stack))
	}
	return vm.stack[0], nil
}

// isTop reports whether the last value is this word: of all strings, only the
// settings behind their name are kept.
func (vm *pickleVM) isTop(w word) bool {
	last := len(vm.stack) - 1
	return last >= 0 && vm.stack[last].tag == tagWord && word(vm.stack[last].n) == w
}

func (vm *pickleVM) push(v value) { vm.stack = append(vm.stack, v) }

func (vm *pickleVM) step(in pickleInstr) error {
	switch in.tag {
	case tagNothing:
		return vm.operate(in)
	case tagText:
		vm.push(value{tag: tagText, ref: in.text})
	default:
		vm.push(value{tag: in.tag, n: in.n})
	}
	return nil
}

// operate executes an instruction that is not a plain value.
func (vm *pickleVM) operate(in pickleInstr) error {
	switch in.op {
	case opMark:
		vm.marks = append(vm.marks, len(vm.stack))
	case opEmptyList:
		vm.push(value{tag: tagList, ref: &listNode{}})
	case opEmptyDict:
		vm.push(value{tag: tagDict, ref: vm.newDict()})
	case opEmptyTuple:
		vm.push(value{tag: tagOther})
	case opTuple1, opTuple2, opTuple3:
		return vm.tuple(int(in.op-opTuple1) + 1)
	case opAppend, opSetItem:
		return vm.single(in.op)
	case opAppends, opSetItems, opList, opDict, opTuple, opPopMark:
		return vm.marked(in.op)
	case opMemoize:
		vm.puts++
		return vm.put(vm.puts - 1)
	case opBinPut, opLongBinPut, opPut:
		vm.puts++
		return vm.put(in.n)
	case opBinGet, opLongBinGet, opGet:
		v, ok := vm.memo.get(in.n)
		if !ok {
			return fmt.Errorf("memo %d is used before it is set; this is a damaged pickle", in.n)
		}
		vm.push(v)
	case opPop, opDup:
		return vm.top(in.op)
	}
	return nil
}

func (vm *pickleVM) newDict() *dictNode {
	if last := len(vm.spare) - 1; last >= 0 {
		d := vm.spare[last]
		vm.spare = vm.spare[:last]
		return d
	}
	return &dictNode{}
}

// drop lets go of a value; a dictionary that nobody else has is reused.
func (vm *pickleVM) drop(v value) {
	if d, ok := v.ref.(*dictNode); ok && !d.kept && len(vm.spare) < 1<<12 {
		d.fields = d.fields[:0]
		vm.spare = append(vm.spare, d)
	}
}

func (vm *pickleVM) put(at int64) error {
	if !vm.has(1) {
		return errShort
	}
	if !vm.memo.isWanted(at) {
		return nil
	}
	v := vm.stack[len(vm.stack)-1]
	keep(v)
	vm.memo.put(at, v)
	return nil
}

func keep(v value) {
	if d, ok := v.ref.(*dictNode); ok {
		d.kept = true
	}
}

// has reports whether n values are above the latest mark.
func (vm *pickleVM) has(n int) bool {
	floor := 0
	if len(vm.marks) > 0 {
		floor = vm.marks[len(vm.marks)-1]
	}
	return len(vm.stack)-floor >= n
}

func (vm *pickleVM) top(op byte) error {
	last := len(vm.stack) - 1
	switch {
	case op == opPop && !vm.has(1) && len(vm.marks) > 0:
		vm.marks = vm.marks[:len(vm.marks)-1]
	case !vm.has(1):
		return errShort
	case op == opPop:
		vm.stack = vm.stack[:last]
	default:
		keep(vm.stack[last])
		vm.push(vm.stack[last])
	}
	return nil
}

// tuple replaces the top n values by a tuple.
func (vm *pickleVM) tuple(n int) error {
	if !vm.has(n) {
		return errShort
	}
	from := len(vm.stack) - n
	t := value{tag: tagOther}
	if n == 2 && vm.stack[from].tag == tagInt && vm.stack[from+1].tag == tagInt {
		t = value{tag: tagPair, n: vm.stack[from].n<<32 | vm.stack[from+1].n}
		if vm.stack[from].n == 0 {
			t.n = vm.stack[from+1].n
		}
	}
	vm.stack = append(vm.stack[:from], t)
	return nil
}

// single appends one value to the list, or one pair to the dictionary, below.
func (vm *pickleVM) single(op byte) error {
	n := 1
	if op == opSetItem {
		n = 2
	}
	if !vm.has(n + 1) {
		return errShort
	}
	return vm.take(len(vm.stack)-n, op == opSetItem)
}

// marked works on everything above the latest mark.
func (vm *pickleVM) marked(op byte) error {
	if len(vm.marks) == 0 {
		return errShort
	}
	from := vm.marks[len(vm.marks)-1]
	vm.marks = vm.marks[:len(vm.marks)-1]
	switch op {
	case opTuple:
		return vm.tuple(len(vm.stack) - from)
	case opPopMark:
		vm.stack = vm.stack[:from]
		return nil
	case opList, opDict:
		v := value{tag: tagList, ref: &listNode{}}
		if op == opDict {
			v = value{tag: tagDict, ref: vm.newDict()}
		}
		vm.push(v)
		copy(vm.stack[from+1:], vm.stack[from:])
		vm.stack[from] = v
		return vm.take(from+1, op == opDict)
	}
	if !vm.has(len(vm.stack) - from + 1) {
		return errShort
	}
	return vm.take(from, op == opSetItems)
}

// take moves the values from index from on into the container below them.
func (vm *pickleVM) take(from int, pairs bool) error {
	target := vm.stack[from-1]
	values := vm.stack[from:]
	vm.stack = vm.stack[:from]
	if !pairs {
		l, ok := target.ref.(*listNode)
		if !ok {
			return errors.New("elements are appended to what is not a list; this is a damaged pickle")
		}
		for _, v := range values {
			vm.appendTo(l, v)
		}
		return vm.kept.check()
	}
	d, ok := target.ref.(*dictNode)
	if !ok || len(values)%2 != 0 {
		return errors.New("fields are set in what is not a dictionary; this is a damaged pickle")
	}
	for i := 0; i < len(values); i += 2 {
		vm.setField(d, values[i], values[i+1])
	}
	return vm.kept.check()
}

// appendTo keeps what matters of a list's element.
func (vm *pickleVM) appendTo(l *listNode, v value) {
	switch ref := v.ref.(type) {
	case *listNode:
		if len(l.lists) < maxDevices {
			l.lists = append(l.lists, ref)
			vm.kept.nested++
		}
	case *dictNode:
		if e, ok := ref.entry(); ok {
			if len(l.entries) == cap(l.entries) {
				l.entries = slices.Grow(l.entries, vm.expected(len(l.entries)))
			}
			l.entries = append(l.entries, e)
			vm.kept.entries++
		} else if s, ok := ref.segment(); ok {
			l.segments = append(l.segments, s)
			vm.kept.segments++
		} else if b, ok := ref.block(); ok {
			l.blocks = append(l.blocks, b)
			vm.kept.blocks++
		}
		vm.drop(v)
	}
}

// expected estimates how many more entries a trace of n will have, from the
// part of the pickle that was read: doubling a long trace again and again
// would take several times its memory.
func (vm *pickleVM) expected(n int) int {
	const smallestEntry = 14 // bytes of a pickle
	rest := vm.length - vm.p.next
	guess := float64(n) * float64(rest) / float64(max(vm.p.next, 1))
	return min(max(int(1.1*guess), n/8, 16), int(rest/smallestEntry)+1000)
}

func (vm *pickleVM) setField(d *dictNode, key, v value) {
	if key.tag != tagWord || word(key.n) >= wSmall {
		vm.drop(v)
		return
	}
	if v.tag == tagList || v.tag == tagDict {
		vm.kept.nested++
	}
	d.set(word(key.n), v)
}
