/** `npm run docs:picture`: records a session with the built offshoot and draws it as docs/picture.svg. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { makePicture } from './picture.ts'

writeFileSync(path.resolve(import.meta.dirname, '../../docs/picture.svg'), makePicture())
