/** What things cost on the disk, in words. */
import type { DiskUse } from './disk.ts'

/** `512 B`, `3.4 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`
}

/** All of it in one line. */
export function diskText({ workspaces, vault, pool, trash }: DiskUse): string {
  const all = workspaces.reduce((total, { bytes }) => total + bytes, 0)
  return `workspaces ${sizeText(all)}, vault ${sizeText(vault)}, pool ${sizeText(pool)}, trash ${sizeText(trash)}`
}
