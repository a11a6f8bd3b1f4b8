package riottest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

// Riot encrypts ids for each application, so the same player has another PUUID
// under each key, and the PUUID of one can't be read with the other
// (RiotGames/developer-relations issue 637). So it is here: a PUUID is the
// player's number, encrypted with what is derived from the API key. It depends on
// nothing else, so it outlives a restart of the server.

const (
	puuidLength = 78
	puuidBytes  = 58
	puuidMark   = 0x52_69_6f_74_54_65_73_74
)

// sealer encrypts the numbers of players for one API key.
type sealer struct {
	block cipher.Block
	// fingerprint names the key without giving it away.
	fingerprint string
}

func newSealer(key string) *sealer {
	sum := sha256.Sum256([]byte("puuid of " + key))
	block, err := aes.NewCipher(sum[:16])
	if err != nil {
		panic(err) // 16 bytes are a key of AES
	}
	return &sealer{block: block, fingerprint: fingerprint(key)}
}

// fingerprint is the first 8 hex digits of a key's SHA-256.
func fingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}

// seal appends the PUUID of player number n.
func (s *sealer) seal(b []byte, n uint64) []byte {
	return s.sealMarked(b, n, puuidMark, puuidBytes)
}

// sealMarked appends an id of so many bytes before they are spelt in base 64.
func (s *sealer) sealMarked(b []byte, n, mark uint64, size int) []byte {
	var raw [64]byte
	binary.BigEndian.PutUint64(raw[0:], mark)
	binary.BigEndian.PutUint64(raw[8:], n)
	s.block.Encrypt(raw[0:16], raw[0:16])
	for i := 16; i < len(raw); i += 16 {
		s.block.Encrypt(raw[i:i+16], raw[i-16:i])
	}
	return base64.RawURLEncoding.AppendEncode(b, raw[:size])
}

// open finds the number in a PUUID. It is not ok where the PUUID is another
// key's, or none at all.
func (s *sealer) open(puuid string) (n uint64, ok bool) {
	if len(puuid) != puuidLength {
		return 0, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(puuid)
	if err != nil || len(raw) != puuidBytes {
		return 0, false
	}
	s.block.Decrypt(raw[0:16], raw[0:16])
	n = binary.BigEndian.Uint64(raw[8:16])
	var again [puuidLength]byte
	return n, string(s.seal(again[:0], n)) == puuid
}
