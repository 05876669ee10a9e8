import { AppError } from '../core/model/errors.ts'

/** A settings file with these values set; the rest of it, and what it says in comments, stays as it is. */
export async function edited(text: string, values: Readonly<Record<string, unknown>>): Promise<string> {
  const { isMap, parseDocument } = await import('yaml')
  const document = parseDocument(text, { logLevel: 'error' })
  if (document.errors.length > 0 || !(document.contents === null || isMap(document.contents)))
    throw new AppError('badSettings', 'The settings file cannot be read, and stays as it is.')
  for (const [key, value] of Object.entries(values)) {
    const [group = '', name = ''] = key.split('.')
    // A group whose lines are all commented out holds nothing at all.
    if (!isMap(document.get(group))) document.set(group, document.createNode({}))
    document.setIn([group, name], value)
  }
  return document.toString({ lineWidth: 0 })
}
