/** The warning that the disk is nearly full, for every verb that makes something. */
import type { Settings } from '../model/settings.ts'
import type { Ports } from '../ports/index.ts'

/** How full a disk is, from 0 to 100. */
export function usedPercent({ free, total }: { readonly free: number; readonly total: number }): number {
  return total === 0 ? 0 : Math.floor((1 - free / total) * 100)
}

export async function readUsedPercent(ports: Pick<Ports, 'disk' | 'home'>): Promise<number> {
  return usedPercent(await ports.disk.readFreeSpace(ports.home))
}

export function fullText(home: string, used: number, { disk }: Settings): string {
  return `The disk of ${home} is ${used} % full (disk.warnPercent is ${disk.warnPercent}).`
}

/** Lines for the user, none as long as the disk has space. It never fails: the verb before it has done its work. */
export async function diskWarnings(
  ports: Pick<Ports, 'disk' | 'home' | 'locate' | 'settings'>,
  dir: string,
): Promise<string[]> {
  try {
    const used = await readUsedPercent(ports)
    const settings = await ports.settings.read((await ports.locate(dir)).checkout)
    if (used < settings.disk.warnPercent) return []
    return [`${fullText(ports.home, used, settings)} offshoot prune --dry-run shows what can go.`]
  } catch {
    return []
  }
}
