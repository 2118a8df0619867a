package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// decimal is the one way to write an integer: YAML's own 0443 is octal, +443
// and 4_43 are integers too, and none of them is what their author meant.
var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

var (
	durationType = reflect.TypeFor[time.Duration]()
	nodeType     = reflect.TypeFor[ast.Node]() // kept as it is, for a second step
)

// decoder fills Go values from a syntax tree. goccy's own strict decoder ends
// at the first error; this one goes on, and remembers the line of every field.
type decoder struct {
	file     string
	lines    map[string]int
	problems []Problem
	mistyped []string // fields that are missing since their key is mistyped
}

func (d *decoder) problem(line int, field, message, fix string) {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Field: field, Message: message, Fix: fix})
}

// decode sets v, which must be settable, from n. A null leaves the zero value.
func (d *decoder) decode(n ast.Node, v reflect.Value, field string) {
	if n == nil || n.Type() == ast.NullType {
		return
	}
	switch {
	case v.Type() == nodeType:
		v.Set(reflect.ValueOf(n))
		return
	case v.Type() == durationType:
		d.duration(n, v, field)
		return
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(n, v.Elem(), field)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v, field)
	case reflect.Slice:
		d.list(n, v, field)
	case reflect.Map:
		d.table(n, v, field)
	case reflect.String:
		if s, ok := text(n); ok {
			v.SetString(s)
			return
		}
		d.wrong(n, field, "a string", quoteHint(n))
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			return
		}
		d.wrong(n, field, "true or false", "")
	case reflect.Int, reflect.Int64:
		d.integer(n, v, field)
	}
}

func (d *decoder) integer(n ast.Node, v reflect.Value, field string) {
	node, ok := n.(*ast.IntegerNode)
	if !ok {
		d.wrong(n, field, "an integer", "")
		return
	}
	digits := node.Token.Value
	if !decimal.MatchString(digits) {
		d.problem(lineOf(n), field, fmt.Sprintf("%s is not a plain decimal number", digits), "write it without sign, leading zero or prefix")
		return
	}
	i, err := strconv.ParseInt(digits, 10, v.Type().Bits())
	if err != nil {
		d.problem(lineOf(n), field, digits+" is too large", "give a smaller number")
		return
	}
	v.SetInt(i)
}

func (d *decoder) duration(n ast.Node, v reflect.Value, field string) {
	const fix = "write a number with its unit, as in 30s or 500ms"
	s, ok := text(n)
	if !ok {
		d.wrong(n, field, "a duration", fix)
		return
	}
	t, err := time.ParseDuration(s)
	switch {
	case err != nil:
		d.problem(lineOf(n), field, strconv.Quote(s)+" is not a duration", fix)
	case t < time.Millisecond:
		d.problem(lineOf(n), field, s+" is too short", "give at least 1ms, or leave it out for the default")
	default:
		v.SetInt(int64(t))
	}
}

func (d *decoder) list(n ast.Node, v reflect.Value, field string) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrong(n, field, "a list", "")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, element := range seq.Values {
		at := fmt.Sprintf("%s[%d]", field, i)
		d.lines[at] = lineOf(element)
		d.decode(element, v.Index(i), at)
	}
}

func (d *decoder) table(n ast.Node, v reflect.Value, field string) {
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, field, func(key, at string, value ast.Node) {
		element := reflect.New(v.Type().Elem()).Elem()
		d.decode(value, element, at)
		v.SetMapIndex(reflect.ValueOf(key), element)
	})
}

func (d *decoder) structure(n ast.Node, v reflect.Value, field string) {
	index := map[string]int{}
	var known []string
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("json"); key != "" {
			index[key] = i
			known = append(known, key)
		}
	}
	if _, ok := n.(ast.MapNode); !ok {
		d.wrong(n, field, "a mapping", "write its keys: "+strings.Join(known, ", "))
		return
	}
	d.pairs(n, field, func(key, at string, value ast.Node) {
		i, ok := index[key]
		if !ok {
			fix := "the keys here are " + strings.Join(known, ", ")
			if meant := nearest(key, known); meant != "" {
				fix = "did you mean " + meant + "?"
				d.mistyped = append(d.mistyped, strings.TrimSuffix(at, key)+meant)
			}
			d.problem(d.lines[at], at, "unknown key", fix)
			return
		}
		d.decode(value, v.Field(i), at)
	})
}

// pairs calls each for every key of a mapping, once, in the order of the file.
func (d *decoder) pairs(n ast.Node, field string, each func(key, at string, value ast.Node)) {
	mapping, ok := n.(ast.MapNode)
	if !ok {
		d.wrong(n, field, "a mapping", "")
		return
	}
	seen := map[string]int{}
	for it := mapping.MapRange(); it.Next(); {
		name, ok := it.Key().(ast.Node)
		key, isText := text(name)
		if !ok || !isText {
			d.problem(lineOf(it.Key()), field, "a key here is no plain string", "write it as a word, in quotes where needed; merge keys and anchors are not read")
			continue
		}
		at := below(field, key)
		if first, twice := seen[key]; twice {
			d.problem(lineOf(it.Key()), at, "the key stands twice", fmt.Sprintf("remove one of them; the first is in line %d", first))
			continue
		}
		seen[key] = lineOf(it.Key())
		d.lines[at] = seen[key]
		each(key, at, it.Value())
	}
}

// below is the field of a key in a mapping. What follows an equals sign in a key
// is a value that its author put there, and may be a secret.
func below(field, key string) string {
	if name, _, assigned := strings.Cut(key, "="); assigned {
		key = name + "=…"
	}
	if field == "" {
		return key
	}
	return field + "." + key
}

// wrong reports a type error. It names the types only: the value may be a secret.
func (d *decoder) wrong(n ast.Node, field, want, fix string) {
	got := map[ast.NodeType]string{
		ast.StringType: "a string", ast.LiteralType: "a string", ast.IntegerType: "an integer",
		ast.FloatType: "a number", ast.InfinityType: "a number", ast.NanType: "a number", ast.BoolType: "a truth value",
		ast.SequenceType: "a list", ast.MappingType: "a mapping", ast.MappingValueType: "a mapping",
		ast.AliasType: "an alias", ast.AnchorType: "an anchor", ast.TagType: "a tag",
	}[n.Type()]
	if got == "" {
		got = "something else"
	}
	if fix == "" {
		fix = "give " + want
	}
	d.problem(lineOf(n), field, "wants "+want+", found "+got, fix)
}

func quoteHint(n ast.Node) string {
	switch n.Type() {
	case ast.IntegerType, ast.FloatType, ast.BoolType:
		return "put it in quotes"
	}
	return ""
}

func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}
