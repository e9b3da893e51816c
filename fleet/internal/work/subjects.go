package work

import (
	"time"

	"github.com/tenterhook/tenterhook/internal/jobs"
)

// MaxTries is how often a job is given to a worker. With three, jobs that did nothing
// wrong were buried beside ones that kill every worker.
const MaxTries = 5

// DefaultSilence is how long a worker may be silent before its job is given to another.
const DefaultSilence = 30 * time.Second

func subject(machine string, j *jobs.Job) string { return "jobs." + machine + "." + j.Queue }

// key is that of a result in the bucket.
func key(machine, id string) string { return machine + "." + id }
