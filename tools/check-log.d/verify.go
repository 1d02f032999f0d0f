// Checks an archive with other people's code only: sumdb/note and sumdb/tlog of golang.org/x/mod.
//
//	verify DIR VKEY [OLD-CHECKPOINT...]
//
// Signature, every tile up to the root, every record against its leaf hash, and that the log extends
// each older checkpoint. Prints one line and ends with 1 where something is wrong.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const width = 256

// place is the path of an index: three digits a part, all but the last marked by x (C2SP tlog-tiles).
func place(n int64) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n >= 1000 {
		n /= 1000
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	return path
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

// read gives a file of w hashes or records, or the full one that stands in its place by now.
func read(dir, kind string, n, w int64) ([]byte, error) {
	full := filepath.Join(dir, "tile", kind, place(n))
	if w < width {
		data, err := os.ReadFile(full + ".p/" + strconv.FormatInt(w, 10))
		if !errors.Is(err, os.ErrNotExist) {
			return data, err
		}
	}
	return os.ReadFile(full)
}

func checkpoint(file, vkey string) (head tlog.Tree, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return head, err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return head, err
	}
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return head, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return head, errors.New("not a checkpoint of this log")
	}
	if head.N, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return head, err
	}
	head.Hash, err = tlog.ParseHash(lines[2])
	return head, err
}

// bundle gives the leaf hashes of the w records that begin at 256 n.
func bundle(dir string, n, w int64) (hashes []tlog.Hash, err error) {
	data, err := read(dir, "entries", n, w)
	if err != nil {
		return nil, err
	}
	for len(data) > 0 {
		if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("bundle %d: lengths do not fit", n)
		}
		end := 2 + int(binary.BigEndian.Uint16(data))
		hashes = append(hashes, tlog.RecordHash(data[2:end]))
		data = data[end:]
	}
	if count := int64(len(hashes)); count != w && (count != width || w > width) {
		return nil, fmt.Errorf("bundle %d: %d records, not %d", n, count, w)
	}
	return hashes[:w], nil
}

// The tree, made anew from the records. tlog.TileHashReader would do with fewer hashes, but version
// 0.7.0 leaves some tiles unproven where the tree's size has more bits set than the tree has tiles at
// its edge.
type tree []tlog.Hash

func (t tree) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, index := range indexes {
		hashes = append(hashes, t[index])
	}
	return hashes, nil
}

func grow(dir string, size int64) (grown tree, err error) {
	for n := int64(0); n*width < size; n++ {
		w := min(size-n*width, width)
		hashes, err := bundle(dir, n, w)
		if err != nil {
			return nil, err
		}
		for i, hash := range hashes {
			stored, err := tlog.StoredHashesForRecordHash(n*width+int64(i), hash, grown)
			if err != nil {
				return nil, err
			}
			grown = append(grown, stored...)
		}
	}
	return grown, nil
}

func verify(dir, vkey string, older []string) (head tlog.Tree, err error) {
	if head, err = checkpoint(filepath.Join(dir, "checkpoint"), vkey); err != nil {
		return head, err
	}
	grown, err := grow(dir, head.N)
	if err != nil {
		return head, err
	}
	root, err := tlog.TreeHash(head.N, grown)
	if err != nil || root != head.Hash {
		return head, fmt.Errorf("the records do not give the signed root (%v)", err)
	}
	for level, count := 0, head.N; count > 0; level, count = level+1, count/width {
		for n := int64(0); n*width < count; n++ {
			w := min(count-n*width, width)
			wanted, err := tlog.ReadTileData(tlog.Tile{H: 8, L: level, N: n, W: int(w)}, grown)
			if err != nil {
				return head, err
			}
			found, err := read(dir, strconv.Itoa(level), n, w)
			if err == nil && len(found) == width*tlog.HashSize {
				found = found[:len(wanted)]
			}
			if err != nil || !bytes.Equal(found, wanted) {
				return head, fmt.Errorf("tile %d of level %d is another (%v)", n, level, err)
			}
		}
	}
	for _, file := range older {
		old, err := checkpoint(file, vkey)
		if err != nil {
			return head, err
		}
		if old.N == 0 {
			continue
		}
		proof, err := tlog.ProveTree(head.N, old.N, grown)
		if err != nil {
			return head, err
		}
		if err := tlog.CheckTree(proof, head.N, head.Hash, old.N, old.Hash); err != nil {
			return head, fmt.Errorf("not an extension of %d records: %v", old.N, err)
		}
	}
	return head, nil
}

func main() {
	if len(os.Args) < 3 {
		fmt.Println("usage: verify DIR VKEY [OLD-CHECKPOINT...]")
		os.Exit(64)
	}
	head, err := verify(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	fmt.Printf("accepted: %d records, root %v, extends %d older checkpoints\n",
		head.N, head.Hash, len(os.Args)-3)
}
