package hooks_test

import (
	"strings"
	"testing"
	"time"
)

var guardCases = []struct{ command, want string }{
	// The plain ones.
	{`rm -rf /`, "deny"},
	{`rm -r -f /`, "deny"},
	{`rm -fr /`, "deny"},
	{`rm --recursive --force /`, "deny"},
	{`rm --rec -f /`, "deny"},
	{`rm / -rf`, "deny"},
	{`rm -rf -- /`, "deny"},
	{`rm -rf /*`, "deny"},
	{`rm -rf //`, "deny"},
	{`rm -rf /./`, "deny"},
	{`rm -rf /tmp/../`, "deny"},
	{`rm -rf / --no-preserve-root`, "deny"},
	{`rm -rfv --no-preserve-root build`, "deny"},
	{`rm -rf ~`, "deny"},
	{`rm -rf ~/`, "deny"},
	{`rm -rf ~/*`, "deny"},
	{`rm -rf ~alice`, "deny"},
	{`rm -rf $HOME`, "deny"},
	{`rm -rf "$HOME"/*`, "deny"},
	{`rm -rf "${HOME}/"`, "deny"},
	{`rm -rf /home/alice`, "deny"},
	{`rm -rf /Users/alice/*`, "deny"},
	{`rm -rf ..`, "deny"},
	{`rm -rf ../..`, "deny"},
	{`rm -rf ../*`, "deny"},
	{`rm -rf .`, "deny"},
	{`rm -rf *`, "deny"},
	{`rm -rf ./*`, "deny"},
	{`rm -rf .* *`, "deny"},
	{`rm -rf "$PWD"/*`, "deny"},
	{`rm -rf build /etc`, "deny"},
	{`rm -rf /usr/`, "deny"},
	{`rm -rf /{bin,etc}`, "deny"},
	{`rm -rf {build,/}`, "deny"},
	{`rm -rf /b*`, "deny"},
	{`cd / && rm -rf etc`, "deny"},

	// Dressed up.
	{`sudo rm -rf /`, "deny"},
	{`sudo -u root -- rm -rf /`, "deny"},
	{`/bin/rm -rf /`, "deny"},
	{`\rm -rf /`, "deny"},
	{`r""m -r'f' "/"`, "deny"},
	{`"rm" '-rf' '/'`, "deny"},
	{"rm \\\n  -rf \\\n  /", "deny"},
	{"echo ok\nrm -rf /", "deny"},
	{"# clean up\nrm -rf / # all of it", "deny"},
	{`ls; rm -rf /`, "deny"},
	{`ls&&rm -rf /`, "deny"},
	{`ls || rm -rf /`, "deny"},
	{`ls | xargs rm -rf /`, "deny"},
	{`(rm -rf /)`, "deny"},
	{`{ rm -rf /; }`, "deny"},
	{`if true; then rm -rf /; fi`, "deny"},
	{`f() { rm -rf /; }; f`, "deny"},
	{`case x in x) rm -rf /;; esac`, "deny"},
	{`$(rm -rf /)`, "deny"},
	{`echo $(rm -rf /)`, "deny"},
	{`echo "$(rm -rf "/")"`, "deny"},
	{"echo `rm -rf /`", "deny"},
	{`cat <(rm -rf /)`, "deny"},
	{`echo ${X:-$(rm -rf /)}`, "deny"},
	{`FOO=bar rm -rf /`, "deny"},
	{`env -i A=1 rm -rf /`, "deny"},
	{`nohup nice -n 5 rm -rf / &`, "deny"},
	{`timeout 5 rm -rf /`, "deny"},
	{`bash -c 'rm -rf /'`, "deny"},
	{`sudo bash -lc "rm -rf /"`, "deny"},
	{`bash -c "bash -c 'rm -rf /'"`, "deny"},
	{`eval "rm -rf /"`, "deny"},
	{`eval rm -rf /`, "deny"},
	{`ssh host 'rm -rf /'`, "deny"},
	{`ssh host rm -rf /`, "deny"},
	{`busybox rm -rf /`, "deny"},
	{`find . -name x -exec rm -rf / \;`, "deny"},
	{"bash <<EOF\nrm -rf /\nEOF", "deny"},
	{"sudo sh <<-'END'\n\trm -rf /\n\tEND\nls", "deny"},
	{`bash <<< "rm -rf /"`, "deny"},
	{`echo "rm -rf /" | sh`, "deny"},
	{`echo rm -rf / | sudo bash -s`, "deny"},
	{`D=/; rm -rf "$D"`, "deny"},
	{`D=/ && rm -rf $D*`, "deny"},
	{`export D=/etc; rm -rf ${D}`, "deny"},
	{`F="-r -f"; rm $F /`, "deny"},
	{`rm${IFS}-rf${IFS}/`, "deny"},
	{`rm -rf / 2>/dev/null`, "deny"},
	{`rm -rf / >/dev/null 2>&1 &`, "deny"},
	{`2>/dev/null rm -rf /`, "deny"},
	{`echo 'it'"'"'s'; rm -rf /`, "deny"},
	{`echo "a\"b"; rm -rf /`, "deny"},
	{`RM -RF /`, "deny"},

	// Other ways to lose a machine.
	{`find / -delete`, "deny"},
	{`find ~ -type f -delete`, "deny"},
	{`find . -delete`, "deny"},
	{`find / -exec rm {} +`, "deny"},
	{`chmod -R 777 /`, "deny"},
	{`sudo chown -R me:me /usr`, "deny"},
	{`mkfs.ext4 /dev/sda1`, "deny"},
	{`sudo mkfs -t ext4 /dev/nvme0n1`, "deny"},
	{`wipefs -a /dev/sda`, "deny"},
	{`dd if=/dev/zero of=/dev/sda bs=1M`, "deny"},
	{`dd if=x.img of=//dev/disk2`, "deny"},
	{`cat x.img > /dev/sda`, "deny"},
	{`echo x >>/dev/nvme0n1`, "deny"},
	{`: >|/dev/sda`, "deny"},
	{`ls &>/dev/sda`, "deny"},
	{`zcat x | sudo tee /dev/mmcblk0`, "deny"},
	{`cp x.img /dev/sdb`, "deny"},
	{`shred -n 1 /dev/sda`, "deny"},
	{`mv ~ /dev/null`, "deny"},
	{`mv /* /tmp/x`, "deny"},
	{`diskutil eraseDisk JHFS+ X disk2`, "deny"},
	{`:(){ :|:& };:`, "deny"},
	{`:() { : | : & } ; :`, "deny"},
	{"bomb()\n{\n  bomb | bomb &\n}\nbomb", "deny"},
	{`git push --force origin main`, "deny"},
	{`git push -f origin HEAD:master`, "deny"},
	{`git -C repo push origin +main`, "deny"},
	{`git push origin :main`, "deny"},
	{`git push origin --delete main`, "deny"},
	{`cd x && git push -uf origin refs/heads/main`, "deny"},

	// What only a person can judge.
	{`echo "rm -rf / is dangerous"`, "none"},
	{`echo rm -rf /`, "none"},
	{`echo rm -rf / > x.sh`, "ask"},
	{`echo rm -rf / | tee x.sh`, "ask"},
	{`BASH_ENV=<(echo "rm -rf /") bash -c :`, "ask"},
	{`git commit -m "never rm -rf / again"`, "none"},
	{`python3 -c 'import os; os.system("rm -rf /")'`, "ask"},
	{"cat > clean.sh <<EOF\nrm -rf /\nEOF", "ask"},
	{`docker run --rm alpine rm -rf /`, "ask"},
	{`rm -rf $DIR`, "ask"},
	{`rm -rf "$DIR"/*`, "ask"},
	{`rm -rf $(cat list)`, "ask"},
	{`$CMD -rf /`, "ask"},
	{`rm $FLAGS /`, "ask"},
	{`rm -rf $'\x2f'`, "deny"},
	{`rm -rf /data`, "ask"},
	{`rm -rf /tmp/*`, "ask"},
	{`rm -rf ~/.ssh`, "ask"},
	{`rm -rf .git`, "ask"},
	{`ls | xargs rm -rf`, "ask"},
	{`ls | xargs -I{} rm -rf {}`, "ask"},
	{`find / -name '*.log' -delete`, "ask"},
	{`mkfs.ext4 "$DISK"`, "ask"},
	{`dd if=x of=$DISK`, "ask"},
	{`git push --force`, "ask"},
	{`git push --force-with-lease origin main`, "ask"},
	{`git push --mirror`, "ask"},

	// Everyday work.
	{`ls -la`, "none"},
	{`rm file.txt`, "none"},
	{`rm -f "$file"`, "none"},
	{`rm -rf ./build`, "none"},
	{`rm -rf build/ dist/ node_modules`, "none"},
	{`rm -rf build/*`, "none"},
	{`rm -rf *.o`, "none"},
	{`rm -rf /tmp/work-1`, "none"},
	{`rm -rf "$TMP/work-1"`, "none"},
	{`rm -rf ~/.cache/go-build`, "none"},
	{`rm -rf "*"`, "none"},
	{`rm -rf '~'`, "none"},
	{`tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT; cd "$tmp"`, "none"},
	{`cd build && rm -rf old`, "none"},
	{`git rm -r --cached .`, "none"},
	{`git rm file`, "none"},
	{`git push origin main`, "none"},
	{`git push --force origin feature/x`, "none"},
	{`git push -u origin main`, "none"},
	{`git commit -m "push --force origin main"`, "none"},
	{`docker rm -f web`, "none"},
	{`npm run rm`, "none"},
	{`find . -name '*.pyc' -delete`, "none"},
	{`find . -type d -name node_modules -exec rm -rf {} +`, "none"},
	{`find / -name rm`, "none"},
	{`chmod -R u+w build`, "none"},
	{`chmod 755 /usr/local/bin/x`, "none"},
	{`dd if=/dev/zero of=disk.img bs=1M count=10`, "none"},
	{`dd if=/dev/sda of=/dev/null`, "none"},
	{`mkfs.ext4 disk.img`, "none"},
	{`echo done > /dev/null 2>&1`, "none"},
	{`cat < /dev/sda | head -c 512`, "none"},
	{`mv * old/`, "none"},
	{`grep -rn "rm " .`, "none"},
	{`grep "$pattern" -r .`, "none"},
	{`man rm`, "none"},
	{`which rm mkfs dd`, "none"},
	{`awk '{ print $1; f(x) }' file | sort | uniq -c`, "none"},
	{`echo $((1 + 2)) "${x%/*}" $?`, "none"},
	{`for f in *.go; do gofmt -l "$f"; done`, "none"},
	{`go test ./... 2>&1 | tail -20 # not rm -rf /`, "none"},
	{``, "none"},
}

func TestGuardDestructiveJudgesTheCommand(t *testing.T) {
	judge := rules(t, "guard-destructive")
	for _, c := range guardCases {
		if got, why := judge(shell(c.command)); got != c.want {
			t.Errorf("%s\n\tgot %s, want %s: %s", c.command, got, c.want, why)
		}
	}
}

func TestGuardDestructiveReadsThePayloadItself(t *testing.T) {
	judge := rules(t, "guard-destructive")
	for _, c := range []struct{ name, payload, want string }{
		{"unicode escapes", `{"tool_input":{"command":"\u0072m -rf \u002f"}}`, "deny"},
		{"upper-case escapes", `{"tool_input":{"command":"rm\u0020-rf\u0020\u002F"}}`, "deny"},
		{"an escaped key", `{"tool_\u0069nput":{"comm\u0061nd":"rm -rf /"}}`, "deny"},
		{"an escaped slash", `{"tool_input":{"command":"rm -rf \/"}}`, "deny"},
		{"an escaped newline", `{"tool_input":{"command":"ls\nrm -rf /"}}`, "deny"},
		{"an escaped tab", `{"tool_input":{"command":"rm\t-rf\t/"}}`, "deny"},
		{"quotes and backslashes", `{"tool_input":{"command":"echo \"a\\\\\" ; rm -rf \"/\""}}`, "deny"},
		{"a string that ends in a backslash", `{"tool_input":{"a":"x\\","command":"rm -rf /"}}`, "deny"},
		{"white space everywhere", "\n{ \"tool_input\" :\r\n\t{ \"command\" : \"rm -rf /\" } }\n", "deny"},
		{"braces in strings", `{"cwd":"}{][","tool_input":{"description":"}}","command":"rm -rf /"},"x":"{"}`, "deny"},
		{"another key", `{"tool_input":{"script":"rm -rf /"}}`, "deny"},
		{"deeper", `{"tool_input":{"steps":[{"run":"ls"},{"run":"rm -rf /"}]}}`, "deny"},
		{"a list of words", `{"tool_input":{"command":["rm","-rf","/"]}}`, "deny"},
		{"a list with a script", `{"tool_input":{"command":["bash","-lc","it='s'; rm -rf /"]}}`, "deny"},
		{"an input that is text", `{"tool_input":"rm -rf /"}`, "deny"},
		{"not a command: the folder", `{"cwd":"rm -rf /","tool_input":{"command":"ls"}}`, "none"},
		{"a list in a list", `{"tool_input":{"c":[["rm","-rf","/"],["ls"]]}}`, "deny"},
		{"not a command: the description", `{"tool_input":{"command":"ls","description":"rm -rf /"}}`, "none"},
		{"an empty input", `{"tool_input":{}}`, "none"},
		{"non-ASCII text", `{"tool_input":{"command":"echo \u00e9\ud83d\ude00 é > naïve.txt"}}`, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			payload := strings.Replace(c.payload, "{", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash",`, 1)
			if got, why := judge(payload); got != c.want {
				t.Errorf("got %s, want %s: %s", got, c.want, why)
			}
		})
	}
}

// TestGuardDestructiveIsBounded: the longest commands, and the deepest, are
// answered in time.
func TestGuardDestructiveIsBounded(t *testing.T) {
	judge := rules(t, "guard-destructive")
	const size = 60_000
	for _, c := range []struct{ name, command, want string }{
		{"a long document", "cat > x <<EOF\n" + strings.Repeat("some \"text\" and it's $fine\n", size/27) + "EOF\nrm -rf /", "deny"},
		{"a long quoted word", "echo '" + strings.Repeat("x", size) + "'; rm -rf /", "deny"},
		{"many words", strings.Repeat("a ", size/2) + "; rm -rf /", "deny"},
		{"many rms", strings.Repeat("rm ", size/3), "none"},
		{"deep substitutions", strings.Repeat("$(", size/2), "ask"},
		{"deep quotes", strings.Repeat("\"$(", size/3), "ask"},
		{"many braces", "rm -rf " + strings.Repeat("{a,b}", 40), "ask"},
		{"longer than a shell takes", strings.Repeat("x", 4*size), "ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			if got, why := judge(shell(c.command)); got != c.want {
				t.Errorf("got %s, want %s: %.300s", got, c.want, why)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %s", d)
			}
		})
	}
}
