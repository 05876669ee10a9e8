import { startsOf } from './fault-sweep.ts'
import type { Tally } from './inject.ts'

interface Row {
  readonly journey: string
  readonly kind: string
  readonly tally: Tally
}

/** Journeys down, kinds across: points, and behind a stroke the anomalies if there are any. */
export function faultTable(rows: readonly Row[]): string {
  const kills = sum(rows, ({ kind, tally }) => (kind.includes('kill') ? tally.points : 0))
  return [
    ...grid('Points hit, journey by kind of fault', rows),
    `The recovery is hit from ${startsOf({})} kills on, spread over a journey; of the main ones from ${startsOf({ main: true })}.`,
    'To go on (repeat, undo, start) is tried once from each kind of state that a recovery leaves.',
    closing(rows, ` ${kills} of them kill points,`),
  ].join('\n')
}

/** The same for what a second writer does. */
export function meetingTable(rows: readonly Row[]): string {
  return [...grid('Effects at which somebody else wrote, journey by deed', rows), closing(rows, '')].join(
    '\n',
  )
}

function grid(title: string, rows: readonly Row[]): string[] {
  const journeys = [...new Set(rows.map((row) => row.journey))]
  const kinds = [...new Set(rows.map((row) => row.kind))]
  const legend = kinds.map((kind, index) => `${letter(index)} ${kind}`)
  const width = Math.max(...journeys.map((name) => name.length))
  const lines = journeys.map((journey) => {
    const cells = kinds.map((kind) => cell(rows.find((row) => row.journey === journey && row.kind === kind)))
    return `${journey.padEnd(width)} ${cells.join('')}`
  })
  return [
    `${title} (points/anomalies where there are any):`,
    ...legend.map((line) => `  ${line}`),
    `${' '.repeat(width)} ${kinds.map((_, index) => letter(index).padStart(6)).join('')}`,
    ...lines,
  ]
}

function closing(rows: readonly Row[], more: string): string {
  const points = sum(rows, ({ tally }) => tally.points)
  const anomalies = sum(rows, ({ tally }) => tally.anomalies.length)
  return `${points} points,${more} ${anomalies} anomalies`
}

function letter(index: number): string {
  return String.fromCharCode(65 + index)
}

function cell(row: Row | undefined): string {
  if (!row) return '-'.padStart(6)
  const { points, anomalies } = row.tally
  return (anomalies.length > 0 ? `${points}/${anomalies.length}` : String(points)).padStart(6)
}

function sum(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((all, row) => all + of(row), 0)
}
