// Package provider makes Terraform's provider and resources of the tables: one resource for each
// kind of object, one attribute for each member. Nothing here names a kind or a member by hand.
package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"signet/terraform/internal/admin"
	"signet/terraform/internal/tables"
)

const (
	// Address is the provider's source in a configuration of Terraform.
	Address = "registry.terraform.io/signet/signet"
	// TypeName begins the names of all resources.
	TypeName = "signet"

	defaultDirectory = "terraform"
	maxDirectory     = 64
)

// configured is what resources get of the provider's configuration.
type configured struct {
	client    *admin.Client
	directory string
}

// owner is who owns what this provider makes.
func (c *configured) owner() string {
	return "directory " + c.directory
}

type signet struct {
	kinds []*tables.Kind
}

// New makes the provider of the tables.
func New() (provider.Provider, error) {
	kinds, err := tables.Kinds()
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		for _, members := range []map[string]*tables.Type{kind.Members, kind.SetByServer} {
			for _, name := range reserved {
				if members[name] != nil {
					return nil, fmt.Errorf("a %s has a member %s, which Terraform cannot have", kind.Name, name)
				}
			}
		}
	}
	return &signet{kinds: kinds}, nil
}

// reserved are names that attributes of resources cannot have: Terraform's own, and the owner's.
var reserved = []string{
	owner, "connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner",
}

func (*signet) Metadata(
	_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse,
) {
	response.TypeName = TypeName
}

// settings are the provider's arguments, each with the variable of the environment that is read
// where it is left out.
type settings struct {
	Server          types.String `tfsdk:"server"`
	Realm           types.String `tfsdk:"realm"`
	Directory       types.String `tfsdk:"directory"`
	CACertFile      types.String `tfsdk:"ca_cert_file"`
	ClientID        types.String `tfsdk:"client_id"`
	ClientSecret    types.String `tfsdk:"client_secret"`
	CredentialsFile types.String `tfsdk:"credentials_file"`
	PrivateKeyFile  types.String `tfsdk:"private_key_file"`
	KeyID           types.String `tfsdk:"key_id"`
}

func (*signet) Schema(
	_ context.Context, _ provider.SchemaRequest, response *provider.SchemaResponse,
) {
	text := func(said string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: said}
	}
	secret := text("The client's secret. Or `SIGNET_CLIENT_SECRET`, which no file has.")
	secret.Sensitive = true
	response.Schema = schema.Schema{
		MarkdownDescription: "Declares what a Signet server has, as a client of it.",
		Attributes: map[string]schema.Attribute{
			"server": text("The server's issuer URL. Or `SIGNET_SERVER`."),
			"realm": text("The realm to administer, one beside the server's first. Or " +
				"`SIGNET_REALM`. Administrators of the realm alone name its issuer as `server`."),
			"directory": text("The name that owns what is made: `" + defaultDirectory +
				"` unless given. Two configurations have two names."),
			"ca_cert_file": text("PEM file of the authority that the server's certificate comes " +
				"from. Or `SIGNET_CA_CERT`."),
			"client_id": text("The client that administers, with the scope `signet:admin`. Or " +
				"`SIGNET_CLIENT_ID`."),
			"client_secret": secret,
			"credentials_file": text("JSON file with `client_id` and `client_secret`, as `signet " +
				"client add --json` prints it. Or `SIGNET_CREDENTIALS`."),
			"private_key_file": text("PEM file (PKCS #8) of the key that the client authenticates " +
				"with (`private_key_jwt`): P-256, Ed25519 or RSA. Or `SIGNET_PRIVATE_KEY`."),
			"key_id": text("The `kid` of that key. Or `SIGNET_KEY_ID`."),
		},
	}
}

func (*signet) Configure(
	ctx context.Context, request provider.ConfigureRequest, response *provider.ConfigureResponse,
) {
	if !request.Config.Raw.IsFullyKnown() {
		response.Diagnostics.AddError("The provider's configuration is not known yet",
			"Give it values that do not depend on what is applied here.")
		return
	}
	var said settings
	response.Diagnostics.Append(request.Config.Get(ctx, &said)...)
	if response.Diagnostics.HasError() {
		return
	}
	made, err := said.configure(request.TerraformVersion)
	if err != nil {
		response.Diagnostics.Append(err)
		return
	}
	response.ResourceData = made
}

func or(said types.String, variable string) string {
	if text := said.ValueString(); text != "" {
		return text
	}
	return os.Getenv(variable)
}

func wrong(argument, said string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root(argument), "The provider is not configured", said)
}

func (s *settings) configure(terraform string) (*configured, diag.Diagnostic) {
	options := admin.Options{
		Server:       or(s.Server, "SIGNET_SERVER"),
		Realm:        or(s.Realm, "SIGNET_REALM"),
		Token:        os.Getenv("SIGNET_ADMIN_TOKEN"),
		ClientID:     or(s.ClientID, "SIGNET_CLIENT_ID"),
		ClientSecret: or(s.ClientSecret, "SIGNET_CLIENT_SECRET"),
		KeyID:        or(s.KeyID, "SIGNET_KEY_ID"),
		UserAgent:    "terraform-provider-signet (Terraform " + terraform + ")",
	}
	if options.Server == "" {
		return nil, wrong("server", "which server? Its issuer URL, here or in SIGNET_SERVER")
	}
	if file := or(s.CACertFile, "SIGNET_CA_CERT"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, wrong("ca_cert_file", err.Error())
		}
		options.CACert = text
	}
	if file := or(s.CredentialsFile, "SIGNET_CREDENTIALS"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, wrong("credentials_file", err.Error())
		}
		var found struct {
			ClientID     string `json:"client_id"`
			ClientSecret string `json:"client_secret"`
		}
		// The parser's own words could repeat the secret.
		if json.Unmarshal(text, &found) != nil || found.ClientID == "" || found.ClientSecret == "" {
			return nil, wrong("credentials_file",
				file+": expected a JSON object with client_id and client_secret")
		}
		options.ClientID, options.ClientSecret = found.ClientID, found.ClientSecret
	}
	if file := or(s.PrivateKeyFile, "SIGNET_PRIVATE_KEY"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, wrong("private_key_file", err.Error())
		}
		if options.Key, err = admin.ReadKey(text); err != nil {
			return nil, wrong("private_key_file", file+": "+err.Error())
		}
		if options.ClientSecret != "" {
			return nil, wrong("private_key_file", "a client has a secret or a key: give one of them")
		}
	}
	if options.Token == "" {
		if options.ClientID == "" {
			return nil, wrong("client_id",
				"who calls? A client with the scope signet:admin, here or in SIGNET_CLIENT_ID")
		}
		if options.ClientSecret == "" && options.Key == nil {
			return nil, wrong("client_secret", "the client has neither a secret nor a key: "+
				"SIGNET_CLIENT_SECRET, credentials_file or private_key_file")
		}
	}
	directory := s.Directory.ValueString()
	if s.Directory.IsNull() {
		directory = defaultDirectory
	}
	if !isDirectory(directory) {
		return nil, wrong("directory",
			fmt.Sprintf("a directory's name is 1 to %d letters, digits and any of -._", maxDirectory))
	}
	client, err := admin.New(options)
	if err != nil {
		return nil, wrong("server", err.Error())
	}
	return &configured{client: client, directory: directory}, nil
}

func isDirectory(name string) bool {
	for _, c := range name {
		isPart := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '-' || c == '.' || c == '_'
		if !isPart {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= maxDirectory
}

func (s *signet) Resources(context.Context) []func() resource.Resource {
	var made []func() resource.Resource
	for _, kind := range s.kinds {
		made = append(made, func() resource.Resource { return &object{kind: kind} })
	}
	return made
}

func (*signet) DataSources(context.Context) []func() datasource.DataSource {
	return nil
}
