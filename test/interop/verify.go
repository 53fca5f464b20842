// Reads a log with another implementation of notes, tiles and proofs: golang.org/x/mod/sumdb.
//
//	verify check <where> <vkey> <witness vkey> <first,first,…> <index,index,…>
//	verify sign <name>
//	verify proof <tlog-proof> <entry> <vkey>
//
// check opens the checkpoint at <where> (a folder or a URL) and computes its root from the log's tiles. It makes and
// checks a consistency proof from each first size and an inclusion proof of each leaf, compares every entry of the
// bundles with its leaf hash, and prints the proofs. sign reads a text from standard input, signs it as a note with a
// new key, and prints the note and the key. proof verifies the C2SP tlog-proof in the file <tlog-proof> for the bytes in
// the file <entry>, and prints index and size. After any error, the program prints a message and exits with code 1.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8

type report struct {
	Size      int64  `json:"size"`
	Root      string `json:"root"`
	Witnessed bool   `json:"witnessed"`
	// Numbers of fetched tiles and of hashed entries.
	Tiles   int   `json:"tiles"`
	Entries int64 `json:"entries"`
	// Proofs by leaf index (inclusion) and by first size (consistency).
	Inclusion   map[int64][]string `json:"inclusion"`
	Consistency map[int64][]string `json:"consistency"`
}

func main() {
	var result any
	var err error
	switch {
	case len(os.Args) == 7 && os.Args[1] == "check":
		result, err = check(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6])
	case len(os.Args) == 3 && os.Args[1] == "sign":
		result, err = sign(os.Args[2])
	case len(os.Args) == 5 && os.Args[1] == "proof":
		result, err = proof(os.Args[2], os.Args[3], os.Args[4])
	default:
		err = errors.New("check <where> <vkey> <witness vkey> <first sizes> <leaf indices>, sign <name>, or proof <tlog-proof> <entry> <vkey>")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(result)
}

func check(where, vkey, witnessKey, firstSizes, leafIndices string) (*report, error) {
	firsts, err := numbers(firstSizes)
	if err != nil {
		return nil, err
	}
	leaves, err := numbers(leafIndices)
	if err != nil {
		return nil, err
	}
	tree, witnessed, err := openCheckpoint(where, vkey, witnessKey)
	if err != nil {
		return nil, err
	}
	tiles := &tileReader{where: where, fetched: map[string]bool{}}
	reader := tlog.TileHashReader(tree, tiles)
	root, err := tlog.TreeHash(tree.N, reader)
	if err != nil {
		return nil, err
	}
	if root != tree.Hash {
		return nil, fmt.Errorf("the tiles give root %v, the checkpoint has %v", root, tree.Hash)
	}
	result := &report{
		Size:        tree.N,
		Root:        hex.EncodeToString(root[:]),
		Witnessed:   witnessed,
		Inclusion:   map[int64][]string{},
		Consistency: map[int64][]string{},
	}
	for _, index := range leaves {
		proof, err := proveRecord(tree, index, reader)
		if err != nil {
			return nil, fmt.Errorf("leaf %d: %w", index, err)
		}
		result.Inclusion[index] = hexes(proof)
	}
	for _, first := range firsts {
		proof, err := proveTree(tree, first, reader)
		if err != nil {
			return nil, fmt.Errorf("size %d: %w", first, err)
		}
		result.Consistency[first] = hexes(proof)
	}
	result.Entries, err = checkEntries(where, tree.N, reader)
	if err != nil {
		return nil, err
	}
	result.Tiles = len(tiles.fetched)
	return result, nil
}

// proof verifies the checkpoint in a tlog-proof with the log's key, and that the tree has the entry at the index.
func proof(proofFile, entryFile, vkey string) (map[string]int64, error) {
	text, err := os.ReadFile(proofFile)
	if err != nil {
		return nil, err
	}
	entry, err := os.ReadFile(entryFile)
	if err != nil {
		return nil, err
	}
	head, signed, found := strings.Cut(string(text), "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return nil, errors.New("not a tlog-proof")
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	if err != nil {
		return nil, err
	}
	var path tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return nil, err
		}
		path = append(path, hash)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, err
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return nil, err
	}
	parts := strings.Split(opened.Text, "\n")
	if len(parts) < 3 || parts[0] != verifier.Name() {
		return nil, errors.New("not a checkpoint of this log")
	}
	size, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return nil, err
	}
	root, err := tlog.ParseHash(parts[2])
	if err != nil {
		return nil, err
	}
	if err := tlog.CheckRecord(path, size, root, index, tlog.RecordHash(entry)); err != nil {
		return nil, err
	}
	return map[string]int64{"index": index, "size": size}, nil
}

// openCheckpoint verifies the note. The log's signature is required; the witness's signature is optional.
func openCheckpoint(where, vkey, witnessKey string) (tree tlog.Tree, witnessed bool, err error) {
	message, err := get(where, "checkpoint")
	if err != nil {
		return tree, false, err
	}
	log, err := note.NewVerifier(vkey)
	if err != nil {
		return tree, false, err
	}
	witness, err := newCosignatureVerifier(witnessKey)
	if err != nil {
		return tree, false, err
	}
	opened, err := note.Open(message, note.VerifierList(log, witness))
	if err != nil {
		return tree, false, err
	}
	signed := map[string]bool{}
	for _, signature := range opened.Sigs {
		signed[signature.Name] = true
	}
	origin, rest, _ := strings.Cut(opened.Text, "\n")
	if !signed[log.Name()] || origin != log.Name() {
		return tree, false, fmt.Errorf("a checkpoint of %q that %q has not signed", origin, log.Name())
	}
	// ParseTree accepts only the origin of the Go checksum database.
	tree, err = tlog.ParseTree([]byte("go.sum database tree\n" + rest))
	return tree, signed[witness.Name()], err
}

func proveRecord(tree tlog.Tree, index int64, reader tlog.HashReader) (tlog.RecordProof, error) {
	leaf, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
	if err != nil {
		return nil, err
	}
	proof, err := tlog.ProveRecord(tree.N, index, reader)
	if err != nil {
		return nil, err
	}
	return proof, tlog.CheckRecord(proof, tree.N, tree.Hash, index, leaf[0])
}

func proveTree(tree tlog.Tree, first int64, reader tlog.HashReader) (tlog.TreeProof, error) {
	root, err := tlog.TreeHash(first, reader)
	if err != nil {
		return nil, err
	}
	proof, err := tlog.ProveTree(tree.N, first, reader)
	if err != nil {
		return nil, err
	}
	return proof, tlog.CheckTree(proof, tree.N, tree.Hash, first, root)
}

// checkEntries compares the entries of every bundle with their leaf hashes, and returns the number of entries.
func checkEntries(where string, size int64, reader tlog.HashReader) (int64, error) {
	for start := int64(0); start < size; start += 1 << tileHeight {
		width := size - start
		if width > 1<<tileHeight {
			width = 1 << tileHeight
		}
		tile := tlog.Tile{H: tileHeight, L: 0, N: start >> tileHeight, W: int(width)}
		bundle, err := get(where, strings.Replace(tilePath(tile), "tile/0/", "tile/entries/", 1))
		if err != nil {
			return 0, err
		}
		indexes := make([]int64, width)
		for i := range indexes {
			indexes[i] = tlog.StoredHashIndex(0, start+int64(i))
		}
		hashes, err := reader.ReadHashes(indexes)
		if err != nil {
			return 0, err
		}
		for i, hash := range hashes {
			if len(bundle) < 2 || len(bundle) < 2+int(binary.BigEndian.Uint16(bundle)) {
				return 0, fmt.Errorf("entry %d is truncated", start+int64(i))
			}
			length := int(binary.BigEndian.Uint16(bundle))
			if tlog.RecordHash(bundle[2:2+length]) != hash {
				return 0, fmt.Errorf("entry %d has another hash than its leaf", start+int64(i))
			}
			bundle = bundle[2+length:]
		}
		if len(bundle) > 0 {
			return 0, fmt.Errorf("%d bytes after the entries from %d", len(bundle), start)
		}
	}
	return size, nil
}

// tileReader fetches tiles from a folder or a URL. The tlog package verifies them against the tree's root.
type tileReader struct {
	where   string
	fetched map[string]bool
}

func (*tileReader) Height() int                     { return tileHeight }
func (*tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, tile := range tiles {
		path := tilePath(tile)
		bytes, err := get(r.where, path)
		if err != nil {
			return nil, err
		}
		if len(bytes) != tile.W*tlog.HashSize {
			return nil, fmt.Errorf("%s has %d bytes", path, len(bytes))
		}
		data[i] = bytes
		r.fetched[path] = true
	}
	return data, nil
}

// tilePath returns the path as in C2SP tlog-tiles, without the tile height.
func tilePath(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight), "tile/", 1)
}

func get(where, path string) ([]byte, error) {
	if !strings.HasPrefix(where, "http://") {
		return os.ReadFile(filepath.Join(where, filepath.FromSlash(path)))
	}
	answer, err := http.Get(where + "/" + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// cosignatureVerifier verifies C2SP tlog-cosignature, which this version of sumdb does not support.
type cosignatureVerifier struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newCosignatureVerifier(vkey string) (*cosignatureVerifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("malformed witness key")
	}
	hash, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != 4 {
		return nil, errors.New("malformed witness key")
	}
	return &cosignatureVerifier{parts[0], uint32(hash), key[1:]}, nil
}

func (v *cosignatureVerifier) Name() string    { return v.name }
func (v *cosignatureVerifier) KeyHash() uint32 { return v.hash }

func (v *cosignatureVerifier) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	seconds := binary.BigEndian.Uint64(signature)
	message := append([]byte(fmt.Sprintf("cosignature/v1\ntime %d\n", seconds)), text...)
	return ed25519.Verify(v.key, message, signature[8:])
}

func sign(name string) (map[string]string, error) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return nil, err
	}
	secret, vkey, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return nil, err
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, err
	}
	signed, err := note.Sign(&note.Note{Text: string(text)}, signer)
	return map[string]string{"vkey": vkey, "note": string(signed)}, err
}

func numbers(list string) ([]int64, error) {
	var found []int64
	for _, text := range strings.Split(list, ",") {
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		found = append(found, number)
	}
	return found, nil
}

func hexes[H ~[]tlog.Hash](hashes H) []string {
	found := []string{}
	for _, hash := range hashes {
		found = append(found, hex.EncodeToString(hash[:]))
	}
	return found
}
