/** Returns a number with its noun, such as `1 byte` or `2 entries`. Default of the plural: the noun with an `s`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
