import { expect, test } from 'vitest'
import { type AddressInput, entranceOf, requireAddress } from './address.ts'

const here: AddressInput = { host: '127.0.0.1', port: 6337, hasTls: false, hasToken: false }
const open: AddressInput = { ...here, host: '192.168.1.5', hasTls: true, hasToken: true }

test('D1: at home neither TLS nor a token of the user’s is needed', () => {
  expect(() => requireAddress(here)).not.toThrow()
  expect(() => requireAddress({ ...here, port: 0 })).not.toThrow()
})

test.each<[string, AddressInput, string]>([
  ['a name, which may stand for several addresses', { ...here, host: 'localhost' }, 'WT_019'],
  ['another address without TLS', { ...open, hasTls: false }, 'WT_017'],
  ['another address without a token of the user’s', { ...open, hasToken: false }, 'WT_017'],
  ['another address of this machine', { ...here, host: '::1' }, 'WT_017'],
  ['all addresses without TLS', { ...here, host: '0.0.0.0' }, 'WT_017'],
  ['all addresses without a name', { ...open, host: '0.0.0.0' }, 'WT_019'],
  ['all addresses of the other kind without a name', { ...open, host: '::' }, 'WT_019'],
  ['a port that is none', { ...here, port: Number.NaN }, 'WT_019'],
  ['a port above all', { ...here, port: 65536 }, 'WT_019'],
  ['a name with a scheme', { ...open, name: 'https://tower.lan' }, 'WT_019'],
  ['a name with a port', { ...open, name: 'tower.lan:80' }, 'WT_019'],
])('D1: refused: %s', (_, address, code) => {
  expect(() => requireAddress(address)).toThrow(expect.objectContaining({ code }))
})

test('D1: what the user opens with TLS, a token and a name is allowed', () => {
  expect(() => requireAddress(open)).not.toThrow()
  expect(() => requireAddress({ ...open, host: '0.0.0.0', name: 'tower.lan' })).not.toThrow()
})

test('D1: the Host and the Origin are those that a browser sends', () => {
  const origin = 'http://127.0.0.1:6337'
  expect(entranceOf(here, 6337)).toEqual({ host: '127.0.0.1:6337', origin, isPublic: false, address: origin })
  expect(entranceOf(here, 80)).toMatchObject({ host: '127.0.0.1', origin: 'http://127.0.0.1' })
  expect(entranceOf({ ...open, name: 'tower.lan' }, 443)).toMatchObject({
    host: 'tower.lan',
    origin: 'https://tower.lan',
    isPublic: true,
  })
  expect(entranceOf({ ...open, host: 'fd00::1' }, 8443)).toMatchObject({ host: '[fd00::1]:8443' })
})
