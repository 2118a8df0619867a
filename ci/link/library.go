package link

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// archiveMagic begins a static library (ar(5)); a header of 60 bytes begins each
// member.
const (
	archiveMagic = "!<arch>\n"
	headerLength = 60
	// symbolTableLimit bounds the index of an archive, in bytes: that of a Rust
	// library with all of std is below 1 MiB.
	symbolTableLimit = 64 << 20
)

// Symbols returns the global symbols that a library defines: a static one by the
// index that ld itself resolves by, a shared one by its dynamic symbols.
func Symbols(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the library: %w", err)
	}
	defer f.Close()
	magic := make([]byte, len(archiveMagic))
	if _, err := io.ReadFull(f, magic); err != nil {
		return nil, fmt.Errorf("read the library %s: %w", path, err)
	}
	var names []string
	if string(magic) == archiveMagic {
		names, err = archiveIndex(f)
	} else {
		names, err = dynamicSymbols(f)
	}
	if err != nil {
		return nil, fmt.Errorf("read the library %s: %w", path, err)
	}
	symbols := map[string]bool{}
	for _, name := range names {
		symbols[name] = true
	}
	return symbols, nil
}

var errNoIndex = errors.New("the archive has no index of its symbols; run ranlib on it")

// archiveIndex reads the first member of a System V archive: a count, as many
// offsets, and the names, each ended by a zero byte. Numbers are big-endian, of 4
// bytes in the member "/" and of 8 in "/SYM64/".
func archiveIndex(r io.Reader) ([]string, error) {
	header := make([]byte, headerLength)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, errNoIndex
	}
	var width int
	switch strings.TrimRight(string(header[:16]), " ") {
	case "/":
		width = 4
	case "/SYM64/":
		width = 8
	default:
		return nil, errNoIndex
	}
	size, err := strconv.ParseInt(strings.TrimRight(string(header[48:58]), " "), 10, 64)
	if err != nil || size < int64(width) || size > symbolTableLimit {
		return nil, fmt.Errorf("the index of the archive has the size %q", header[48:58])
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("the index of the archive is cut: %w", err)
	}
	count := uint64(binary.BigEndian.Uint32(data))
	if width == 8 {
		count = binary.BigEndian.Uint64(data)
	}
	if count > uint64(len(data)/width)-1 {
		return nil, fmt.Errorf("the index of the archive names %d symbols in %d bytes", count, size)
	}
	data = data[uint64(width)*(count+1):]
	names := make([]string, 0, count)
	for range count {
		name, rest, ended := bytes.Cut(data, []byte{0})
		if !ended {
			return nil, errors.New("the index of the archive is cut: a name has no end")
		}
		names, data = append(names, string(name)), rest
	}
	return names, nil
}

func dynamicSymbols(r io.ReaderAt) ([]string, error) {
	file, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("neither a static library nor a shared one: %w", err)
	}
	all, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("the dynamic symbols: %w", err)
	}
	var names []string
	for _, s := range all {
		if bind := elf.ST_BIND(s.Info); s.Section != elf.SHN_UNDEF && (bind == elf.STB_GLOBAL || bind == elf.STB_WEAK) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}
