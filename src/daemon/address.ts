/** Decides where the daemon listens and what its own address is, and refuses what would let others in. */
import { isIP } from 'node:net'
import { AppError } from '../core/model/errors.ts'
import type { Entrance } from './guard.ts'

export const loopback = '127.0.0.1'

/** The letters OFFS on the keys of a telephone. */
export const defaultPort = 6337

export interface AddressInput {
  /** The address to listen on. */
  readonly host: string
  readonly port: number
  /** The name that browsers use for it; by default the address itself. */
  readonly name?: string | undefined
  readonly hasTls: boolean
  /** The user has made a token that is valid. */
  readonly hasToken: boolean
}

/** Throws `wrongUsage` for no address, and `policyRefused` for one that other machines reach without TLS and a token. */
export function requireAddress({ host, port, name, hasTls, hasToken }: AddressInput): void {
  if (isIP(host) === 0)
    throw new AppError('wrongUsage', `${JSON.stringify(host)} is no IP address.`, {
      hint: 'A name may stand for several addresses: give the one to listen on, and the name with --name.',
    })
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new AppError('wrongUsage', 'A port is a number from 0 to 65535.', {
      hint: 'offshoot serve --port 0 takes any free port.',
    })
  if (name !== undefined && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
    throw new AppError('wrongUsage', `${JSON.stringify(name)} is no name of a machine.`, {
      hint: 'Give the name alone, without a scheme and a port: --name tower.lan',
    })
  if (host === loopback) return
  if (!hasTls)
    throw new AppError('policyRefused', `Other machines could read along at ${host}: that needs TLS.`, {
      hint: 'Name a certificate and its key: --tls-cert FILE --tls-key FILE',
    })
  if (!hasToken)
    throw new AppError(
      'policyRefused',
      `Other machines could come in at ${host}: that needs a token of yours.`,
      {
        hint: 'Make one first: offshoot token create --scope look',
      },
    )
  if (name === undefined && (host === '0.0.0.0' || host === '::'))
    throw new AppError('wrongUsage', `${host} is no address that a browser could use.`, {
      hint: 'Say which name is used for this machine: --name tower.lan',
    })
}

/** The address of the daemon, once the port is known. A port that is the usual one of its scheme is left out, as in browsers. */
export function entranceOf(
  { host, name, hasTls }: AddressInput,
  port: number,
): Entrance & { origin: string } {
  const shown = name ?? (isIP(host) === 6 ? `[${host}]` : host)
  const url = new URL(`${hasTls ? 'https' : 'http'}://${shown}:${port}`)
  const { origin } = url
  return { host: url.host, origin, isPublic: host !== loopback, address: origin }
}

/** Every client of the unix socket sends the same host, as nobody finds the socket by a name. */
export function socketEntrance(socket: string): Entrance {
  return { host: 'localhost', address: socket }
}
