import { expect, test } from 'vitest'
import { openMetrics } from './metrics.ts'

test('D7: metrics are text that Prometheus reads', () => {
  const metrics = openMetrics()
  metrics.count('asked_total', 'Asked.', { by: 'a"b' })
  metrics.count('asked_total', 'Asked.', { by: 'a"b' }, 2)
  metrics.time('took_seconds', 'Took.', { route: 'api' }, 0.05)
  metrics.gauge('here', 'Here.', () => 7)
  expect(metrics.text()).toMatchInlineSnapshot(`
    "# HELP asked_total Asked.
    # TYPE asked_total counter
    asked_total{by="a_b"} 3
    # HELP took_seconds Took.
    # TYPE took_seconds histogram
    took_seconds_bucket{route="api",le="0.005"} 0
    took_seconds_bucket{route="api",le="0.025"} 0
    took_seconds_bucket{route="api",le="0.1"} 1
    took_seconds_bucket{route="api",le="0.5"} 1
    took_seconds_bucket{route="api",le="2.5"} 1
    took_seconds_bucket{route="api",le="10"} 1
    took_seconds_bucket{route="api",le="60"} 1
    took_seconds_bucket{route="api",le="+Inf"} 1
    took_seconds_sum{route="api"} 0.05
    took_seconds_count{route="api"} 1
    # HELP here Here.
    # TYPE here gauge
    here 7
    "
  `)
})
