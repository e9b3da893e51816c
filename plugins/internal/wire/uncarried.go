package wire

import (
	"reflect"
	"slices"

	protobuf "google.golang.org/protobuf/proto"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// Uncarried names the fields of a hook that its description cannot carry,
// because they make no difference to it. Fields of structs are named
// with a dot, as in Source.Dir.
func Uncarried(h *hook.Hook) []string {
	var names []string
	var look func(v reflect.Value, prefix string, at []int)
	look = func(v reflect.Value, prefix string, at []int) {
		for i := range v.NumField() {
			field, name, at := v.Field(i), prefix+v.Type().Field(i).Name, append(slices.Clone(at), i)
			switch kind := field.Kind(); {
			case kind == reflect.Struct:
				look(field, name+".", at)
			case field.IsZero(), (kind == reflect.Slice || kind == reflect.Map) && field.Len() == 0:
			case !tells(field, at):
				names = append(names, name)
			}
		}
	}
	look(reflect.ValueOf(h).Elem(), "", nil)
	return names
}

// tells reports whether a value in one field of a hook makes a difference to its
// description.
func tells(value reflect.Value, at []int) bool {
	var alone hook.Hook
	reflect.ValueOf(&alone).Elem().FieldByIndex(at).Set(value)
	return !protobuf.Equal(Describe(&alone), &proto.Hook{})
}
