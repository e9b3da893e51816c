package match

import (
	"errors"
	"testing"
)

// Go's engine runs in linear time, so each expression that it understands as
// JavaScript does is its own. The other engine has all that Go lacks.
func TestGoRunsEachExpressionThatItUnderstandsAsJavaScriptDoes(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		linear  bool
	}{
		{`a`, true}, {`a|b`, true}, {`^a$`, true}, {`(a)`, true}, {`(?:a)`, true}, {`(?<n>a)`, true}, {`a.b`, true}, {`é`, true}, {`\-\.`, true},
		{`\d\D\w\W`, true}, {`\ba\B`, true}, {`a*b+c?`, true}, {`a*?`, true}, {`a{2}b{2,}c{2,3}`, true}, {`a{,2}`, true}, {`{`, true},
		{`a{100}`, true}, {`a{1,100}`, true}, {`a{101}`, false}, {`a{1,101}`, false}, {`a{101,}`, false},
		{`[ab]`, true}, {`[^ab]`, true}, {`[a-z]`, true}, {`[-a]`, true}, {`[a-]`, true}, {`[\d-]`, true}, {`[\w\W]`, true}, {`[\-\]\é]`, false}, {`[\-\]]`, true}, {`[é]`, true}, {`[[]`, true},
		{`[]`, false}, {`[^]`, false}, {`[\s]`, false}, {`[\S]`, false}, {`[\d-z]`, false}, {`[a-\d]`, false}, {`[\b]`, false}, {`[\x41]`, false}, {`[\k]`, false},
		{`\s`, false}, {`\S`, false}, {`\n`, false}, {`\x41`, false}, {`\1`, false}, {`\k`, false}, {`\é`, false},
		{`(?=a)`, false}, {`(?!a)`, false}, {`(?<=a)`, false}, {`(?<!a)`, false}, {`(?i:a)`, false}, {`(?<n>a)|(?<n>b)`, false}, {"\U0001F600", false}, {"\xff", false},
	} {
		e := readExpression(tt.pattern)
		if e.err != nil || (e.linear != "") != tt.linear {
			t.Errorf("%s: %+v, want that Go runs it: %v", tt.pattern, e, tt.linear)
		}
	}
}

func TestExpressionsAreReadToTheirLastByte(t *testing.T) {
	for pattern, want := range map[string]error{
		`(?i:)`: nil, `(?i:(a))`: nil, `(?i-m:a)\b`: nil, `(?:)`: nil, `(?=)`: nil, `(?!)`: nil, `(?<=)`: nil, `(?<!)`: nil, `(?<n>)`: nil, `()`: nil, `(?=a)(?!b)(?<=c)(?<!d)`: nil,
		`\k`: nil, `\k<n>`: nil, `(?<n>a)\k<n>`: nil, `(?<n>a)\k`: errReference, `(?<n>a)\k<m>`: errReference, `(?<n>a)[\k]`: errReference, `(?<n>a)\ka`: errReference,
		`[\c`: errUnclosedClass, `[\ca]`: nil, `[\c]`: nil, `[\x`: errUnclosedClass, `[\x4`: errUnclosedClass, `[\u004`: errUnclosedClass, `[\1`: errUnclosedClass, `[\`: errTrailingEscape, `\`: errTrailingEscape,
		`[\x41-\x40]`: errRange, `[\x40-\x41]`: nil, `[\u0041-\u0040]`: errRange, `[\101-\100]`: errRange, `[\77-\76]`: errRange, `[\400-1]`: nil, `[\cB-\cA]`: errRange, `[\n-\t]`: errRange, `[\r-\f]`: errRange, `[\v-\b]`: errRange, `[b-a]`: errRange, `[a-a]`: nil, `[a-b-a]`: nil,
		`(?i)a`: errInlineFlags, `(?-i)a`: errInlineFlags, `(?P<n>a)`: errGroup, `(?ii:a)`: errGroup, `(?i--m:a)`: errGroup, `(?-:a)`: errGroup, `(?x:a)`: errGroup, `(?>a)`: errGroup, `(?#a)`: errGroup,
		`(?<>a)`: errGroupName, `(?<1>a)`: errGroupName, `(?<a1>a)`: nil, `(?<$>a)`: nil, `(?<_a>a)`: nil, `(?<a-b>a)`: errGroupName, `(?<a`: errGroupName,
		`a**`: errNothingToRepeat, `a*?*`: errNothingToRepeat, `^*`: errNothingToRepeat, `$+`: errNothingToRepeat, `\b*`: errNothingToRepeat, `(?<=a)*`: errNothingToRepeat, `(?=a)*`: nil, `(a)*`: nil, `|*`: errNothingToRepeat, `(*`: errNothingToRepeat, `[a]*`: nil, `.*`: nil, `\d*`: nil, `{*`: nil,
		`a{2,1}`: errCount, `a{1,1}`: nil, `a{0}`: nil, `a{1`: nil, `a{1}{1}`: errNothingToRepeat, `a{x}`: nil, `a{1,x}`: nil, `{1}`: errNothingToRepeat,
		`)`: errUnopenedGroup, `(`: errUnclosedGroup, `(a))`: errUnopenedGroup, `((a)`: errUnclosedGroup, `[a`: errUnclosedClass,
	} {
		e := readExpression(pattern)
		if !errors.Is(e.err, want) {
			t.Errorf("%s: %v, want %v", pattern, e.err, want)
		}
	}
}
