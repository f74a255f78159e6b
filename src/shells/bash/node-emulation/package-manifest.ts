/** What a package.json says about modules. */
export interface Manifest {
  readonly name?: string
  readonly type?: string
  readonly main?: unknown
  readonly exports?: unknown
  readonly imports?: unknown
}

/** The statement that asks for a module, which is a condition of `exports` and `imports`. */
export type ImportKind = 'require' | 'import'

/** Returns the target of a name that begins with `#` or with the package's own name. */
export function selfTarget(manifest: Manifest, name: string, kind: ImportKind): string | undefined {
  const { name: packageName, exports, imports } = manifest
  if (name.startsWith('#')) return targetOfPath(imports, name, kind)
  if (packageName === undefined || (name !== packageName && !name.startsWith(`${packageName}/`))) return undefined
  return targetOfPath(exports, `.${name.slice(packageName.length)}`, kind)
}

/** Returns the target of a path in `exports` or `imports`, by Node's conditions. */
export function targetOfPath(table: unknown, key: string, kind: ImportKind): string | undefined {
  const isMap = typeof table === 'object' && table !== null && Object.keys(table).some((name) => /^[.#]/.test(name))
  if (!isMap) return key === '.' ? targetOf(table, kind) : undefined
  const map = table as Record<string, unknown>
  if (Object.hasOwn(map, key)) return targetOf(map[key], kind)
  for (const [pattern, target] of Object.entries(map)) {
    const star = pattern.indexOf('*')
    if (star === -1 || !key.startsWith(pattern.slice(0, star)) || !key.endsWith(pattern.slice(star + 1))) continue
    const middle = key.slice(star, key.length - (pattern.length - star - 1))
    return targetOf(target, kind)?.replaceAll('*', () => middle)
  }
  return undefined
}

function targetOf(target: unknown, kind: ImportKind): string | undefined {
  if (typeof target === 'string') return target
  if (Array.isArray(target)) {
    return target.map((alternative) => targetOf(alternative, kind)).find((path) => path !== undefined)
  }
  if (typeof target !== 'object' || target === null) return undefined
  for (const [condition, inner] of Object.entries(target)) {
    if (condition !== 'node' && condition !== 'default' && condition !== kind) continue
    const path = targetOf(inner, kind)
    if (path !== undefined) return path
  }
  return undefined
}
