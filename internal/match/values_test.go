package match

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

func checkDestructive(t *testing.T, cases map[string]Certainty) {
	t.Helper()
	for command, want := range cases {
		if d := Destructive(inWork(t, command)); d.Certainty != want || d.By == "" {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

// assigned gives X as many numbers, and then rm.
func assigned(numbers int) string {
	var b strings.Builder
	for i := range numbers {
		b.WriteString("X=" + strconv.Itoa(i) + "; ")
	}
	return b.String() + "X=rm; $X -rf /"
}

func TestEachValueThatAVariableMayHaveCounts(t *testing.T) {
	checkDestructive(t, map[string]Certainty{
		"Y=ls; Y=rm; $Y -rf /":                      Suspected,
		"Y=ls; Y=rm; Z=$Y; $Z -rf /":                Suspected,
		"Y=ls; Y=rm; declare Z=$Y; $Z -rf /":        Suspected,
		"Y=ls; Y=rm; a[0]=$Y; ${a[0]} -rf /":        Suspected,
		"Y=ls; Y=rm; a=($Y); ${a[0]} -rf /":         Suspected,
		"Y=ls; Y=rm; a=(x $Y z); ${a[1]} -rf /":     Suspected,
		"Y=rm; Y=ls; a=($Y); ${a[0]} -rf /":         Suspected,
		"Y=ls; Y=cat; a=($Y); ${a[0]} -rf /":        No,
		"Y=ls; Y='rm -rf /'; sh <<< $Y":             Suspected,
		"Y='rm -rf /'; Y=ls; sh <<< $Y":             Suspected,
		"Y='rm -rf /'; sh <<< $Y":                   Sure,
		"Y=ls; sh <<< $Y":                           No,
		"Y=ls; Y='rm -rf /'; sh <<E\n$Y\nE":         Suspected,
		"Y=ls; Y='rm -rf /'; sh <<-E\n\t$Y\n\tE":    Suspected,
		"Y=ls; Y='rm -rf /'; sh <<'E'\n$Y\nE":       Suspected,
		"sh <<-E\n\trm -rf /\n\tE":                  Sure,
		assigned(13):                                Suspected,
		assigned(14):                                Suspected,
		assigned(15):                                Suspected,
		assigned(16):                                Suspected,
		assigned(30):                                Suspected,
		strings.Replace(assigned(2), "rm", "ls", 1): No,
	})
	for command, want := range map[string]string{
		"F=1; F=.env; echo x >& $F": "write! touch!", "F=.env; F=1; echo x >& $F": "write! touch!", "F=.env; F=x; echo y >& $F": "write! touch!",
		"F=1; F=2; echo x >& $F": "", "echo x >& .env": "write! touch!", "echo x 2>&1": "", "echo x 2>&-": "", "echo x 2>&1-": "",
	} {
		if got := touched(t, ".env", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// What bash evaluates as a number it looks through for subscripts, and runs the
// commands in them, quoted or not.
func TestANumberMayHaveASubscriptThatRunsACommand(t *testing.T) {
	for _, use := range []string{
		"(( X ))", "(( $X ))", "(( ${X} ))", "(( ${X:-1} ))", "echo $((X))", "echo $(($X + 1))", "echo $((${X}))", "[[ X -eq 1 ]]", "[[ $X -eq 1 ]]", "[[ ${X} -eq 1 ]]",
		"let X", "echo ${b[X]}", "echo ${b[$X]}", "echo ${b[${X}]}", "echo ${b:$X}", "b[X]=1", "b[$X]=1", "b[${X}]=1", `test -v "$X"`, `printf -v "$X" y`,
	} {
		checkDestructive(t, map[string]Certainty{
			"for X in 'a[$(rm -rf /)]'; do " + use + "; done": Suspected,
			"for X in 'a[`rm -rf /`]'; do " + use + "; done":  Suspected,
			"for X in 'a[1]'; do " + use + "; done":           No,
		})
	}
	checkDestructive(t, map[string]Certainty{"for X in 'a[$(rm -rf /)]'; do echo $X; done": No})
}

// The shell puts the values in before it reads the number, so a subscript may be in parts.
func TestANumberMayHaveASubscriptInParts(t *testing.T) {
	for _, use := range []string{
		"(( $A$B ))", "(( $A + $B ))", `(( "$A$B" ))`, "echo $(($A$B))", "echo $[$A$B]", "[[ $A$B -eq 1 ]]", `[[ "$A$B" -eq 1 ]]`,
		`let "$A$B"`, `let "$A"'-rf /)]'`, `declare -i y="$A$B"`, `test -v "$A$B"`,
	} {
		checkDestructive(t, map[string]Certainty{
			"A='a[$(rm '; B='-rf /)]'; " + use: Suspected,
			"A='a[$(ls '; B='-l /)]'; " + use:  No,
		})
	}
	checkDestructive(t, map[string]Certainty{
		"A='a[$(r'; B='m -rf /)]'; (( $A$B ))":                   Suspected,
		`A='$(rm -rf /)'; let "a[$A]"`:                           Suspected,
		`A='(rm -rf /)'; let "a[\$$A]"`:                          Suspected,
		"for A in 1 'a[$(rm '; do (( $A$B )); done; B='-rf /)]'": Suspected,
		"A='a[$(rm '; B='-rf /)]'; echo $A$B":                    No,
	})
}

// What several commands write is known if that of each is.
func TestAShellThatReadsMoreThanIsKnownIsSuspected(t *testing.T) {
	checkDestructive(t, map[string]Certainty{
		"{ foo; echo ls; } | sh":             Suspected,
		"{ echo ls; foo; } | sh":             Suspected,
		"(foo; echo ls) | sh":                Suspected,
		"if a; then foo; echo ls; fi | sh":   Suspected,
		"$(foo; echo ls) -rf /":              Suspected,
		"{ echo ls; echo id; } | sh":         No,
		"{ X=a; echo rm -rf /; } | sh":       Sure,
		"{ > x; echo rm -rf /; } | sh":       Suspected,
		"{ echo ls; echo rm -rf /; } | sh":   Sure,
		"$(command -v rm) -rf /":             Sure,
		"$(type -P rm) -rf /":                Sure,
		"$(command cat x) -rf /":             Suspected,
		"$(command printf %s%s r m) -rf /":   Suspected,
		"$(command -v ls) -rf /":             No,
		`tool "$(echo 'rm -rf /')"`:          Suspected,
		`sh -c "tool" "$(echo 'rm -rf /')"`:  No,
		`sh -c "tool x" $(echo 'rm -rf /')`:  No,
		`eval "tool $(echo "'rm -rf /'")"`:   Suspected,
		"echo 'rm -rf /' | cat; tool x":      No,
		"fd -H -x rm -rf {}":                 Suspected,
		"fd --hidden -x rm -rf {}":           Suspected,
		"fd x / -x rm -rf {}":                Suspected,
		"fd x src -x echo {}":                No,
		"fd . / -H -x sh -c 'rm -rf {}'":     Suspected,
		"fd . / src -x sh -c 'rm -rf {}'":    Suspected,
		"fd . src / -x sh -c 'rm -rf {}'":    Suspected,
		"fd -x sh -c 'ls {}; rm -rf /'":      Sure,
		"fd -x sh -c 'ls {/}; rm -rf /'":     Sure,
		"fd -x sh -c 'ls {//}; rm -rf /'":    Sure,
		"fd -x sh -c 'ls {.}; rm -rf /'":     Sure,
		"fd -x sh -c 'ls {/.}; rm -rf /'":    Sure,
		"fd -x rm -rf {}/../../../../..":     Suspected,
		"fd x src -x sh -c 'ls {}; id'":      Suspected,
		"find / -name x -delete":             Suspected,
		"find / -name '*' -delete":           Sure,
		"find / ! -name x -delete":           Sure,
		"find / -not -name x -delete":        Sure,
		"find / -depth -name x -delete":      Suspected,
		"find / -mindepth 1 -delete":         Sure,
		"echo" + strings.Repeat(" a", 32000): No,
	})
}

// A signal that is a number stands first. POSIX: -1 behind it is every process.
func TestKillEndsEveryProcessWhereMinusOneIsNoSignal(t *testing.T) {
	checkDestructive(t, map[string]Certainty{
		"kill -1 42": No, "kill -1": No, "kill 42 43": No, "kill -9 42": No, "kill %1": No, "kill -l": No, "kill -l 1": No, "kill -L 1": No, "kill --list 1": No, "kill --table": No,
		"kill -s 1 42": No, "kill -n 1 42": No, "kill --signal 1 42": No, "kill -q 1 42": No, "kill --queue 1 -9 42": No, "kill --timeout 1 9 42": No,
		"kill 42 -1": Sure, "kill -- -1": Sure, "kill -1 -1": Sure, "kill -1 1": Sure, "kill -9 42 1": Sure, "kill -9 42 -1": Sure, "kill -s KILL -1": Sure, "kill -s 1 -1": Sure, "kill -n 9 -1": Sure,
		"kill -s TERM 1": Sure, "kill --signal KILL -1": Sure, "kill --signal=KILL -1": Sure,
	})
}

func TestNamesThatAProgramTakesFromItsInputAreItsFiles(t *testing.T) {
	for command, want := range map[string]string{
		"ls .env | grep from":             "touch!",
		"ls .env | sort --from x":         "touch!",
		"ls .env | sort --files0-from=-":  "read! touch!",
		"ls .env | wc --files0-from=-":    "read! touch!",
		"ls .env | cpio -o":               "read! write touch!",
		"ls .env | tar cTf - x":           "read! touch!",
		"ls .env | tar -cf x -T -":        "read! touch!",
		"ls .env | tar -cf x --exclude=T": "touch!",
		"ls .env | zip x -@":              "read! write touch!",
		"fd -H x -x cat .env{}":           "read touch!",
		"tool a:.e%6ev":                   "",
		"cat .e%6ev":                      "",
		"tool file:///src/project/.e%6ev": "read! write touch!",
		"cat a/../.env":                   "read! touch!",
	} {
		if got := touched(t, ".env", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]string{
		"cd && cat .ssh/id_rsa": "read! touch!", "cd -- && cat .ssh/id_rsa": "read! touch!", "cd -P && cat .ssh/id_rsa": "read! touch!", "cd -L -- && cat .ssh/id_rsa": "read! touch!", "cd -P / && cat .ssh/id_rsa": "",
		"fd x ~/.ssh src -x dd if={}": "read touch!", "fd x src ~/.ssh -x dd if={}": "read touch!", "fd x src -x dd if={}": "",
		"git -C ~/.ssh show id_rsa": "read! write touch!", "tar -C ~/.ssh -cf x id_rsa": "read! touch!", "tar -C/home/alice/.ssh -cf x id_rsa": "read! touch!", "tar -C -cf x id_rsa": "",
	} {
		if got := touched(t, "~/.ssh/**", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]string{
		"env": "read touch", "env -u A": "read touch", "env -i": "", "env -": "", "env --help": "", "env --version": "", "env A=1": "read touch", "env -C x": "read touch",
	} {
		if got := touched(t, "/proc/self/environ", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// A session may have no directory and no home, or a home deeper than a path.
func TestAPathIsJudgedWhateverTheSessionHas(t *testing.T) {
	for _, tt := range []struct {
		cwd, home, command string
		want               Certainty
	}{
		{"/src/project", "/a/b/c/d/e/f/g/h/i/j/k/l", "rm -rf /etc", Sure},
		{"/src/project", "/a/b/c/d/e/f/g/h/i/j/k/l", "rm -rf /a/b/c/d/e/f/g/h/i/j/k/l", Sure},
		{"/src/project", "", "rm -rf /x/y/z", No},
		{"/src/project", "", "rm -rf /.ssh/x", No},
		{"", "", "cat a/../b", No},
		{"", "", "rm -rf a/../..", Sure},
	} {
		c := bash(t, tt.command)
		c.Cwd, c.Workspace, c.Home = tt.cwd, tt.cwd, tt.home
		if d := Destructive(c); d.Certainty != tt.want {
			t.Errorf("%s in %q of %q: %+v, want %d", tt.command, tt.cwd, tt.home, d, tt.want)
		}
	}
	c := bash(t, "cat a/../.env")
	if got := touched(t, "*.env", c); got != "read touch" {
		t.Errorf("no directory: %q", got)
	}
}

func TestALinkToWhatDoesNotExistLeadsThere(t *testing.T) {
	built.NeedsLinks(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"relative": "secret", "absolute": filepath.Join(dir, "secret"), "deep": "sub/../secret", "other": "x"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{"relative": "write! touch!", "absolute": "write! touch!", "deep": "write! touch!", "other": ""} {
		c := bash(t, "touch "+name)
		c.Cwd, c.Workspace, c.Home = dir, dir, "/home/alice"
		if got := touched(t, "secret", c); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
