package scenarios

import (
	"regexp"

	"trainsim/sim/framework"
	"trainsim/sim/gpu/generation"
	"trainsim/sim/input"
	"trainsim/sim/job"
	"trainsim/sim/model"
)

// usualFramework is the preset of a scenario that names none.
const usualFramework = "megatron"

// SetFramework gives a job the software of a framework preset, of a date or of
// its usual one (""). The preset, which may ask for the job's GPU and model, is
// looked for in a folder, then among the built-in ones.
func SetFramework(c *job.Config, name, date, dir string) error {
	l := newLoader(&input.Source{Name: "framework", Dir: dir})
	l.facts = &framework.Facts{
		Generation: c.GPU.Generation(), Unfused: c.Model.Attention == model.Unfused,
		RMSNorm: c.Model.Norm == model.RMSNorm, Date: date,
	}
	l.root = newTable(input.Span{}, input.Span{})
	t := newTable(input.Span{}, input.Span{})
	t.put("preset", &node{kind: stringNode, text: name})
	t.put("software_date", &node{kind: stringNode, text: date})
	l.root.put("framework", t)
	cfg := l.decode()
	if l.out.Len() > 0 {
		return problemError(l.out.All()[0])
	}
	c.Framework = cfg.Framework
	takeFlash(c)
	return nil
}

// framework lays the framework's preset under [framework]. host.framework is
// another name for framework.preset.
func (l *loader) framework() {
	t, host := l.root.table("framework"), l.root.table("host")
	name, short := l.word(t, "framework", "preset"), l.word(host, "host", "framework")
	if name != nil && short != nil {
		l.dec.fail(short.key, "host.framework",
			"is another name for framework.preset, which is given too; write one of them")
	}
	ref := presetRef{"framework", "frameworks", "framework.preset"}
	switch {
	case name != nil:
	case short != nil:
		name, ref.key = short, "host.framework"
	default:
		name = &node{kind: stringNode, text: usualFramework, preset: true}
	}
	l.checkDate(t)
	l.layPreset(t, name, ref)
}

// software fills in what the scenario leaves to its framework.
func (l *loader) software(cfg *job.Config) {
	f := &cfg.Framework
	if l.root.find("training.loss_metrics") == nil {
		cfg.Training.LossMetrics = f.LossMetrics
	}
	if l.root.find("parallel.backward_prefetch") == nil {
		cfg.Parallel.BackwardPrefetch = string(f.BackwardPrefetch)
	}
	takeFlash(cfg)
}

// takeFlash makes fused attention the framework's kernel of its time.
func takeFlash(cfg *job.Config) {
	if k := cfg.Framework.FlashKernel; cfg.Model.Attention == model.Flash && k != "" && k != framework.NewestFlash {
		cfg.Model.Attention = model.AttentionKind(k)
	}
}

var yearMonth = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])$`)

func (l *loader) checkDate(t *node) {
	if d := t.get("software_date"); d != nil && d.kind == stringNode && d.text != "" &&
		!yearMonth.MatchString(d.text) {
		l.dec.fail(d.at, "framework.software_date", "%q is not a year and month; write one as in \"2024-06\"", d.text)
	}
}

// variants lays what a framework's file says of such a job over the rest of the
// file: the [[variant]] tables whose conditions hold, later ones over earlier.
func (l *loader) variants(file *node) *node {
	list := file.get("variant")
	file.drop("variant")
	if list == nil {
		return file
	}
	if list.kind != arrayNode {
		l.out.Add(list.at, "variant", "is %s; write [[variant]] tables", list.kind)
		return file
	}
	facts := l.jobFacts()
	for _, v := range list.items {
		if v.kind != tableNode {
			l.out.Add(v.at, "variant", "is %s; write [[variant]] tables", v.kind)
			continue
		}
		when := l.when(v)
		v = v.clone()
		v.drop("when")
		if when.Holds(facts) {
			v.layUnder(file)
			file = v
		}
	}
	return file
}

// when reads the condition of a variant.
func (l *loader) when(v *node) framework.When {
	var w framework.When
	t := v.get("when")
	if t == nil || t.kind != tableNode {
		l.out.Add(v.at, "variant.when", "is missing; write a table of conditions, as in when = { fp8_gpu = true }")
		return w
	}
	yes := map[string]**bool{
		"fp8_gpu": &w.FP8, "fused_cross_entropy": &w.FusedCrossEntropy,
		"unfused_attention": &w.Unfused, "rms_norm": &w.RMSNorm,
	}
	dates := map[string]*string{"since": &w.Since, "until": &w.Until}
	for _, key := range t.keys {
		n := t.sub[key]
		switch {
		case yes[key] != nil && n.kind == boolNode:
			*yes[key] = &n.bool
		case dates[key] != nil && n.kind == stringNode && yearMonth.MatchString(n.text):
			*dates[key] = n.text
		case yes[key] != nil:
			l.out.Add(n.at, "variant.when."+key, "is %s; write true or false", n.kind)
		case dates[key] != nil:
			l.out.Add(n.at, "variant.when."+key, "is not a year and month; write one as in \"2024-06\"")
		default:
			l.out.Add(n.key, "variant.when."+key,
				"is no condition; write fp8_gpu, fused_cross_entropy, unfused_attention, rms_norm, since or until")
		}
	}
	return w
}

// jobFacts are those of the scenario, whose model and GPU are resolved.
func (l *loader) jobFacts() framework.Facts {
	if l.facts != nil {
		return *l.facts
	}
	capability := 0
	if n := l.root.find("gpu.compute_capability"); n != nil {
		capability = int(n.int)
	}
	return framework.Facts{
		Generation: generation.Of(capability),
		Unfused:    l.wordAt("model.attention") == string(model.Unfused),
		RMSNorm:    l.wordAt("model.norm") == string(model.RMSNorm),
		Date:       l.wordAt("framework.software_date"),
	}
}

// wordAt returns the string at a path, empty when there is none.
func (l *loader) wordAt(path string) string {
	if n := l.root.find(path); n != nil && (n.kind == stringNode || n.fromSet) {
		return n.text
	}
	return ""
}
