/** Moves the default of a field into its description, for APIs that refuse or ignore the keyword. */
export function withDefaultInDescription(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { default: defaultValue, description, ...rest } = schema
  const parts = [description, ...(defaultValue === undefined ? [] : [`default: ${String(defaultValue)}`])].filter(
    (part) => part !== undefined,
  )
  return parts.length === 0 ? rest : { ...rest, description: parts.join('; ') }
}
