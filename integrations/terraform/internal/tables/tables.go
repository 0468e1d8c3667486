// Package tables reads what Signet's own tables say of the kinds of objects that can be declared.
// kinds.json is made of them by `SIGNET_WRITE_DOCS=1 cargo test -p signet-declaration`; nothing of
// it is repeated here by hand.
package tables

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

//go:embed kinds.json
var document []byte

// Form is what a value looks like.
type Form int

// Forms of values. An Open one has several, or none that is known: Terraform takes it as it is
// written.
const (
	Open Form = iota
	Text
	Whole
	Number
	Flag
	List
	Set
	Map
	Object
)

// Type is the type of a member.
type Type struct {
	Form        Form
	Description string
	// Items are those of a list, a set or a map.
	Items *Type
	// Members are those of an object.
	Members map[string]*Type
	// Required says that an object has this member always.
	Required bool
	// Choices are the texts that it can be; none: any.
	Choices []string
	// Minimum is that of a number; nil: none.
	Minimum *float64
}

// Kind is a kind of object.
type Kind struct {
	// Name is one of them, in words: client.
	Name string
	// Table is what a file of declarations calls its list.
	Table string
	// ID is the member that names one.
	ID string
	// Secret is the member that is a secret; empty: none.
	Secret string
	// SecretIsFirst says that the secret counts for an object that is made, and not afterwards.
	SecretIsFirst bool
	// Needs are the members that have to be there, beside the name, in this order.
	Needs []string
	// Members are those that can be declared, without the secret.
	Members map[string]*Type
	// SetByServer are those that the server alone sets.
	SetByServer map[string]*Type
}

// Names are the names of members, in order.
func Names(members map[string]*Type) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Kinds are all that there are, in the order in which objects are made.
func Kinds() ([]*Kind, error) {
	return read(document)
}

type schema map[string]any

func read(document []byte) ([]*Kind, error) {
	var found struct {
		Kinds []struct {
			Kind          string            `json:"kind"`
			Table         string            `json:"table"`
			ID            string            `json:"id"`
			Secret        string            `json:"secret"`
			SecretIsFirst bool              `json:"secret_is_first"`
			Needs         []string          `json:"needs"`
			SetByServer   map[string]schema `json:"set_by_server"`
		} `json:"kinds"`
		Schema schema `json:"schema"`
	}
	if err := json.Unmarshal(document, &found); err != nil {
		return nil, fmt.Errorf("kinds.json: %w", err)
	}
	var kinds []*Kind
	for _, one := range found.Kinds {
		kind := &Kind{
			Name: one.Kind, Table: one.Table, ID: one.ID, Secret: one.Secret,
			SecretIsFirst: one.SecretIsFirst, Needs: one.Needs,
			Members: map[string]*Type{}, SetByServer: map[string]*Type{},
		}
		object, err := pointed(found.Schema, "#/$defs/"+one.Table)
		if err != nil {
			return nil, err
		}
		for name, member := range properties(object) {
			if name == one.Secret {
				continue
			}
			if kind.Members[name], err = typeOf(member, found.Schema); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", one.Table, name, err)
			}
		}
		for name, member := range one.SetByServer {
			if kind.SetByServer[name], err = typeOf(member, found.Schema); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", one.Table, name, err)
			}
		}
		for _, name := range append([]string{kind.ID}, kind.Needs...) {
			if kind.Members[name] == nil {
				return nil, fmt.Errorf("%s has no member %s", one.Table, name)
			}
			kind.Members[name].Required = true
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

func asSchema(value any) schema {
	object, _ := value.(map[string]any)
	return object
}

func properties(of schema) map[string]schema {
	found := map[string]schema{}
	for name, member := range asSchema(of["properties"]) {
		found[name] = asSchema(member)
	}
	return found
}

func pointed(root schema, reference string) (schema, error) {
	at := root
	for _, part := range strings.Split(strings.TrimPrefix(reference, "#/"), "/") {
		if at = asSchema(at[part]); at == nil {
			return nil, fmt.Errorf("there is no %s", reference)
		}
	}
	return at, nil
}

// shapes are the alternatives of a schema: itself, what it refers to, and what it offers.
func shapes(of, root schema) ([]schema, error) {
	found := []schema{of}
	for next := 0; next < len(found); next++ {
		shape := found[next]
		if reference, ok := shape["$ref"].(string); ok {
			target, err := pointed(root, reference)
			if err != nil {
				return nil, err
			}
			found = append(found, target)
		}
		for _, choice := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := shape[choice].([]any)
			for _, one := range list {
				found = append(found, asSchema(one))
			}
		}
	}
	return found, nil
}

// types are those that a shape says, but for null.
func types(shape schema) []string {
	var found []string
	switch said := shape["type"].(type) {
	case string:
		found = append(found, said)
	case []any:
		for _, one := range said {
			if text, ok := one.(string); ok {
				found = append(found, text)
			}
		}
	}
	kept := found[:0]
	for _, one := range found {
		if one != "null" {
			kept = append(kept, one)
		}
	}
	return kept
}

func typeOf(of, root schema) (*Type, error) {
	description, _ := of["description"].(string)
	result := &Type{Form: Open, Description: description}
	all, err := shapes(of, root)
	if err != nil {
		return nil, err
	}
	var typed []schema
	name := ""
	for _, shape := range all {
		for _, one := range types(shape) {
			if name != "" && name != one {
				return result, nil
			}
			name = one
			typed = append(typed, shape)
		}
	}
	switch name {
	case "string":
		result.Form = Text
		result.Choices = choices(typed)
	case "integer":
		result.Form = Whole
		result.Minimum = minimum(typed)
	case "number":
		result.Form = Number
		result.Minimum = minimum(typed)
	case "boolean":
		result.Form = Flag
	case "array":
		if len(typed) == 1 && asSchema(typed[0]["items"]) != nil {
			items, err := typeOf(asSchema(typed[0]["items"]), root)
			if err != nil || items.Form == Open {
				return result, err
			}
			result.Form, result.Items = List, items
			if typed[0]["uniqueItems"] == true {
				result.Form = Set
			}
		}
	case "object":
		if len(typed) == 1 {
			return result, result.asObject(typed[0], root)
		}
	}
	return result, nil
}

// asObject makes it an object or a map, unless one of its members is open: then all of it is.
func (t *Type) asObject(of, root schema) error {
	found := properties(of)
	if other := asSchema(of["additionalProperties"]); len(found) == 0 && other != nil {
		items, err := typeOf(other, root)
		if err == nil && items.Form != Open {
			t.Form, t.Items = Map, items
		}
		return err
	}
	members := map[string]*Type{}
	for name, member := range found {
		made, err := typeOf(member, root)
		if err != nil || made.Form == Open {
			return err
		}
		members[name] = made
	}
	required, _ := of["required"].([]any)
	for _, name := range required {
		if text, ok := name.(string); ok && members[text] != nil {
			members[text].Required = true
		}
	}
	if len(members) > 0 {
		t.Form, t.Members = Object, members
	}
	return nil
}

// choices are the texts that alternatives list; none where one of them takes any text.
func choices(typed []schema) []string {
	var found []string
	for _, shape := range typed {
		listed, _ := shape["enum"].([]any)
		if one, ok := shape["const"]; ok {
			listed = append(listed, one)
		}
		if len(listed) == 0 {
			return nil
		}
		for _, one := range listed {
			if text, ok := one.(string); ok {
				found = append(found, text)
			}
		}
	}
	return found
}

func minimum(typed []schema) *float64 {
	for _, shape := range typed {
		if least, ok := shape["minimum"].(float64); ok {
			return &least
		}
	}
	return nil
}
