/** A field's schema with its default told in its description, for APIs that refuse or pass over the keyword. */
export function withDefaultInWords(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { default: usual, description, ...rest } = schema
  const words = [description, ...(usual === undefined ? [] : [`default: ${String(usual)}`])].filter(
    (part) => part !== undefined,
  )
  return words.length === 0 ? rest : { ...rest, description: words.join('; ') }
}
