/**
 * The form of a message, checked before anything of it is read: a program may print anything. Not zod, because every run
 * would wait for it to load (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md).
 */

/** A kind of value, a list of values of one shape, or an object with these fields; `any` is not looked at. */
export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | 'any'
  | readonly [Shape]
  | { readonly [field: string]: Shape }

/** A value of that shape. Every field may be missing. */
export type Shaped<S> = S extends 'string'
  ? string
  : S extends 'number'
    ? number
    : S extends 'boolean'
      ? boolean
      : S extends 'any'
        ? unknown
        : S extends readonly [infer E]
          ? readonly Shaped<E>[]
          : { readonly [F in keyof S]?: Shaped<S[F]> }

/** A value that has another form than it must have. */
export class Misshapen extends Error {}

/** The fields of the shape and no others. A null counts as missing; throws `Misshapen` when a field has another form. */
export function shaped<const S extends Shape>(shape: S, value: unknown, name = 'it'): Shaped<S> {
  return take(shape, value, name) as Shaped<S>
}

function take(shape: Shape, value: unknown, name: string): unknown {
  if (shape === 'any') return value
  if (typeof shape === 'string') {
    if (typeof value !== shape) throw new Misshapen(`${name} is no ${shape}`)
    return value
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) throw new Misshapen(`${name} is no list`)
    return value.map((one, at) => take(shape[0], one, `${name}.${at}`))
  }
  if (typeof value !== 'object' || value === null) throw new Misshapen(`${name} is no object`)
  const fields = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(shape)
      .filter(([field]) => Object.hasOwn(fields, field) && fields[field] !== null)
      .map(([field, inner]) => [field, take(inner, fields[field], `${name}.${field}`)]),
  )
}

const isList = (shape: Exclude<Shape, string>): shape is readonly [Shape] => Array.isArray(shape)
