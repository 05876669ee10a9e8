/** The findings that doctor and repair show: scan and judge, with a moved repository recognized. */
import type { Ports } from '../ports/index.ts'
import { findRepo, isInWorkspace } from '../tasks/repo.ts'
import { type Finding, judge } from './judge.ts'
import { findMoved } from './relink.ts'
import { scan, type ScanOptions } from './scan.ts'

/** Every disagreement between the records, the folders and git, each with its verdict. */
export async function examine(
  ports: Ports,
  dir: string,
  options: ScanOptions,
  signal?: AbortSignal,
): Promise<Finding[]> {
  // If git does not work here, the scan reports it.
  const moved = await findMoved(ports, dir, signal).catch(() => undefined)
  signal?.throwIfAborted()
  const world = await scan(ports, options, signal)
  // In a workspace a command without `-C` may act on that task alone, so its hints name the repository.
  const here = (await isInWorkspace(ports, dir))
    ? undefined
    : await findRepo(ports, dir).catch(() => undefined)
  const found = judge(world, here?.repo?.id)
  if (!moved) return found
  const { record, place } = moved
  const hint = 'offshoot repair'
  return found.map((finding) =>
    finding.name === `repository ${record.name}` && finding.verdict === 'report'
      ? { ...finding, message: `it was moved from ${record.commonDir} to ${place.commonDir}`, hint }
      : finding,
  )
}
