package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"signet/terraform/internal/tables"
)

// The attributes that Terraform's resources have, and the tables do not.
const (
	owner          = "owner"
	secretSuffix   = "_wo"
	versionSuffix  = "_wo_version"
	rotatedVersion = "Change it, and the secret that stands beside it is written. " +
		"Terraform keeps the number, and never the secret."
)

// schemaOf makes the schema of a kind's resource.
func schemaOf(kind *tables.Kind) schema.Schema {
	attributes := map[string]schema.Attribute{
		owner: schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "Who owns it: `directory NAME`, where NAME is the provider's " +
				"`directory`. What was made by hand is taken over by an import and an apply.",
		},
	}
	for name, member := range kind.Members {
		attributes[name] = attribute(member, usage{isRequired: member.Required})
	}
	attributes[kind.ID] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: described(kind.Members[kind.ID], "Its name. Another name is another object."),
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
		Validators:          []validator.String{notEmpty{}},
	}
	for name, member := range kind.SetByServer {
		attributes[name] = attribute(member, usage{isComputed: true})
	}
	if kind.Secret != "" {
		said := "Write-only: it is sent, and never kept in plan or state."
		if kind.SecretIsFirst {
			said += " It counts where the object is made, and is its holder's own afterwards."
		}
		attributes[kind.Secret+secretSuffix] = schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true, MarkdownDescription: said,
		}
		if !kind.SecretIsFirst {
			attributes[kind.Secret+versionSuffix] = schema.Int64Attribute{
				Optional: true, MarkdownDescription: rotatedVersion,
			}
		}
	}
	return schema.Schema{
		MarkdownDescription: fmt.Sprintf("A %s of Signet. A member that is left out is at its "+
			"default, not as it was before.", kind.Name),
		Attributes: attributes,
	}
}

// usage says who sets an attribute: neither member is set, whoever writes the configuration may.
type usage struct {
	isRequired, isComputed bool
}

func described(of *tables.Type, otherwise string) string {
	if of.Description == "" {
		return otherwise
	}
	return of.Description
}

func attribute(of *tables.Type, by usage) schema.Attribute {
	required, computed := by.isRequired, by.isComputed
	optional := !required && !computed
	said := of.Description
	switch of.Form {
	case tables.Text:
		made := schema.StringAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
		}
		if len(of.Choices) > 0 {
			made.Validators = []validator.String{oneOf(of.Choices)}
		}
		return made
	case tables.Whole:
		made := schema.Int64Attribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
		}
		if of.Minimum != nil {
			made.Validators = []validator.Int64{atLeast(*of.Minimum)}
		}
		return made
	case tables.Number:
		made := schema.Float64Attribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
		}
		if of.Minimum != nil {
			made.Validators = []validator.Float64{atLeast(*of.Minimum)}
		}
		return made
	case tables.Flag:
		return schema.BoolAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
		}
	case tables.Object:
		return schema.SingleNestedAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
			Attributes: nested(of, computed),
		}
	case tables.List:
		if of.Items.Form == tables.Object {
			return schema.ListNestedAttribute{
				Required: required, Optional: optional, Computed: computed,
				MarkdownDescription: said,
				NestedObject:        schema.NestedAttributeObject{Attributes: nested(of.Items, computed)},
			}
		}
		return schema.ListAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
			ElementType: elementType(of.Items), Validators: []validator.List{eachOf{of.Items.Choices}},
		}
	case tables.Set:
		if of.Items.Form == tables.Object {
			return schema.SetNestedAttribute{
				Required: required, Optional: optional, Computed: computed,
				MarkdownDescription: said,
				NestedObject:        schema.NestedAttributeObject{Attributes: nested(of.Items, computed)},
			}
		}
		return schema.SetAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
			ElementType: elementType(of.Items), Validators: []validator.Set{eachOf{of.Items.Choices}},
		}
	case tables.Map:
		if of.Items.Form == tables.Object {
			return schema.MapNestedAttribute{
				Required: required, Optional: optional, Computed: computed,
				MarkdownDescription: said,
				NestedObject:        schema.NestedAttributeObject{Attributes: nested(of.Items, computed)},
			}
		}
		return schema.MapAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
			ElementType: elementType(of.Items),
		}
	default:
		return schema.DynamicAttribute{
			Required: required, Optional: optional, Computed: computed, MarkdownDescription: said,
		}
	}
}

func nested(of *tables.Type, isComputed bool) map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for name, member := range of.Members {
		by := usage{isRequired: member.Required, isComputed: isComputed}
		if isComputed {
			by.isRequired = false
		}
		attributes[name] = attribute(member, by)
	}
	return attributes
}

// elementType is the framework's name of what a list, a set or a map holds.
func elementType(of *tables.Type) attr.Type {
	switch of.Form {
	case tables.Whole:
		return types.Int64Type
	case tables.Number:
		return types.Float64Type
	case tables.Flag:
		return types.BoolType
	case tables.List:
		return types.ListType{ElemType: elementType(of.Items)}
	case tables.Set:
		return types.SetType{ElemType: elementType(of.Items)}
	case tables.Map:
		return types.MapType{ElemType: elementType(of.Items)}
	case tables.Object:
		members := map[string]attr.Type{}
		for name, member := range of.Members {
			members[name] = elementType(member)
		}
		return types.ObjectType{AttrTypes: members}
	default:
		return types.StringType
	}
}
