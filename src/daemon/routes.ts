/** Every way into the daemon, once: what no row names is not there (docs/adr/0060-one-guard.md). */

/**
 * Who may take a way: `anybody`, as it tells nothing secret and changes nothing; the `page` before it has a key;
 * whoever holds a `credential`; or only the `owner`, with the token of daemon.json.
 */
type Access = 'anybody' | 'page' | 'credential' | 'owner'

export interface Route {
  readonly method: 'GET' | 'POST'
  /** An exact path; one that ends in `*` also takes whatever follows. */
  readonly path: string
  readonly access: Access
  /** The connection becomes another one: a WebSocket, or the way of a command line. */
  readonly upgrades?: true
  /** The largest body in bytes; a GET has none. */
  readonly largest: number
}

const small = 4 * 1024
const large = 1024 * 1024

export const routes = {
  health: { method: 'GET', path: '/healthz', access: 'anybody', largest: 0 },
  openapi: { method: 'GET', path: '/openapi.json', access: 'anybody', largest: 0 },
  prove: { method: 'POST', path: '/prove', access: 'anybody', largest: small },
  key: { method: 'POST', path: '/page/key', access: 'page', largest: small },
  code: { method: 'POST', path: '/page/code', access: 'owner', largest: small },
  stop: { method: 'POST', path: '/stop', access: 'owner', largest: small },
  metrics: { method: 'GET', path: '/metrics', access: 'credential', largest: 0 },
  api: { method: 'POST', path: '/api/*', access: 'credential', largest: large },
  command: { method: 'GET', path: '/command', access: 'owner', upgrades: true, largest: 0 },
  socket: { method: 'GET', path: '/ws', access: 'credential', upgrades: true, largest: 0 },
  // The files of the page come last, so that no file hides a way.
  file: { method: 'GET', path: '/*', access: 'anybody', largest: 0 },
} as const satisfies Record<string, Route>

export type RouteName = keyof typeof routes

/** The first row that fits; undefined when none does. */
export function findRoute(method: string, path: string, upgrades: boolean): RouteName | undefined {
  const rows = Object.entries(routes) as [RouteName, Route][]
  const found = rows.find(
    ([, route]) =>
      route.method === method && (route.upgrades ?? false) === upgrades && fits(route.path, path),
  )
  return found?.[0]
}

/** What follows the fixed part of a path: `task.list` of `/api/task.list`. */
export function restOf(name: RouteName, path: string): string {
  return path.slice(routes[name].path.length - 1)
}

function fits(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern
}
