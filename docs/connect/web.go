// A web application. go get github.com/coreos/go-oidc/v3 golang.org/x/oauth2; go run web.go; open http://127.0.0.1:3000/
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID: os.Getenv("CLIENT_ID"), ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint: provider.Endpoint(), RedirectURL: "http://127.0.0.1:3000/callback",
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	cookie := func(name, value string) *http.Cookie {
		return &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	}

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		state, code := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
		http.SetCookie(w, cookie("state", state))
		http.SetCookie(w, cookie("code", code))
		http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(code)), http.StatusFound)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		state, _ := r.Cookie("state")
		code, _ := r.Cookie("code")
		if state == nil || code == nil || r.FormValue("state") != state.Value {
			http.Error(w, "this login was not begun here", http.StatusBadRequest)
			return
		}
		token, err := config.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(code.Value))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		raw, _ := token.Extra("id_token").(string)
		id, err := verifier.Verify(ctx, raw)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "Hello %s", id.Subject)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", nil))
}
