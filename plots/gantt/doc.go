// Package gantt draws pipelines: rows of boxes on an axis of time, one row a
// stage, with the streams of a stage under it. [Pipeline] reads a chart from a
// recording; a chart can also be put together by hand.
//
// Files in reading order: chart.go (rows, axes, legend), draw.go (boxes, numbers,
// ends), merge.go (boxes narrower than a dot), shares.go (streams of many short
// boxes); pipeline.go (a chart of a recording), lanes.go (the boxes of a lane),
// detail.go (what lies inside an optimizer's action).
package gantt
