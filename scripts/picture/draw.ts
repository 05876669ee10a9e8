/** Draws lines of a terminal as an SVG that needs no script and no font of its own. */
import type { Span } from './screen.ts'

/** One line, and the second at which it lights up. */
export interface TimedLine {
  readonly spans: readonly Span[]
  readonly at: number
}

const size = 14
const advance = 8.43
const leading = 19
const margin = 18
const bar = 32

// The window has a background of its own, so it reads the same on a light and on a dark page. A line is dim until its
// turn, never hidden: a still of the picture shows all of it.
const style = `
text { font: ${size}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d5dae1; white-space: pre }
.window { fill: #14181f; stroke: #3a424e }
.bar { fill: #3a424e }
.red { fill: #ff8080 } .green { fill: #7fd88f } .yellow { fill: #ecc666 }
.blue { fill: #85b5ff } .magenta { fill: #d9a0f5 } .cyan { fill: #74d5dd }
.bold { font-weight: bold } .dim { fill: #8f98a5 }
.line { animation: light 1ms both }
@keyframes light { from { opacity: .35 } }
@media (prefers-reduced-motion: reduce) { .line { animation: none } }
`

export function draw(title: string, lines: readonly TimedLine[], columns: number): string {
  const width = Math.ceil(columns * advance + 2 * margin)
  const height = bar + lines.length * leading + 2 * margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    `<rect class="window" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...[0, 1, 2].map((n) => `<circle class="bar" cx="${margin + 6 + n * 20}" cy="20" r="6"/>`),
    ...lines.map(drawLine),
    '</svg>',
    '',
  ].join('\n')
}

function drawLine({ spans, at }: TimedLine, row: number): string {
  const y = bar + margin + row * leading + size
  const texts = spans.map((span) => drawSpan(span, y)).join('')
  return `<g class="line" style="animation-delay:${at.toFixed(2)}s">${texts}</g>`
}

function drawSpan({ column, text, color, bold, dim }: Span, y: number): string {
  const names = [color, bold === true && 'bold', dim === true && 'dim'].filter(Boolean).join(' ')
  const x = (margin + column * advance).toFixed(2)
  // Whatever font the reader has, each part is as wide as its columns.
  const length = (text.length * advance).toFixed(2)
  const kind = names === '' ? '' : ` class="${names}"`
  return `<text${kind} x="${x}" y="${y}" textLength="${length}" xml:space="preserve">${escaped(text)}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
