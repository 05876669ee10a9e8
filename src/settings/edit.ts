/** Edits a settings file. */
import { AppError } from '../core/model/errors.ts'

/** Sets these values in the text of a settings file; all other keys and the comments stay. */
export async function editSettings(text: string, values: Readonly<Record<string, unknown>>): Promise<string> {
  const { isMap, parseDocument } = await import('yaml')
  const document = parseDocument(text, { logLevel: 'error' })
  if (document.errors.length > 0 || !(document.contents === null || isMap(document.contents)))
    throw new AppError('badSettings', 'The settings file is not valid YAML, and was not changed.')
  for (const [key, value] of Object.entries(values)) {
    const [group = '', name = ''] = key.split('.')
    // A group whose lines are all commented out is null.
    if (!isMap(document.get(group))) document.set(group, document.createNode({}))
    document.setIn([group, name], value)
  }
  return document.toString({ lineWidth: 0 })
}
