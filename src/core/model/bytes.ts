/**
 * Paths as git has them: bytes, not text. A `BytePath` is a string with one character per byte (latin1): `ä.txt` in UTF-8 is
 * `'\xc3\xa4.txt'`. It compares, splits and serves as a key like text, and loses nothing; it becomes text only to be shown.
 */
export type BytePath = string

export function toBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1')
}

export function fromBytes(bytes: Uint8Array): BytePath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

export function fromText(text: string): BytePath {
  return fromBytes(Buffer.from(text, 'utf8'))
}

export function toText(path: BytePath): string {
  return toBytes(path).toString('utf8')
}

/** The full path of a file below a folder, as bytes for the functions of `node:fs`. */
export function below(folder: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), toBytes(path)])
}

/** The parts of NUL-separated output. */
export function splitNul(output: Uint8Array): BytePath[] {
  const text = fromBytes(output)
  return text === '' ? [] : text.replace(/\0$/, '').split('\0')
}
