package job

// Coord is a rank's place in the layout.
type Coord struct{ TP, CP, DP, PP int }

// Coord returns the place of a global rank: tensor parallel varies fastest, then
// context, data and pipeline parallel, as in Megatron-LM.
func (p *Parallel) Coord(rank int) Coord {
	c := Coord{TP: rank % p.TP}
	rank /= p.TP
	c.CP = rank % p.CP
	rank /= p.CP
	c.DP, c.PP = rank%p.DP, rank/p.DP
	return c
}

// expertCoord is a rank's place among the experts of its pipeline rank.
type expertCoord struct{ TP, EP, DP int }

// expertCoord returns the place of a global rank: the ranks of an expert vary
// fastest, then experts, then replicas, as in Megatron-Core, where tensor,
// context and data parallelism of the rest fold into these three.
func (p *Parallel) expertCoord(rank int) expertCoord {
	etp, ep := p.ExpertTP(), max(p.EP, 1)
	i := rank % p.RanksPerStage()
	return expertCoord{TP: i % etp, EP: i / etp % ep, DP: i / (etp * ep)}
}

// expertReplicas returns how many ranks of a pipeline rank hold the same
// experts.
func (p *Parallel) expertReplicas() int { return p.RanksPerStage() / (p.ExpertTP() * max(p.EP, 1)) }

// ExpertTP returns over how many ranks one expert is cut.
func (p *Parallel) ExpertTP() int {
	if p.ETP > 0 {
		return p.ETP
	}
	return p.TP
}

// RanksPerStage returns the number of pipelines that run side by side.
func (p *Parallel) RanksPerStage() int { return p.TP * p.CP * p.DP }

// World returns the number of ranks.
func (p *Parallel) World() int { return p.TP * p.PP * p.DP * p.CP }

// ends returns the pipeline ranks of the model's first and last stage.
func (j *Job) ends() (first, last int) {
	first, _ = j.Program.Owner(0, 0)
	last, _ = j.Program.Owner(0, j.Program.Stages()-1)
	return first, last
}

// Ranks returns the number of ranks of the job.
func (j *Job) Ranks() int { return j.Config.Parallel.World() }
