package riot

import (
	"crypto/sha256"
	"encoding/hex"
)

// secret holds an API key behind a pointer, where package fmt does not follow it:
// methods like String are of no use in fields that are not exported.
type secret struct{ text *string }

func newSecret(text string) secret { return secret{&text} }

func (s secret) reveal() string { return *s.text }

// FingerprintOf is key's fingerprint.
func FingerprintOf(key string) Fingerprint {
	sum := sha256.Sum256([]byte(key))
	return Fingerprint(hex.EncodeToString(sum[:4]))
}

// sendable reports whether key can stand in a header.
func sendable(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != ""
}
