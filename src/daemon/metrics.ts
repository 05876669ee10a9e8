/** What the daemon counts, in the text format of Prometheus. */

type Labels = Readonly<Record<string, string>>

export interface Metrics {
  /** Adds to a counter. */
  count(name: string, help: string, labels?: Labels, by?: number): void
  /** Adds a duration to a histogram. */
  time(name: string, help: string, labels: Labels, seconds: number): void
  /** A value that is read when somebody asks. */
  gauge(name: string, help: string, read: () => number): void
  text(): string
}

const buckets = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

export function openMetrics(): Metrics {
  const families = new Map<string, { help: string; type: string; values: Map<string, number> }>()
  const gauges = new Map<string, { help: string; read: () => number }>()
  const add = (family: string, type: string, help: string, line: string, by: number) => {
    const found = families.get(family) ?? { help, type, values: new Map<string, number>() }
    families.set(family, found)
    found.values.set(line, (found.values.get(line) ?? 0) + by)
  }
  return {
    count: (name, help, labels = {}, by = 1) => add(name, 'counter', help, `${name}${labelText(labels)}`, by),
    time(name, help, labels, seconds) {
      for (const bucket of [...buckets, Number.POSITIVE_INFINITY]) {
        const le = bucket === Number.POSITIVE_INFINITY ? '+Inf' : String(bucket)
        const isIn = seconds <= bucket ? 1 : 0
        add(name, 'histogram', help, `${name}_bucket${labelText({ ...labels, le })}`, isIn)
      }
      add(name, 'histogram', help, `${name}_sum${labelText(labels)}`, seconds)
      add(name, 'histogram', help, `${name}_count${labelText(labels)}`, 1)
    },
    gauge: (name, help, read) => void gauges.set(name, { help, read }),
    text() {
      const head = (name: string, help: string, type: string) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
      ]
      const lines = [...families].flatMap(([name, { help, type, values }]) => [
        ...head(name, help, type),
        ...[...values].map(([line, value]) => `${line} ${value}`),
      ])
      const read = [...gauges].flatMap(([name, gauge]) => [
        ...head(name, gauge.help, 'gauge'),
        `${name} ${gauge.read()}`,
      ])
      return `${[...lines, ...read].join('\n')}\n`
    },
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, '_')}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
