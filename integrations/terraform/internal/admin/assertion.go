package admin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"time"
)

// How long an assertion counts.
const assertionLife = time.Minute

// ReadKey reads a private key: PKCS #8 in PEM, of P-256, Ed25519 or RSA.
func ReadKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the private key is no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		// The parser's own words could repeat the key.
		return nil, errors.New("the private key is no PKCS #8")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("the private key signs nothing")
	}
	if _, err := algorithm(signer); err != nil {
		return nil, err
	}
	return signer, nil
}

// algorithm is what a key signs with (RFC 7518 section 3.1, RFC 8037 section 3.1).
func algorithm(key crypto.Signer) (string, error) {
	switch public := key.Public().(type) {
	case *ecdsa.PublicKey:
		if public.Curve == elliptic.P256() {
			return "ES256", nil
		}
	case ed25519.PublicKey:
		return "EdDSA", nil
	case *rsa.PublicKey:
		return "PS256", nil
	}
	return "", errors.New("the private key must be of P-256, Ed25519 or RSA")
}

// assertion says who the client is (RFC 7523 section 3), for the issuer alone.
func assertion(options Options, audience string, now time.Time) (string, error) {
	name, err := algorithm(options.Key)
	if err != nil {
		return "", err
	}
	header := map[string]any{"alg": name, "typ": "JWT"}
	if options.KeyID != "" {
		header["kid"] = options.KeyID
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return "", err
	}
	claims := map[string]any{
		"iss": options.ClientID, "sub": options.ClientID, "aud": audience,
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
		"jti": base64.RawURLEncoding.EncodeToString(id),
	}
	var parts [2]string
	for at, part := range []map[string]any{header, claims} {
		text, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		parts[at] = base64.RawURLEncoding.EncodeToString(text)
	}
	signed := parts[0] + "." + parts[1]
	signature, err := sign(options.Key, []byte(signed))
	if err != nil {
		return "", errors.New("the private key does not sign")
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func sign(key crypto.Signer, text []byte) ([]byte, error) {
	digest := sha256.Sum256(text)
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			return nil, err
		}
		// RFC 7518 section 3.4: both numbers at their full length.
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature, nil
	case ed25519.PrivateKey:
		return ed25519.Sign(key, text), nil
	default:
		options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
		return key.Sign(rand.Reader, digest[:], options)
	}
}
