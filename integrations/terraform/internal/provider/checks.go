package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const wrongValue = "Wrong value"

// oneOf is a text of those that the table lists.
type oneOf []string

func (c oneOf) Description(context.Context) string {
	return "one of " + strings.Join(c, ", ")
}

func (c oneOf) MarkdownDescription(ctx context.Context) string {
	return c.Description(ctx)
}

func (c oneOf) has(text string) bool {
	for _, choice := range c {
		if choice == text {
			return true
		}
	}
	return false
}

func (c oneOf) check(ctx context.Context, at path.Path, value types.String, to *diag.Diagnostics) {
	if value.IsNull() || value.IsUnknown() || c.has(value.ValueString()) {
		return
	}
	said := fmt.Sprintf("%q is not %s", value.ValueString(), c.Description(ctx))
	to.AddAttributeError(at, wrongValue, said)
}

func (c oneOf) ValidateString(
	ctx context.Context, request validator.StringRequest, response *validator.StringResponse,
) {
	c.check(ctx, request.Path, request.ConfigValue, &response.Diagnostics)
}

// eachOf checks every text of a list or a set; without choices any text will do.
type eachOf struct{ choices oneOf }

func (c eachOf) Description(ctx context.Context) string {
	return "each " + c.choices.Description(ctx)
}

func (c eachOf) MarkdownDescription(ctx context.Context) string {
	return c.Description(ctx)
}

// each checks the items: none may be null, which no list of the server's has.
func (c eachOf) each(
	ctx context.Context, items []attr.Value, at func(int, attr.Value) path.Path,
	to *diag.Diagnostics,
) {
	for number, item := range items {
		if item.IsNull() {
			to.AddAttributeError(at(number, item), wrongValue, "null is no item of a list")
			continue
		}
		if text, ok := item.(types.String); ok && len(c.choices) > 0 {
			c.choices.check(ctx, at(number, item), text, to)
		}
	}
}

func (c eachOf) ValidateList(
	ctx context.Context, request validator.ListRequest, response *validator.ListResponse,
) {
	at := func(number int, _ attr.Value) path.Path { return request.Path.AtListIndex(number) }
	c.each(ctx, request.ConfigValue.Elements(), at, &response.Diagnostics)
}

func (c eachOf) ValidateSet(
	ctx context.Context, request validator.SetRequest, response *validator.SetResponse,
) {
	at := func(_ int, item attr.Value) path.Path { return request.Path.AtSetValue(item) }
	c.each(ctx, request.ConfigValue.Elements(), at, &response.Diagnostics)
}

// atLeast is a number that is not below another one.
type atLeast float64

func (c atLeast) Description(context.Context) string {
	return fmt.Sprintf("at least %v", float64(c))
}

func (c atLeast) MarkdownDescription(ctx context.Context) string {
	return c.Description(ctx)
}

func (c atLeast) ValidateInt64(
	ctx context.Context, request validator.Int64Request, response *validator.Int64Response,
) {
	value := request.ConfigValue
	if !value.IsNull() && !value.IsUnknown() && float64(value.ValueInt64()) < float64(c) {
		said := fmt.Sprintf("%d is not %s", value.ValueInt64(), c.Description(ctx))
		response.Diagnostics.AddAttributeError(request.Path, wrongValue, said)
	}
}

func (c atLeast) ValidateFloat64(
	ctx context.Context, request validator.Float64Request, response *validator.Float64Response,
) {
	value := request.ConfigValue
	if !value.IsNull() && !value.IsUnknown() && value.ValueFloat64() < float64(c) {
		said := fmt.Sprintf("%v is not %s", value.ValueFloat64(), c.Description(ctx))
		response.Diagnostics.AddAttributeError(request.Path, wrongValue, said)
	}
}

// notEmpty is a name.
type notEmpty struct{}

func (notEmpty) Description(context.Context) string {
	return "not empty"
}

func (c notEmpty) MarkdownDescription(ctx context.Context) string {
	return c.Description(ctx)
}

func (notEmpty) ValidateString(
	_ context.Context, request validator.StringRequest, response *validator.StringResponse,
) {
	value := request.ConfigValue
	if !value.IsNull() && !value.IsUnknown() && value.ValueString() == "" {
		response.Diagnostics.AddAttributeError(request.Path, wrongValue, "a name is not empty")
	}
}
