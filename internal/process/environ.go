package process

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// RunVariable is the variable of the environment that marks the processes of a run. Its value holds
// a token of the run, after those of the runs that this host itself is part of.
const RunVariable = "TENTERHOOK_RUN"

var (
	tokenPrefix = strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
	lastToken   atomic.Uint64
)

// newToken returns a token that no other run on this machine has. The semicolon ends it, so that no
// token is the beginning of another.
func newToken() string {
	return tokenPrefix + strconv.FormatUint(lastToken.Add(1), 10) + ";"
}

// environment returns env with the last value of each key, and the run's token in [RunVariable].
func environment(env []string, token string) []string {
	out := make([]string, len(env)+1)
	seen := make(map[string]struct{}, len(env))
	outer := ""
	free := len(out)
	for i := len(env) - 1; i >= 0; i-- {
		key, value, _ := strings.Cut(env[i], "=")
		if runtime.GOOS == "windows" {
			key = strings.ToUpper(key)
		}
		if _, dup := seen[key]; dup {
			continue
		}
		seen[key] = struct{}{}
		if key == RunVariable {
			outer = value
			continue
		}
		free--
		out[free] = env[i]
	}
	free--
	out[free] = RunVariable + "=" + outer + token
	return out[free:]
}
