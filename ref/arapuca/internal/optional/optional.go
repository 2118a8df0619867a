// Package optional sets fields that not every release of a library has.
package optional

import (
	"fmt"
	"reflect"
)

// Has tells whether the struct that p points to has the field.
func Has(p any, field string) bool { return reflect.ValueOf(p).Elem().FieldByName(field).IsValid() }

// Set sets a field that not every release has. The value is converted to the
// field's type, which may be one of the library's own.
func Set(p any, field string, value any) error {
	f := reflect.ValueOf(p).Elem().FieldByName(field)
	v := reflect.ValueOf(value)
	switch {
	case !f.IsValid():
		return fmt.Errorf("this go-arapuca has no field %s: use a newer one", field)
	case !v.CanConvert(f.Type()):
		return fmt.Errorf("the field %s of this go-arapuca is a %s: this launcher must learn that", field, f.Type())
	}
	f.Set(v.Convert(f.Type()))
	return nil
}

// Append appends a struct with these fields to a slice that not every release
// has.
func Append(p any, field string, element map[string]any) error {
	f := reflect.ValueOf(p).Elem().FieldByName(field)
	if !f.IsValid() || f.Kind() != reflect.Slice || f.Type().Elem().Kind() != reflect.Struct {
		return fmt.Errorf("this go-arapuca has no list %s: use a newer one", field)
	}
	e := reflect.New(f.Type().Elem())
	for name, value := range element {
		if err := Set(e.Interface(), name, value); err != nil {
			return err
		}
	}
	f.Set(reflect.Append(f, e.Elem()))
	return nil
}
