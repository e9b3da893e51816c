package match

import "testing"

// What a known program shows, looks up or records is data, and the words behind
// it start nothing. Whatever may run such text is still seen.
func TestWordsOfKnownProgramsStartNothingUnlessTheyAreRun(t *testing.T) {
	push, problems := ParseRules([]string{"Bash(git push *)"}, RuleOptions{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, test := range []struct {
		command string
		want    bool
	}{
		{`awk '{print $1}' f`, false},
		{`awk -F: '/a|b/ {print $1}' f`, false},
		{`awk '$1 || $2' f`, false},
		{`awk 'BEGIN {system("git push")}'`, true},
		{`awk '{print $1 | "git push"}' f`, true},
		{`awk '{"git push" | getline x}' f`, true},
		{`gawk 'BEGIN {f = "git push"; @f()}'`, true},
		{`awk -F: $PROGRAM f`, true},
		{`awk -v c='git push' 'BEGIN {system(c)}'`, true},
		{`gawk -e 'BEGIN {print "git push" | "sh"}'`, true},
		{`xargs -n1 git status`, false},
		{`xargs -n1 git push`, true},
		{`xargs -0 git push`, true},
		{`xargs -I{} basename {}`, false},
		{`xargs -I{} {} push`, true},
		{`xargs -n1`, false},
		{`sudo -n git status $X`, false},
		{`sudo -u git git push`, true},
		{`sudo -u git $X push`, true},
		{`sudo -n wrapper $X`, true},
		{`go list ./... | xargs go vet`, false},
		{`go vet $X`, false},
		{`go run $X`, true},
		{`go test -exec 'git push' ./...`, true},
		{`go test -toolexec="git push" ./...`, true},
		{`go vet -vettool $X`, true},
		{`go env -w CC='git push'`, true},
		{`go build -ldflags "-extld 'git push'"`, true},
		{`gcc -wrapper git,push x.c`, true},
		{`gcc -o push git.c`, false},
		{`clang-tidy --load='git push' x.c`, true},
		{`tsc --plugins 'git push'`, true},
		{`prettier --plugin='git push' x.ts`, true},
		{`prettier --write "src/**/*.{ts,tsx}"`, false},
		{`sort --compress-prog='git push' x`, true},
		{`wget --use-askpass='git push' http://localhost`, true},
		{`rg --pre 'git push' x`, true},
		{`install -s --strip-program='git push' a b`, true},
		{`ssh -o ProxyCommand='git push' h`, true},
		{`ssh -oProxyCommand='git push' h`, true},
		{`scp -o 'ProxyCommand=git push' a h:`, true},
		{`rsync -e 'git push' a h:b`, true},
		{`rsync --rsh='git push' a h:b`, true},
		{`tar xf a --to-command='git push'`, true},
		{`tar cf a --checkpoint-action=exec='git push' b`, true},
		{`tar -I 'git push' -cf a b`, true},
		{`zip a b -T -TT 'git push'`, true},
		{`git -c core.sshCommand='git push' fetch`, true},
		{`git -c core.fsmonitor='git push' status`, true},
		{`git -c diff.external='git push' diff`, true},
		{`git grep -O'git push' x`, true},
		{`git rebase -x 'git push' main`, true},
		{`sed '1e git push' x`, true},
		{`sed 's/a/git push/e' x`, true},
		{`vim -c '!git push'`, true},
		{`vim +'!git push' x`, true},
		{`man -P 'git push' ls`, true},
		{`make SHELL='git push'`, true},
		{`make -f x CC='git push'`, true},
		{`less '+!git push' x`, true},
		{`npm config set editor 'git push'`, true},
		{`cmake -P x -DCMAKE_C_COMPILER='git push'`, true},
		{`cargo --config 'build.rustc-wrapper="git push"' build`, true},
		{`ctags --options='git push'`, true},
		{`nmap --script 'os.execute("git push")'`, true},
		{`perl -e 'exec "git push"'`, true},
		{`docker build --ssh 'git push' .`, true},
		{`curl -K 'git push'`, false},
		{`eslint $FILES`, false},
		{`eslint src/*.ts`, false},
		{`pylint --init-hook 'git push' x.py`, true},
		{`rustc -C linker='git push' x.rs`, true},
		{`tool src/*.ts`, false},
		{`g?t push`, true},
		{`gh pr create -b "then git push"`, false},
		{`gh pr create --body="then git push"`, false},
		{`gh alias set x -b '!git push'`, true},
		{`gh pr create -R 'git push'`, true},
		{`echo "git push"`, false},
		{`echo "git push" | sh`, true},
		{`echo "git push" | while read l; do $l; done`, true},
	} {
		d := push.Match(inWork(t, test.command))
		if got := d.Certainty >= Suspected; got != test.want {
			t.Errorf("%s: %v, want %v: %s", test.command, got, test.want, d.By)
		}
	}
}

func TestTextIsDataUntilTheLineKeepsIt(t *testing.T) {
	for _, test := range []struct {
		command string
		want    Certainty
	}{
		{`grep -r "rm -rf /" .`, No},
		{`git commit -m "rm -rf /"`, No},
		{`git tag -a v1 -m "rm -rf /"`, No},
		{`git grep "rm -rf /"`, No},
		{`git commit -m "$(cat <<'E'` + "\nrm -rf /\nE\n" + `)"`, No},
		{`cat <<'E'` + "\nrm -rf /\nE", No},
		{`echo "rm -rf /" 2>/dev/null`, No},
		{`git -c alias.x='!rm -rf /' x`, Sure},
		{`git config alias.x '!rm -rf /'`, Sure},
		{`git rebase -x 'rm -rf /' main`, Sure},
		{`git commit -m "$(rm -rf /)"`, Sure},
		{`echo "$(rm -rf /)"`, Sure},
		{`echo "rm -rf /" | sh`, Sure},
		{`echo "rm -rf /" >> x.sh`, Suspected},
		{`{ echo "rm -rf /"; } > x.sh`, Suspected},
		{`exec > x.sh; echo "rm -rf /"; sh x.sh`, Suspected},
		{`echo "rm -rf /" | tee x.sh`, Suspected},
		{`echo "rm -rf /" | dd of=x.sh`, Suspected},
		{`sh <(echo "rm -rf /")`, Sure},
		{`ENV=<(echo "rm -rf /") sh -i`, Suspected},
		{`cat > x.sh <<'E'` + "\nrm -rf /\nE", Suspected},
		{`f() { echo "rm -rf /"; }; f | sh`, Suspected},
		{`gh pr create -b "rm -rf /"`, No},
		{`gh pr create --body="rm -rf /"`, No},
		{`gh pr create -b "rm -rf /" > x.sh`, Suspected},
		{`gh pr create --body="rm -rf /" > x.sh`, Suspected},
		{`gh alias set x '!rm -rf /'`, Suspected},
	} {
		if d := Destructive(inWork(t, test.command)); d.Certainty != test.want {
			t.Errorf("%s: %v, want %v: %s", test.command, d.Certainty, test.want, d.By)
		}
	}
}
