/** Maps a field of a normalized policy to the field as written, such as `rules` to `security.policy.rules`. */
export type FieldOrigins = ReadonlyMap<string, string>

/**
 * Returns the object with its keys in camelCase: `allowed_paths`, `AllowedPaths` and `allowedPaths` are one field.
 *
 * @param section the path of the object, `''` for the policy itself
 * @param origins receives the fields that are written differently
 * @throws TypeError for a field that occurs in two spellings
 */
export function toCamelCase(
  input: Readonly<Record<string, unknown>>,
  section: string,
  origins: Map<string, string>,
): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(input)) {
    const name = camelCase(key)
    if (Object.hasOwn(result, name)) {
      throw new TypeError(`Policy field "${fieldIn(section, key)}" occurs twice, in two spellings; keep one`)
    }
    if (name !== key) origins.set(fieldIn(section, name), fieldIn(writtenField(section, origins), key))
    result[name] = value
  }
  return result
}

/** Converts `snake_case` and `PascalCase` to `camelCase`. Other spellings stay. */
export function camelCase(key: string): string {
  if (/^[a-z]+(?:_[a-z]+)+$/.test(key)) return key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
  if (/^(?:[A-Z]+[a-z]+)+$/.test(key))
    return key.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/, (start) => start.toLowerCase())
  return key
}

/** Returns the path of a field of a section. */
export function fieldIn(section: string, name: string): string {
  return section === '' ? name : `${section}.${name}`
}

/** Returns the field as written, by the longest part of its path that is written differently. */
export function writtenField(field: string, origins: FieldOrigins): string {
  for (
    let end = field.length;
    end > 0;
    end = Math.max(field.lastIndexOf('.', end - 1), field.lastIndexOf('[', end - 1))
  ) {
    const origin = origins.get(field.slice(0, end))
    if (origin !== undefined) return origin + field.slice(end)
  }
  return field
}

/** Runs a function. If it throws a TypeError about a policy field, the error names the field as written. */
export function nameWrittenFields<T>(origins: FieldOrigins, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof TypeError) || origins.size === 0) throw error
    let written = ''
    const rename = (_: string, start: string, field: string) => {
      written = writtenField(field, origins)
      return `${start}${written}"`
    }
    const message = error.message.replace(/(field ")([^"]+)"/i, rename)
    if (!/ is unknown[;:]/.test(message) || !written.slice(written.lastIndexOf('.') + 1).includes('_'))
      throw new TypeError(message)
    // The suggestion has the spelling of the field: both spellings are valid.
    throw new TypeError(message.replace(/(?<=did you mean ")\w+/, snakeCase))
  }
}

/** Converts `camelCase` to `snake_case`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
