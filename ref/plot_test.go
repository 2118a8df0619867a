package ref_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// curve is what one of something takes when there are n of it.
type curve struct {
	title  string
	points []point
}

type point struct {
	n  int
	ms float64 // of one of the n
}

// measured are the curves of this run, in the order of the benchmarks.
var measured []curve

// add reports how long one of n took in each iteration of b; of a benchmark that
// is run several times the last one counts.
func (c *curve) add(b *testing.B, n int, unit string) {
	b.Helper()
	p := point{n, float64(b.Elapsed().Microseconds()) / 1000 / float64(b.N*n)}
	b.ReportMetric(p.ms, "ms/"+unit)
	c.points = slices.DeleteFunc(c.points, func(q point) bool { return q.n == n })
	c.points = append(c.points, p)
}

// plot draws all curves into the file that BENCH_PLOT names: what takes linear
// time is a level line.
func (c *curve) plot(b *testing.B) {
	b.Helper()
	file := os.Getenv("BENCH_PLOT")
	if file == "" || len(c.points) == 0 {
		return
	}
	measured = append(measured, *c)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, svg(measured), 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// svg has the number on a logarithmic axis from 1 to 1000, and the time of one on
// a linear axis from 0.
func svg(curves []curve) []byte {
	const width, height, left, top, right, bottom = 720, 400, 70, 30, 190, 50
	const decades = 3
	var longest float64
	for _, c := range curves {
		longest = max(longest, slices.MaxFunc(c.points, func(p, q point) int { return cmp.Compare(p.ms, q.ms) }).ms)
	}
	step := math.Pow(10, math.Floor(math.Log10(longest)))
	ceiling := math.Ceil(longest/step) * step
	x := func(n float64) float64 { return left + math.Log10(n)/decades*(width-left-right) }
	y := func(ms float64) float64 { return height - bottom - ms/ceiling*(height-top-bottom) }
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for ms := 0.0; ms <= ceiling; ms += step {
		fmt.Fprintf(&out, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", left, y(ms), width-right, left-6, y(ms)+4, ms)
	}
	for n := 1.0; n <= 1000; n *= 10 {
		fmt.Fprintf(&out, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", x(n), top, height-bottom, x(n), height-bottom+16, n)
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="middle">how many</text><text x="%d" y="%d">ms for each</text>`+"\n", (left+width-right)/2, height-14, left, top-10)
	for i, c := range curves {
		colour := []string{"#1f77b4", "#d62728", "#2ca02c"}[i%3]
		line := ""
		for _, p := range c.points {
			line += fmt.Sprintf("%.1f,%.1f ", x(float64(p.n)), y(p.ms))
			fmt.Fprintf(&out, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(float64(p.n)), y(p.ms), colour)
		}
		fmt.Fprintf(&out, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", line, colour)
		fmt.Fprintf(&out, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", width-right+12, top+10+20*i, colour, c.title)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// Every point stands where it belongs, and the picture is well-formed.
func TestPlot(t *testing.T) {
	text := svg([]curve{{"servers", []point{{1, 40}, {1000, 20}}}})
	for _, want := range []string{`cx="70.0" cy="30.0"`, `cx="530.0" cy="190.0"`, ">servers</text>"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}
