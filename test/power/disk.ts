/**
 * A file system in an image, and what would be left of it if the power went off now.
 *
 * The image is the disk of a loop device. What a program has written and not synced is in the caches of the mounted
 * file system and has not reached that disk; all that has is in the image file, be it in the host's own cache, which
 * does not count here. So a copy of the file (not of the device, whose cache holds more) is the disk at that moment.
 * It does not show writes that reached the disk and were lost there or swapped: that takes a real disk.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface FileSystem {
  readonly name: string
  readonly make: readonly string[]
  /** The Debian package that makes it. */
  readonly from: string
  /** Nothing is written by itself while a test lasts. */
  readonly mount: string
}

export const fileSystems: readonly FileSystem[] = [
  {
    name: 'ext4',
    make: ['mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0'],
    from: 'e2fsprogs',
    mount: 'loop,commit=300',
  },
  { name: 'xfs', make: ['mkfs.xfs', '-q', '-f'], from: 'xfsprogs', mount: 'loop,nouuid' },
  { name: 'btrfs', make: ['mkfs.btrfs', '-q', '-f'], from: 'btrfs-progs', mount: 'loop,commit=300' },
]

/** The smallest that all of them can be made in; it is sparse. */
const imageBytes = 400 * 1024 * 1024

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
const call = (command: string, ...args: string[]) =>
  execFileSync(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })

export class Disk {
  readonly #fs: FileSystem
  readonly #image: string
  /** Where it is mounted. */
  readonly place: string

  constructor(fs: FileSystem, folder: string) {
    this.#fs = fs
    this.#image = path.join(folder, `${fs.name}.img`)
    this.place = path.join(folder, 'disk')
    mkdirSync(this.place, { recursive: true })
    writeFileSync(this.#image, '')
    truncateSync(this.#image, imageBytes)
    call(fs.make[0] ?? '', ...fs.make.slice(1), this.#image)
    this.#mount()
  }

  #mount(): void {
    call('mount', '-t', this.#fs.name, '-o', this.#fs.mount, this.#image, this.place)
  }

  /** Everything so far is on the disk. */
  sync(): void {
    call('sync', '--file-system', this.place)
  }

  /** The power goes off and comes back: what had not reached the disk is gone. */
  cut(): void {
    call('cp', '--sparse=always', this.#image, `${this.#image}.cut`)
    this.unmount()
    call('mv', `${this.#image}.cut`, this.#image)
    this.#mount()
  }

  unmount(): void {
    spawnSync('umount', ['--lazy', this.place], { env })
  }
}

const isInstalled = ({ make }: FileSystem) => spawnSync('which', [make[0] ?? ''], { env }).status === 0

/** Gets the tool that makes such a disk, where we may; answers what is missing when that fails. */
export function install(fs: FileSystem): string | undefined {
  if (isInstalled(fs) || process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
  const apt = { ...env, DEBIAN_FRONTEND: 'noninteractive' }
  const args = ['install', '--yes', '--no-install-recommends', fs.from]
  const { status, stderr } = spawnSync('apt-get', args, { env: apt, encoding: 'utf8' })
  if (status === 0 && isInstalled(fs)) return undefined
  const why = stderr?.trim().split('\n').at(-1) || 'apt-get cannot be run'
  return `${fs.make[0]}: the package ${fs.from} is not installed, and could not be (${why})`
}

/** Why this machine cannot do it; undefined when it can. */
export function missingFor(fs: FileSystem, folder: string): string | undefined {
  if (process.platform !== 'linux') return `loop devices: this is ${process.platform}`
  if (process.getuid?.() !== 0) return 'the right to mount: this is not root'
  if (!isInstalled(fs)) return `${fs.make[0]}: the package ${fs.from} is not installed`
  mkdirSync(folder, { recursive: true })
  try {
    new Disk(fs, folder).unmount()
    return undefined
  } catch (error) {
    const { stderr, message } = error as { stderr?: Buffer; message: string }
    return `mounting: ${stderr?.toString().trim() || message}`
  }
}
