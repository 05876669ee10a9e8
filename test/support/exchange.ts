/** Programs of somebody who races us: folders and links change places in a loop, or a path grows beyond every limit. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { tempFolder } from './repo.ts'

const source = `
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int count(const char *folder) {
  DIR *dir = opendir(folder);
  int n = 0;
  if (!dir) return 0;
  while (readdir(dir)) n++;
  closedir(dir);
  return n - 2;
}

int main(int argc, char **argv) {
  if (argc > 3 && !strcmp(argv[1], "deep")) {
    if (chdir(argv[2])) return 1;
    for (int left = atoi(argv[3]); left > 0; left--)
      if (mkdir(argv[4], 0755) || chdir(argv[4])) return 1;
    int file = open("file", O_CREAT | O_WRONLY, 0644);
    return file < 0 || write(file, "deep\\n", 5) != 5;
  }
  const char *one = argv[2], *other = argv[3];
  for (int wanted = atoi(argv[1]); count(one) < wanted;) {}
  if (argc > 4) {
    if (rename(one, other) || symlink(argv[4], one)) return 1;
    for (;;) pause();
  }
  for (;;) syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2);
}
`

/** What is missing here for these programs; undefined when nothing is. */
export function missingForExchange(): string | undefined {
  if (process.platform !== 'linux') return 'renameat2, which only Linux has'
  return spawnSync('cc', ['--version']).status === 0 ? undefined : 'cc, a C compiler'
}

function compiled(): string {
  const folder = tempFolder()
  writeFileSync(path.join(folder, 'exchange.c'), source)
  execFileSync('cc', ['-O1', '-o', path.join(folder, 'exchange'), path.join(folder, 'exchange.c')])
  return path.join(folder, 'exchange')
}

export interface Exchanger {
  /** From when `one` has so many entries, it and `other` change places without end, while `work` runs. */
  during<T>(wanted: number, one: string, other: string, work: () => Promise<T>): Promise<T>
  /** The same, but once: `one` is renamed to `other`, and then is a link to `outside`. */
  onceDuring<T>(wanted: number, paths: MovedAway, work: () => Promise<T>): Promise<T>
  /** Makes `levels` folders of that name within each other, and a file in the last. */
  makeDeep(folder: string, levels: number, name: string): void
}

interface MovedAway {
  readonly one: string
  readonly other: string
  readonly outside: string
}

export function exchanger(): Exchanger {
  const program = compiled()
  return {
    during: (wanted, one, other, work) => whileRunning(program, [String(wanted), one, other], work),
    onceDuring: (wanted, { one, other, outside }, work) =>
      whileRunning(program, [String(wanted), one, other, outside], work),
    makeDeep: (folder, levels, name) => execFileSync(program, ['deep', folder, String(levels), name]),
  }
}

async function whileRunning<T>(program: string, args: string[], work: () => Promise<T>): Promise<T> {
  const child = spawn(program, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  await once(child, 'spawn')
  try {
    return await work()
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** How long each attack goes on: a few seconds, or as many as ATTACK_SECONDS says. */
export const attackSeconds = Number(process.env.ATTACK_SECONDS ?? 4)

/** Repeats the attack until its time is over; at least once. */
export async function repeatedly(attack: (round: number) => Promise<void>): Promise<number> {
  const end = Date.now() + attackSeconds * 1000
  let round = 0
  do await attack(round++)
  while (Date.now() < end)
  return round
}
