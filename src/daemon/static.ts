/** The files of the page, as the build made them; without a build there are none. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpAnswer } from './answer.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

/** The page runs no script but our own files, and nobody can put it into a frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types default',
].join('; ')

/** `src/daemon` and the chunks of `dist` are equally deep. */
const webFolder = fileURLToPath(new URL('../../dist/web', import.meta.url))

/** Answers only with names that were in the folder when the daemon started, so that no path leads out of it. */
export function openStatic(folder = webFolder): (path: string) => HttpAnswer {
  const files = new Map<string, string>()
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name)
      if (entry.isFile()) files.set(`/${path.relative(folder, file).split(path.sep).join('/')}`, file)
    }
  } catch {
    // There is no page in this build.
  }
  return (asked) => {
    const name = asked === '/' ? '/index.html' : asked
    const file = files.get(name)
    if (file === undefined) return { status: 404, body: '' }
    const type = types[path.extname(file)] ?? 'application/octet-stream'
    return {
      status: 200,
      headers: { 'content-type': type, 'content-security-policy': policy },
      body: readFileSync(file),
    }
  }
}
