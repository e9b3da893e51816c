package match

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// lineReader reads what shell text does. Readers of text inside text share the
// line and the budget.
type lineReader struct {
	line        *line
	vars        variables
	home, cwd   string
	how         how    // for the commands of this text
	via         string // what runs this text
	depth       int    // texts inside texts
	budget      *budget
	substituted []stream // what <(…) of the current command writes
	guess       bool     // the command of this text may be no more than arguments of a known one
	said        bool     // this text is a message, a pattern, or what is shown
	functions   map[string]bool
	aliases     map[string]string
}

// budget bounds the work for one line.
type budget struct {
	bytes   int  // of text that may still be parsed
	carried int  // commands that may still be carried by others
	rests   int  // rests of commands that may still be taken down
	work    int  // bytes of words that may still be joined
	texts   int  // texts inside the line that may still be parsed
	joints  int  // pipes, && and || that may still be followed
	asked   bool // a variable was read that had no value so far
}

// What is only mentioned leaves a part of the budget for what is run.
const (
	workForRuns  = 2 * maxLine
	textsForRuns = 512
)

// charge takes the cost of reading words once off the budget, and reports
// whether there was enough left.
func (r *lineReader) charge(words []string) bool {
	if r.how == mentioned && r.budget.work < workForRuns {
		return false
	}
	for _, w := range words {
		r.budget.work -= len(w) + 8
	}
	if r.budget.work < 0 && r.how > mentioned {
		r.line.cannotRead("runs too many commands inside others")
	}
	return r.budget.work >= 0
}

// readLine reads shell text that is run in the directory cwd. file is the
// parsed text, nil if it cannot be parsed.
func readLine(text string, file *syntax.File, cwd, home string) (l *line) {
	r := newLineReader(text, cwd, home, variables{})
	defer func() {
		if recover() != nil { // a form of the syntax tree that nothing here expects
			l = r.line
			l.cannotRead("cannot be read")
		}
	}()
	r.top(text, file)
	if !r.budget.asked && len(r.aliases) == 0 && len(r.functions) == 0 {
		return r.line
	}
	// A value may be used before the line gives it, in a loop or a function.
	again := newLineReader(text, cwd, home, r.vars)
	again.functions, again.aliases = r.functions, r.aliases
	again.top(text, file)
	return again.line
}

func newLineReader(text, cwd, home string, vars variables) *lineReader {
	if cwd == "" {
		cwd = wildWordsText
	}
	if home == "" {
		home = unknownHome
	}
	return &lineReader{
		line: &line{text: text, dirs: []string{cwd}}, vars: vars, home: home, cwd: cwd, how: does,
		budget: &budget{bytes: maxLine, carried: 256, rests: 2048, work: 4 * maxLine, texts: 1024, joints: 4096}, functions: map[string]bool{}, aliases: map[string]string{},
	}
}

// unknownHome stands for a home directory that the call does not say.
const unknownHome = "/~"

// top reads the text that the call hands to the shell.
func (r *lineReader) top(text string, file *syntax.File) {
	r.line.dots = strings.Contains(text, "dotglob")
	if file == nil && unreadable(text, maxLine) == "" && strings.IndexByte(text, '\r') < 0 {
		r.line.cannotRead("cannot be parsed")
		r.rough(text)
		return
	}
	if file == nil || strings.IndexByte(text, '\r') >= 0 {
		r.read(text, stream{})
		return
	}
	r.budget.bytes -= len(text)
	r.stmts(file.Stmts, stream{})
}

// read parses text and walks over it.
func (r *lineReader) read(text string, in stream) {
	if why := unreadable(text, r.budget.bytes); why != "" {
		if r.how > mentioned {
			r.line.cannotRead(why)
		}
		return
	}
	if r.how == mentioned && r.budget.texts < textsForRuns {
		return
	}
	if r.budget.texts--; r.budget.texts < 0 {
		if r.how > mentioned {
			r.line.cannotRead("runs too many texts inside others")
		}
		return
	}
	r.budget.bytes -= len(text)
	text = strings.ReplaceAll(text, "\r", "")
	file, err := parseShell(text)
	if err != nil {
		if r.how == does {
			r.line.cannotRead("cannot be parsed")
		}
		r.rough(text)
		return
	}
	r.stmts(file.Stmts, in)
}

// unreadable says what keeps a text from being parsed, or "".
func unreadable(text string, most int) string {
	if len(text) > most {
		return "is too long to be read"
	}
	if strings.Count(text, "if")+strings.Count(text, "while")+strings.Count(text, "until") > 2*maxBrackets {
		return "is nested too deeply to be read" // parsing them is recursive too
	}
	depth, brackets := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '{' || c == '[':
			brackets++
			if depth++; depth > maxBrackets/2 || brackets > 8*maxBrackets {
				return "is nested too deeply to be read"
			}
		case c == ')' || c == '}' || c == ']':
			depth = max(depth-1, 0)
		case c < ' ' && c > wildWords && c != '\n' && c != '\t' && c != '\r', c == 0, c == 0x7f:
			return "has a control character"
		}
	}
	return ""
}

// sub returns a reader of what a command of this text runs.
func (r *lineReader) sub(h how, via string) *lineReader {
	s := *r
	s.how = min(r.how, h)
	s.via = via
	s.substituted = nil
	return &s
}

// stmts reads statements and returns what they write.
func (r *lineReader) stmts(list []*syntax.Stmt, in stream) stream {
	out := stream{present: true, known: true}
	for _, s := range list {
		one := r.stmt(s, in)
		if len(list) == 1 {
			return one
		}
		out.known = out.known && one.known
		out.text += one.text
	}
	return out
}

func (r *lineReader) stmt(s *syntax.Stmt, in stream) stream {
	nowhere := false
	for _, redir := range s.Redirs {
		from, to := r.redirect(redir)
		if from.present {
			in = from
		}
		nowhere = nowhere || to
	}
	if s.Cmd == nil {
		if len(s.Redirs) > 0 {
			return stream{present: true}
		}
		return stream{present: true, known: true}
	}
	var out stream
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		out = r.simple(call, in)
	} else {
		out = r.compoundLine(s.Cmd, in)
	}
	if nowhere {
		return stream{present: true}
	}
	return out
}

// redirect takes down the file of a redirection; from is what is read instead
// of stdin, if it is, and elsewhere says that stdout goes to a file.
func (r *lineReader) redirect(redir *syntax.Redirect) (from stream, elsewhere bool) {
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text := r.one(redir.Hdoc)[0]
		if redir.Op == syntax.DashHdoc {
			text = leadingTabs.Replace("\n" + text)[1:]
		}
		return stream{present: true, known: isPlain(text), text: text}, false
	case syntax.WordHdoc:
		text := r.one(redir.Word)[0]
		return stream{present: true, known: isPlain(text), text: text + "\n"}, false
	case syntax.DplIn, syntax.DplOut:
		target := r.one(redir.Word)[0]
		if strings.Trim(strings.TrimSuffix(target, "-"), "0123456789") == "" {
			return stream{}, false
		}
		r.line.files = append(r.line.files, file{target, true, r.how})
		return stream{}, true
	}
	writes := redir.Op != syntax.RdrIn
	for _, target := range r.one(redir.Word) {
		r.line.files = append(r.line.files, file{target, writes, r.how})
	}
	if !writes || redir.Op == syntax.RdrInOut {
		if n := len(r.substituted); n > 0 && redir.Word != nil {
			return r.substituted[n-1], false
		}
		return stream{present: true}, false
	}
	return stream{}, redir.N == nil || redir.N.Value == "1"
}

var leadingTabs = strings.NewReplacer("\n\t\t\t", "\n", "\n\t\t", "\n", "\n\t", "\n")

// compoundLine reads the commands inside a compound one.
func (r *lineReader) compoundLine(c syntax.Command, in stream) stream {
	nothing := stream{present: true}
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		if r.budget.joints--; r.budget.joints < 0 {
			if r.how > mentioned {
				r.line.cannotRead("has too many pipes and lists")
			}
			return nothing
		}
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.stmt(c.Y, r.stmt(c.X, in))
		}
		return r.stmts([]*syntax.Stmt{c.X, c.Y}, in)
	case *syntax.Subshell:
		return r.stmts(c.Stmts, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond, in)
			r.stmts(c.Then, in)
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond, in)
		r.stmts(c.Do, in)
	case *syntax.ForClause:
		r.loop(c, in)
	case *syntax.CaseClause:
		r.one(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				r.substitutions(p)
			}
			r.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		r.line.defines = true
		if c.Name != nil {
			r.functions[c.Name.Value] = true
			r.forkBomb(c)
		}
		r.stmt(c.Body, stream{})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.sub(does, "run by time").stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		r.declaration(c)
	case *syntax.TestClause:
		r.substitutions(c)
	case *syntax.ArithmCmd, *syntax.LetClause:
		r.substitutions(c)
	default:
		r.line.cannotRead("has a construct that cannot be judged")
	}
	return nothing
}

func (r *lineReader) loop(c *syntax.ForClause, in stream) {
	if words, ok := c.Loop.(*syntax.WordIter); ok {
		if !words.InPos.IsValid() {
			r.forget(words.Name.Value)
		}
		for _, item := range words.Items {
			for _, fields := range r.fields(item) {
				for _, f := range fields {
					r.vars.add(words.Name.Value, value{fields: []string{f}})
				}
			}
		}
	} else {
		r.substitutions(c.Loop)
	}
	r.stmts(c.Do, in)
}

// substitutions reads the commands that stand anywhere in a node: arithmetic, a
// test, a subscript. Text that arithmetic would evaluate is read, too.
func (r *lineReader) substitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, stream{})
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, stream{})
			return false
		case *syntax.SglQuoted:
			r.subscript(n.Value)
		case *syntax.ParamExp:
			if n.Short && n.Param != nil {
				vals, _ := r.lookup(n.Param.Value, nil)
				for _, v := range vals {
					r.subscript(v.fields...)
				}
			}
		case *syntax.Word:
			if text, ok := plainWord(n); ok {
				for _, v := range r.vars[text] {
					r.subscript(v.fields...)
				}
			}
		}
		return true
	})
}

// subscript reads the commands in text like a[$(rm x)], which test -v, printf
// -v and arithmetic run although it is quoted.
func (r *lineReader) subscript(texts ...string) {
	for _, text := range texts {
		open := strings.IndexByte(text, '[')
		if open < 0 || !strings.Contains(text[open:], "$(") && !strings.Contains(text[open:], "`") {
			continue
		}
		inner := text[open+1:]
		if end := strings.LastIndexByte(inner, ']'); end >= 0 {
			inner = inner[:end]
		}
		r.text(`: "`+strings.ReplaceAll(inner, `"`, ``)+`"`, may, "in a subscript")
	}
}

// simple reads one simple command.
func (r *lineReader) simple(c *syntax.CallExpr, in stream) stream {
	r.substituted = nil
	var late []string // words like if=x that the parser takes for assignments
	for _, a := range c.Assigns {
		for _, text := range r.assign(a) {
			if len(c.Args) > 0 && a.Pos().After(c.Args[0].Pos()) {
				late = append(late, a.Name.Value+"="+text)
			}
			r.subscript(text)
			r.environment(a.Name.Value, text, len(c.Args) > 0)
		}
	}
	if len(c.Args) == 0 {
		return stream{present: true, known: true}
	}
	lists := [][]string{nil}
	if words, ok := plainWords(c.Args); ok {
		lists[0] = words
	} else {
		for _, arg := range c.Args {
			lists = multiply(lists, r.fields(arg))
		}
	}
	for i := range lists {
		lists[i] = append(lists[i], late...)
	}
	reader := r
	if len(lists) > 1 {
		reader = r.sub(may, r.via)
		reader.substituted = r.substituted
	}
	out := stream{present: true}
	for _, words := range lists {
		if len(words) > 0 {
			out = reader.command(words, in)
		}
	}
	if len(lists) > 1 {
		return stream{present: true}
	}
	return out
}

// plainWords reads words without expansions.
func plainWords(args []*syntax.Word) ([]string, bool) {
	words := make([]string, len(args))
	for i, arg := range args {
		var ok bool
		if words[i], ok = plainWord(arg); !ok {
			return nil, false
		}
	}
	return words, true
}

// declaration reads export, declare, local and their like.
func (r *lineReader) declaration(c *syntax.DeclClause) {
	words := []string{c.Variant.Value}
	for _, a := range c.Args {
		switch {
		case a.Name == nil:
			words = append(words, r.one(a.Value)[0])
		case a.Naked:
			words = append(words, a.Name.Value)
		default:
			texts := r.assign(a)
			for _, text := range texts {
				r.subscript(text)
				r.environment(a.Name.Value, text, true)
			}
			words = append(words, a.Name.Value+"="+strings.Join(texts, " "))
		}
	}
	r.line.add(newStarted(words, r.how, r.via))
	r.subscript(words...)
}

// environment reads a variable that programs take a command from.
func (r *lineReader) environment(name, text string, handed bool) {
	if runsVariable(name) || handed && strings.ContainsAny(text, " \t\n;|&$`") {
		r.text(text, may, "in "+plain(name))
	}
}

// runsVariable knows variables whose value is run.
func runsVariable(name string) bool {
	if slices.Contains([]string{"BASH_ENV", "ENV", "LESSOPEN", "LESSCLOSE", "SHELL", "MAKEFLAGS", "LD_PRELOAD"}, name) {
		return true
	}
	for _, end := range []string{"COMMAND", "EDITOR", "PAGER", "SSH", "BROWSER", "ASKPASS", "PS0", "PS1", "PS2", "PS3", "PS4", "OPENER"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// forkBomb notes a function that starts itself twice.
func (r *lineReader) forkBomb(c *syntax.FuncDecl) {
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			if callsName(b.X, c.Name.Value) && callsName(b.Y, c.Name.Value) {
				r.line.add(newStarted([]string{forkBombName, c.Name.Value}, r.how, r.via))
			}
		}
		return true
	})
}

// forkBombName stands for a program that no file can have as its name.
const forkBombName = "fork bomb/"

func callsName(s *syntax.Stmt, name string) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && call.Args[0].Lit() == name
}
