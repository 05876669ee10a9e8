/** TOML files of other tools, read with the package `smol-toml`, which only `config import` loads. */
import { parse, TomlError } from 'smol-toml'
import { AppError } from '../core/model/errors.ts'

/** The tables and values of a TOML text. Throws `badSettings` with the line of the first mistake. */
export function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new AppError('badSettings', `Line ${error.line} is not valid TOML: ${reason(error)}.`, {
      hint: 'Correct that line, or copy the commands by hand into hooks.postStart of .offshoot.yaml.',
    })
  }
}

/** The first sentence of the message, without its heading and the quoted line. */
function reason({ message }: TomlError): string {
  return (message.split('\n', 1)[0] ?? '').replace(/^Invalid TOML document: /, '')
}
