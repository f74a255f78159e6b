/** Returns a number with its noun, such as `1 byte` or `2 entries`. Default of the plural: the noun with an `s`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** Says that files are left out whose names a workspace cannot hold. Empty for none. */
export function leftOutNames(count: number, one = 'tracked file'): string[] {
  const [verb, names] = count === 1 ? ['is', 'its name'] : ['are', 'their names']
  return count === 0 ? [] : [`${counted(count, one)} ${verb} left out: a workspace cannot hold ${names}`]
}
