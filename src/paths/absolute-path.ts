/** Joins a path to a directory as a shell does: absolute, without `.`, `..` and doubled slashes. */
export function resolvePath(base: string, path: string): string {
  const names: string[] = []
  for (const name of `${path.startsWith('/') ? '' : base}/${path}`.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
