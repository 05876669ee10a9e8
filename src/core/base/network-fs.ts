/** Tells network file systems, on which SQLite's write-ahead log must not be used, by their statfs type. */

/** File systems that several machines may write to, by the type number that statfs answers. */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE (sshfs)'],
  [0x00c36400, 'CephFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS (kAFS)'],
  [0x19830326, 'BeeGFS'],
  [0x73757245, 'Coda'],
  [0xaad7aaea, 'PanFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x786f4256, 'VirtualBox shared folders'],
  [0xbacbacbc, 'VMware shared folders'],
])

/** A write-ahead log needs memory that all writers share, and writers on different machines share none. */
export function isNetwork(type: number): boolean {
  return networkTypes.has(type)
}
