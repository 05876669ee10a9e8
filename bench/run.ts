/** `npm run bench`: times each verb as a multiple of git or Node alone, in one run on one machine. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './built.ts'
import { cases } from './cases/index.ts'
import { header, line, machine, measured, type Result } from './report.ts'
import { makeBenchRepos } from './bench-repos.ts'

const help = `npm run bench -- [--only TEXT] [--rounds N] [--json FILE] [--tmpfs] [--strict]

  --only TEXT   only cases with this in their name
  --rounds N    so many rounds of each, instead of as many as are worth their time
  --json FILE   where the figures go (default: bench/results/latest.json)
  --tmpfs       work in /dev/shm; otherwise in $BENCH_DIR, or in the folder for temporary files
  --strict      exit with 1 when a case is above its bar
`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    json: { type: 'string', default: path.join(import.meta.dirname, 'results', 'latest.json') },
    tmpfs: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) return say(help.trimEnd())
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    throw new Error(`--rounds must be a whole number from 1; found ${values.rounds}`)
  }
  const chosen = cases.filter(({ name }) => name.includes(values.only))
  if (chosen.length === 0) throw new Error(`No case has ${values.only} in its name.`)
  build()
  const repos = await makeBenchRepos(values.tmpfs ? '/dev/shm' : process.env.BENCH_DIR)
  const results: Result[] = []
  say(header)
  for (const one of chosen) {
    const result = await measured(one, repos, rounds)
    results.push(result)
    say(line(result))
  }
  say(machine())
  const file = path.resolve(values.json)
  mkdirSync(path.dirname(file), { recursive: true })
  const figures = { at: new Date().toISOString(), machine: machine(), results }
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
  if (values.strict && results.some(({ over }) => over)) process.exitCode = 1
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

await main()
