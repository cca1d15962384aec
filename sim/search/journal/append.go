package journal

import (
	"bytes"

	"trainsim/sim/output"
	"trainsim/sim/report"
)

// line is a row on its way to the disk.
type line struct {
	text  []byte
	point int
	place place
}

// Add appends a row. It returns before the row is on the disk.
func (j *Journal) Add(row *report.SweepRow) error {
	text, err := row.Line()
	if err != nil {
		return err
	}
	e := Entry{Row: *row, result: sumOf(nil, bytes.TrimSuffix(text, []byte("\n")))}
	text = seal(j.key[:], text)
	e.Length = len(text)
	select {
	case j.lines <- line{text, row.Point, placeOf(&e)}:
		return nil
	case <-j.done:
		return output.WriteError(j.path, j.err)
	}
}

// write is the goroutine that appends.
func (j *Journal) write() {
	defer close(j.done)
	for first := range j.lines {
		batch := []line{first}
		for more := true; more; {
			select {
			case l, ok := <-j.lines:
				if more = ok; ok {
					batch = append(batch, l)
				}
			default:
				more = false
			}
		}
		if j.err = j.appendAll(batch); j.err != nil {
			return
		}
	}
}

// appendAll writes rows and flushes them to the disk.
func (j *Journal) appendAll(batch []line) error {
	var text []byte
	for _, l := range batch {
		l.place.offset = j.end + int64(len(text))
		j.at[l.point] = l.place
		text = append(text, l.text...)
	}
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	j.end += int64(len(text))
	return j.file.Sync()
}

// Finish waits until everything is on the disk. No rows may be added later.
func (j *Journal) Finish() error {
	close(j.lines)
	<-j.done
	return output.WriteError(j.path, j.err)
}
