import { expect, test } from 'vitest'
import { isNetwork } from './network-fs.ts'

test('S2: what several machines may write is known as such, and a local disk is not', () => {
  const [nfs, ceph, lustre, gpfs, afs, beegfs] = [
    0x6969, 0xc36400, 0xbd00bd0, 0x47504653, 0x5346414f, 0x19830326,
  ]
  expect([nfs, ceph, lustre, gpfs, afs, beegfs].map(isNetwork)).toEqual(Array(6).fill(true))
  const [ext4, xfs, btrfs, tmpfs, overlay] = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]
  expect([ext4, xfs, btrfs, tmpfs, overlay].map(isNetwork)).toEqual(Array(5).fill(false))
})
