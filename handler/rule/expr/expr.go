package expr

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
)

// costLimit bounds the work of one evaluation, in CEL's own unit: some tenths of
// a second at most.
const costLimit = 3_000_000

// maxText is the size in bytes that an expression may have.
const maxText = 16 << 10

// The names beside the event's own fields.
const (
	namePayload = "payload" // the whole event
	nameEnv     = "@env"    // what env("NAME") reads
)

// facts are the names that are no fields of the event.
var facts = map[string]*cel.Type{
	namePayload: cel.MapType(cel.StringType, cel.DynType), nameEnv: cel.MapType(cel.StringType, cel.StringType),
	"git.branch": cel.StringType, "git.root": cel.StringType,
	"agent": cel.StringType, "session": cel.StringType, "workspace": cel.StringType, "user": cel.StringType, "os": cel.StringType,
	"time.now": cel.TimestampType, "time.date": cel.StringType, "time.weekday": cel.StringType,
	"time.hour": cel.IntType, "time.minute": cel.IntType,
}

// language is CEL with the names and functions of rules.
var language = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		ext.Strings(), ext.Sets(), ext.Bindings(), cel.OptionalTypes(), ext.Regex(), cel.CrossTypeNumericComparisons(true), cel.ParserExpressionSizeLimit(maxText),
		cel.Macros(append(slices.Clone(cel.StandardMacros), cel.GlobalMacro("env", 1, envMacro))...),
	}
	for name, t := range facts {
		options = append(options, cel.Variable(name, t))
	}
	for name, field := range fields() {
		options = append(options, cel.Variable(name, field.as))
	}
	return cel.NewEnv(options...)
})

// envMacro makes env("NAME") a lookup by that name.
func envMacro(factory cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	if args[0].Kind() != ast.LiteralKind || args[0].AsLiteral().Type() != types.StringType {
		return nil, factory.NewError(args[0].ID(), `env takes the name of a variable in quotes: env("HOME")`)
	}
	return factory.NewCall("_[_]", factory.NewIdent(nameEnv), args[0]), nil
}

// eventField is a field of events.
type eventField struct {
	as     *cel.Type
	zero   any // its value where the event leaves it out
	events []hook.Event
}

// fields are those of all events, by key. A key that has several types, or any,
// is dynamic.
var fields = sync.OnceValue(func() map[string]*eventField {
	all := map[string]*eventField{"hook_event_name": {as: cel.StringType, zero: ""}}
	add := func(t reflect.Type, ev hook.Event) {
		for i := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if key == "" || key == "-" {
				continue
			}
			as, zero := typeOf(t.Field(i).Type)
			if have, ok := all[key]; !ok {
				all[key] = &eventField{as: as, zero: zero}
			} else if have.as != as {
				have.as, have.zero = cel.DynType, nil
			}
			if ev != "" {
				all[key].events = append(all[key].events, ev)
			}
		}
	}
	add(reflect.TypeFor[hook.Base](), "")
	for _, info := range hook.Events() {
		add(reflect.TypeOf(hook.Blank(info.Event)), info.Event)
	}
	return all
})

func typeOf(t reflect.Type) (*cel.Type, any) {
	switch t.Kind() {
	case reflect.String:
		return cel.StringType, ""
	case reflect.Bool:
		return cel.BoolType, false
	case reflect.Int:
		return cel.IntType, int64(0)
	}
	return cel.DynType, nil
}

// Compile compiles an expression. Its names are those of [Facts] and the fields
// of its event; the error is a [*rule.SyntaxError].
func Compile(x rule.Expression) (rule.Program, error) {
	env, err := language()
	if err != nil {
		return nil, err
	}
	source := common.NewTextSource(x.Text)
	tree, issues := env.CompileSource(source)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		line, column := max(1, first.Location.Line()), max(0, first.Location.Column())
		return nil, &rule.SyntaxError{Line: line, Column: beginning(x.Text, line, column, first.Message) + 1, Message: explain(first.Message)}
	}
	c := &checker{x: x, source: source, tree: tree.NativeRep()}
	if err := c.check(); err != nil {
		return nil, err
	}
	if t := tree.OutputType(); x.Bool && !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, &rule.SyntaxError{Line: 1, Column: 1, Message: fmt.Sprintf("expected an expression that is true or false, got one of type %s", t)}
	}
	made, err := env.Program(tree, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit))
	if err != nil {
		return nil, &rule.SyntaxError{Line: 1, Column: 1, Message: explain(err.Error())}
	}
	return &program{made, x.EnvVars}, nil
}

// beginning is the column where a name begins: CEL reports that of the dot within
// an unknown one.
func beginning(text string, line, column int, message string) int {
	_, name, _ := strings.Cut(message, "undeclared reference to '")
	name, _, _ = strings.Cut(name, "'")
	lines := strings.Split(text, "\n")
	if name == "" || line > len(lines) {
		return column
	}
	runes := []rune(lines[line-1])
	for at := min(column, len(runes)); at >= 0 && column-at <= len(name); at-- {
		if strings.HasPrefix(string(runes[at:]), name) {
			return at
		}
	}
	return column
}

// explain makes one lower-case line of a message of CEL's.
func explain(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.ReplaceAll(message, " (in container '')", "")
	if message != "" {
		message = strings.ToLower(message[:1]) + message[1:]
	}
	return message
}

// checker tests the names of an expression.
type checker struct {
	x      rule.Expression
	source common.Source
	tree   *ast.AST
	err    error
}

func (c *checker) check() error {
	_, known := hook.Lookup(c.x.Event)
	ast.PreOrderVisit(c.tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			if f := fields()[e.AsIdent()]; known && f != nil && len(f.events) > 0 && !slices.Contains(f.events, c.x.Event) {
				c.fail(e, fmt.Sprintf("%s has no field %s", c.x.Event, e.AsIdent()))
			}
		case ast.CallKind:
			call := e.AsCall()
			if call.FunctionName() != "_[_]" || call.Args()[0].Kind() != ast.IdentKind || call.Args()[0].AsIdent() != nameEnv {
				return
			}
			if name, _ := call.Args()[1].AsLiteral().Value().(string); !slices.Contains(c.x.EnvVars, name) {
				c.fail(call.Args()[1], fmt.Sprintf("env(%q) is not allowed: add the name to allowed_env_vars", name))
			}
		}
	}))
	return c.err
}

func (c *checker) fail(e ast.Expr, message string) {
	if c.err != nil {
		return
	}
	at := c.tree.SourceInfo().GetStartLocation(e.ID())
	c.err = &rule.SyntaxError{Line: at.Line(), Column: at.Column() + 1, Message: message}
}

// program is a compiled expression.
type program struct {
	made    cel.Program
	envVars []string
}

// Eval evaluates the expression.
func (p *program) Eval(f *rule.Facts) (any, error) {
	names := &names{facts: f, envVars: p.envVars}
	value, _, err := p.made.Eval(names)
	if names.err != nil {
		return nil, names.err
	}
	if err != nil {
		return nil, fmt.Errorf("%s", explain(err.Error()))
	}
	switch v := value.Value().(type) {
	case bool, string, int64, float64:
		return v, nil
	}
	if value == types.NullValue {
		return nil, nil
	}
	native, err := value.ConvertToNative(types.JSONValueType)
	if err != nil {
		return nil, fmt.Errorf("its value is no JSON: %w", err)
	}
	raw, err := json.Marshal(native)
	if err != nil {
		return nil, err
	}
	var plain any
	return plain, json.Unmarshal(raw, &plain)
}
