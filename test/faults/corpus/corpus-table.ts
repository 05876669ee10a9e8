import type { Isolation } from './action.ts'
import type { Verdict } from './check-action.ts'

export interface Row {
  readonly action: string
  readonly isolation: Isolation
  readonly verdict: Verdict
}

export const columns = {
  next: 'next step complete',
  earlier: 'earlier steps readable',
  code: 'no agent code run',
  user: "user's repository as promised",
} as const

export type Column = keyof typeof columns

export function corpusTable(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ action }) => action.length))
  const keys = Object.keys(columns) as Column[]
  const cells = (verdict: Verdict | undefined) =>
    keys.map((key) => (!verdict ? ' ' : verdict[key].length === 0 ? '+' : 'X')).join('  ')
  const names = [...new Set(rows.map(({ action }) => action))]
  const find = (action: string, isolation: Isolation) =>
    rows.find((row) => row.action === action && row.isolation === isolation)
  const red = rows.filter(({ verdict }) => keys.some((key) => verdict[key].length > 0))
  return [
    'What an agent does, and what holds after it (+ holds, X does not, blank: does not apply):',
    ...keys.map((key, index) => `  ${String.fromCharCode(65 + index)}  ${columns[key]}`),
    `${' '.repeat(width)}  ${'worktree'.padEnd(12)}clone`,
    `${' '.repeat(width)}  ${'A  B  C  D'.padEnd(12)}A  B  C  D`,
    ...names.map((name) => {
      const [worktree, clone] = [find(name, 'worktree'), find(name, 'clone')]
      const notes = [...new Set([worktree, clone].flatMap((row) => row?.verdict.notes ?? []))].join('; ')
      return `${name.padEnd(width)}  ${cells(worktree?.verdict).padEnd(12)}${cells(clone?.verdict).padEnd(12)}${notes}`.trimEnd()
    }),
    `${names.length} actions, ${rows.length} cases, ${red.length} with something wrong`,
  ].join('\n')
}
