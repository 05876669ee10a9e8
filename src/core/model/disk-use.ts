/** The disk space that offshoot takes for one repository, and how a size is shown. */
export interface DiskUse {
  /** Bytes of each workspace. A workspace in the user's own checkout counts 0. */
  readonly workspaces: readonly { readonly task: string; readonly path: string; readonly bytes: number }[]
  /** Bytes of what all tasks of the repository share. */
  readonly vault: number
  readonly pool: number
  readonly trash: number
}

/** `512 B`, `3.4 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`
}

/** `workspaces 3.4 MiB, vault 512 B, pool 0 B, trash 12 KiB` */
export function diskText({ workspaces, vault, pool, trash }: DiskUse): string {
  const all = workspaces.reduce((total, { bytes }) => total + bytes, 0)
  return `workspaces ${sizeText(all)}, vault ${sizeText(vault)}, pool ${sizeText(pool)}, trash ${sizeText(trash)}`
}
