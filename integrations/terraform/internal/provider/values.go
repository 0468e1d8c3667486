package provider

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"signet/terraform/internal/tables"
)

// terraformType is what Terraform calls a type of the tables.
func terraformType(of *tables.Type) tftypes.Type {
	switch of.Form {
	case tables.Text:
		return tftypes.String
	case tables.Whole, tables.Number:
		return tftypes.Number
	case tables.Flag:
		return tftypes.Bool
	case tables.List:
		return tftypes.List{ElementType: terraformType(of.Items)}
	case tables.Set:
		return tftypes.Set{ElementType: terraformType(of.Items)}
	case tables.Map:
		return tftypes.Map{ElementType: terraformType(of.Items)}
	case tables.Object:
		members := map[string]tftypes.Type{}
		for name, member := range of.Members {
			members[name] = terraformType(member)
		}
		return tftypes.Object{AttributeTypes: members}
	default:
		return tftypes.DynamicPseudoType
	}
}

// toJSON is a value of Terraform as the admin API reads it. What is null is left out.
func toJSON(value tftypes.Value) (any, error) {
	if !value.IsKnown() {
		return nil, fmt.Errorf("a value is not known yet")
	}
	if value.IsNull() {
		return nil, nil
	}
	switch value.Type().(type) {
	case tftypes.List, tftypes.Set, tftypes.Tuple:
		var items []tftypes.Value
		if err := value.As(&items); err != nil {
			return nil, err
		}
		list := make([]any, 0, len(items))
		for _, item := range items {
			one, err := toJSON(item)
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		}
		return list, nil
	case tftypes.Map, tftypes.Object:
		var members map[string]tftypes.Value
		if err := value.As(&members); err != nil {
			return nil, err
		}
		object := map[string]any{}
		for name, member := range members {
			one, err := toJSON(member)
			if err != nil {
				return nil, err
			}
			if one != nil {
				object[name] = one
			}
		}
		return object, nil
	}
	switch {
	case value.Type().Is(tftypes.String):
		var text string
		err := value.As(&text)
		return text, err
	case value.Type().Is(tftypes.Bool):
		var flag bool
		err := value.As(&flag)
		return flag, err
	case value.Type().Is(tftypes.Number):
		var number big.Float
		if err := value.As(&number); err != nil {
			return nil, err
		}
		return json.Number(number.Text('f', -1)), nil
	}
	return nil, fmt.Errorf("a value of Terraform's type %s", value.Type())
}

// fromJSON is a value of the admin API as Terraform has it; nil is null.
func fromJSON(value any, of *tables.Type) (tftypes.Value, error) {
	kind := terraformType(of)
	if value == nil {
		return tftypes.NewValue(kind, nil), nil
	}
	unexpected := fmt.Errorf("the server has a %T where %s is expected", value, kind)
	none := tftypes.NewValue(kind, nil)
	switch of.Form {
	case tables.Open:
		return open(value)
	case tables.Text:
		text, ok := value.(string)
		if !ok {
			return none, unexpected
		}
		return tftypes.NewValue(kind, text), nil
	case tables.Flag:
		flag, ok := value.(bool)
		if !ok {
			return none, unexpected
		}
		return tftypes.NewValue(kind, flag), nil
	case tables.Whole, tables.Number:
		return number(value)
	case tables.List, tables.Set:
		list, ok := value.([]any)
		if !ok {
			return none, unexpected
		}
		items := make([]tftypes.Value, 0, len(list))
		for _, item := range list {
			one, err := fromJSON(item, of.Items)
			if err != nil {
				return none, err
			}
			items = append(items, one)
		}
		return tftypes.NewValue(kind, items), nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return none, unexpected
	}
	members := map[string]tftypes.Value{}
	if of.Form == tables.Map {
		for name, member := range object {
			one, err := fromJSON(member, of.Items)
			if err != nil {
				return none, err
			}
			members[name] = one
		}
		return tftypes.NewValue(kind, members), nil
	}
	for name, member := range of.Members {
		one, err := fromJSON(object[name], member)
		if err != nil {
			return none, err
		}
		members[name] = one
	}
	return tftypes.NewValue(kind, members), nil
}

// open is a value whose type is its own, as Terraform would read it from JSON.
func open(value any) (tftypes.Value, error) {
	switch value := value.(type) {
	case nil:
		return tftypes.NewValue(tftypes.DynamicPseudoType, nil), nil
	case string:
		return tftypes.NewValue(tftypes.String, value), nil
	case bool:
		return tftypes.NewValue(tftypes.Bool, value), nil
	case json.Number:
		return number(value)
	case []any:
		var types []tftypes.Type
		var items []tftypes.Value
		for _, item := range value {
			one, err := open(item)
			if err != nil {
				return one, err
			}
			types, items = append(types, one.Type()), append(items, one)
		}
		return tftypes.NewValue(tftypes.Tuple{ElementTypes: types}, items), nil
	case map[string]any:
		types := map[string]tftypes.Type{}
		members := map[string]tftypes.Value{}
		for name, member := range value {
			one, err := open(member)
			if err != nil {
				return one, err
			}
			types[name], members[name] = one.Type(), one
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, members), nil
	}
	return tftypes.NewValue(tftypes.DynamicPseudoType, nil), fmt.Errorf("a value of type %T", value)
}

func number(value any) (tftypes.Value, error) {
	none := tftypes.NewValue(tftypes.Number, nil)
	text, ok := value.(json.Number)
	if !ok {
		return none, fmt.Errorf("the server has a %T where a number is expected", value)
	}
	made, _, err := big.ParseFloat(text.String(), 10, 512, big.ToNearestEven)
	if err != nil {
		return none, err
	}
	return tftypes.NewValue(tftypes.Number, made), nil
}

// isSame is whether two values of the admin API are the same.
func isSame(one, other any) bool {
	return reflect.DeepEqual(plain(one), plain(other))
}

// plain writes numbers in one way.
func plain(value any) any {
	switch value := value.(type) {
	case json.Number:
		if made, _, err := big.ParseFloat(value.String(), 10, 512, big.ToNearestEven); err == nil {
			return json.Number(made.Text('f', -1))
		}
		return value
	case []any:
		list := make([]any, 0, len(value))
		for _, item := range value {
			list = append(list, plain(item))
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, member := range value {
			if member != nil {
				object[name] = plain(member)
			}
		}
		return object
	}
	return value
}
