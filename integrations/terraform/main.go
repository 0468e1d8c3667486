// Command terraform-provider-signet is the Terraform provider of Signet: Terraform starts it and
// speaks protocol 6 to it.
package main

import (
	"context"
	"flag"
	"log"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"signet/terraform/internal/provider"
)

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger and for Terraform to attach")
	flag.Parse()
	made, err := provider.New()
	if err != nil {
		log.Fatal(err)
	}
	options := providerserver.ServeOpts{Address: provider.Address, Debug: *debug}
	serve := func() framework.Provider { return made }
	if err := providerserver.Serve(context.Background(), serve, options); err != nil {
		log.Fatal(err)
	}
}
