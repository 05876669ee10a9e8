/** Of the file systems that reach over a network, as statfs tells them: NFS, SMB, CIFS, SMB2, 9P, FUSE (sshfs). */
const networkTypes: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546,
])

/** A write-ahead log needs memory that all writers share; where they may sit on different machines there is none. */
export function isNetwork(type: number): boolean {
  return networkTypes.has(type)
}
