/** Returns the value of a name in a table: none for names that every object has, such as `constructor`. */
export function ownValue<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}
