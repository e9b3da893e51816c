// Package expr compiles the expressions of rules with CEL, the Common Expression
// Language. Its [Compile] is what handler/rule takes as its compiler. The
// language is set up at the first expression, so a program that has none does
// not pay for it.
package expr
