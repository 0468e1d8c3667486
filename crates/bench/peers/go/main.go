// Verifies tokens for some seconds: verify LIBRARY DIRECTORY ALGORITHM SECONDS
// tokens: one a line; jwk.json: the public key. Prints operations a second.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// public reads a key of RFC 7517.
func public(text []byte) crypto.PublicKey {
	var jwk struct{ Kty, X, Y, N, E string }
	must(0, json.Unmarshal(text, &jwk))
	bytes := func(text string) []byte { return must(base64.RawURLEncoding.DecodeString(text)) }
	number := func(text string) *big.Int { return new(big.Int).SetBytes(bytes(text)) }
	switch jwk.Kty {
	case "EC":
		return &ecdsa.PublicKey{Curve: elliptic.P256(), X: number(jwk.X), Y: number(jwk.Y)}
	case "RSA":
		return &rsa.PublicKey{N: number(jwk.N), E: int(number(jwk.E).Int64())}
	default:
		return ed25519.PublicKey(bytes(jwk.X))
	}
}

func main() {
	directory, algorithm := os.Args[2], os.Args[3]
	seconds := must(strconv.ParseFloat(os.Args[4], 64))
	tokens := strings.Fields(string(must(os.ReadFile(filepath.Join(directory, "tokens")))))
	key := public(must(os.ReadFile(filepath.Join(directory, "jwk.json"))))
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{algorithm}),
		jwt.WithIssuer("https://id.example.com"),
		jwt.WithAudience("https://orders.example.com"),
		jwt.WithExpirationRequired(),
	)
	known := func(*jwt.Token) (any, error) { return key, nil }
	run := func(length time.Duration) float64 {
		begun, count := time.Now(), 0
		for time.Since(begun) < length {
			for n := range 16 {
				must(parser.ParseWithClaims(tokens[(count+n)%len(tokens)], &jwt.RegisteredClaims{}, known))
			}
			count += 16
		}
		return float64(count) / time.Since(begun).Seconds()
	}
	length := time.Duration(seconds * float64(time.Second))
	run(length / 2)
	fmt.Println(run(length))
}
