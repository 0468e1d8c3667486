package tables

import (
	"strings"
	"testing"
)

func TestKindsAreRead(t *testing.T) {
	kinds, err := Kinds()
	if err != nil {
		t.Fatal(err)
	}
	if len(kinds) < 9 {
		t.Fatalf("%d kinds", len(kinds))
	}
	forms := map[Form]bool{}
	for _, kind := range kinds {
		if kind.Members[kind.ID] == nil || !kind.Members[kind.ID].Required {
			t.Errorf("%s has no name", kind.Name)
		}
		if _, ok := kind.Members[kind.Secret]; ok {
			t.Errorf("the secret of %s is among its members", kind.Name)
		}
		for _, member := range kind.Members {
			forms[member.Form] = true
		}
	}
	for _, form := range []Form{Open, Text, Whole, Flag, List, Map, Object} {
		if !forms[form] {
			t.Errorf("no member has the form %d", form)
		}
	}
}

// one reads a kind whose member `it` has this schema.
func one(schema string) (*Type, error) {
	kinds, err := read([]byte(`{"kinds":[{"kind":"thing","table":"things","id":"name"}],"schema":{"$defs":{
		"things":{"properties":{"name":{"type":"string"},"it":` + schema + `}},
		"Choice":{"oneOf":[{"type":"string","const":"a"},{"type":"string","const":"b"}]},
		"Open":{"anyOf":[{"type":"string"},{"type":"boolean"}]}}}}`))
	if err != nil {
		return nil, err
	}
	return kinds[0].Members["it"], nil
}

func TestASchemaBecomesAForm(t *testing.T) {
	for schema, form := range map[string]Form{
		`{"type":"string","description":"Words"}`:                                          Text,
		`{"type":["string","null"]}`:                                                       Text,
		`{"anyOf":[{"$ref":"#/$defs/Choice"},{"type":"null"}]}`:                            Text,
		`{"type":["integer","null"],"minimum":3}`:                                          Whole,
		`{"type":"number"}`:                                                                Number,
		`{"type":"boolean"}`:                                                               Flag,
		`{"type":"array","items":{"type":"string"}}`:                                       List,
		`{"type":"array","items":{"type":"string"},"uniqueItems":true}`:                    Set,
		`{"type":"array","items":{"$ref":"#/$defs/Open"}}`:                                 Open,
		`{"type":"array"}`:                                                                 Open,
		`{"type":"object","additionalProperties":{"type":"boolean"}}`:                      Map,
		`{"type":"object","additionalProperties":{"$ref":"#/$defs/Open"}}`:                 Open,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:          Object,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/Open"}}}`:                     Open,
		`{"type":"object"}`:                                                                Open,
		`{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}}`: List,
		`{}`: Open,
	} {
		found, err := one(schema)
		if err != nil || found.Form != form {
			t.Errorf("%s: %v, %v", schema, found, err)
		}
	}
	choice, _ := one(`{"anyOf":[{"$ref":"#/$defs/Choice"},{"type":"null"}]}`)
	if strings.Join(choice.Choices, " ") != "a b" {
		t.Errorf("choices: %v", choice.Choices)
	}
	any, _ := one(`{"anyOf":[{"$ref":"#/$defs/Choice"},{"type":"string"}]}`)
	if any.Form != Text || len(any.Choices) != 0 {
		t.Errorf("any text: %v", any)
	}
	least, _ := one(`{"type":["integer","null"],"minimum":3}`)
	if least.Minimum == nil || *least.Minimum != 3 {
		t.Errorf("minimum: %v", least.Minimum)
	}
}

func TestTablesThatAreWrongAreRefused(t *testing.T) {
	for document, said := range map[string]string{
		`{`: "kinds.json",
		`{"kinds":[{"kind":"a","table":"as","id":"name"}],"schema":{}}`:                          "there is no #/$defs/as",
		`{"kinds":[{"kind":"a","table":"as","id":"name"}],"schema":{"$defs":{"as":{"type":1}}}}`: "has no member name",
	} {
		if _, err := read([]byte(document)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", document, err)
		}
	}
	if _, err := one(`{"$ref":"#/$defs/Nowhere"}`); err == nil {
		t.Error("a reference that leads nowhere was taken")
	}
}
