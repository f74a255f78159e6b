import type { ScriptFiles } from './script.ts'

const utf8 = new TextDecoder()

/**
 * Returns the source of a module by the name that the resolver gave it: a path, or with `node:`, `commonjs:` or `json:`
 * before it, a module that re-exports what `require` returns.
 */
export async function moduleSource(
  name: string,
  files: ScriptFiles,
  builtins: ReadonlyMap<string, readonly string[]>,
): Promise<string> {
  const [, kind, target = ''] = /^(node|commonjs|json):(.*)$/s.exec(name) ?? []
  if (kind === 'node') return reExport({ builtin: target }, builtins.get(target) as readonly string[])
  const path = kind === undefined ? name : target
  const text = utf8.decode(await files.readFileBuffer(path))
  if (kind !== undefined) return reExport({ path, format: kind }, kind === 'json' ? [] : exportedNames(text))
  const source = text.replace(/^#!/, '//')
  if (!source.includes('import.meta')) return source
  const [file, directory] = [path, path.slice(0, path.lastIndexOf('/')) || '/'].map((value) => JSON.stringify(value))
  const url = JSON.stringify(`file://${path.split('/').map(encodeURIComponent).join('/')}`)
  return `import.meta.url=${url};import.meta.filename=${file};import.meta.dirname=${directory};${source}`
}

function reExport(module: object, names: readonly string[]): string {
  const identifiers = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default')
  const list = identifiers.map((name, i) => `const e${i} = m[${JSON.stringify(name)}]; export { e${i} as ${name} };`)
  return `const m = __ward.imported(${JSON.stringify(module)}); export default m; ${list.join(' ')}`
}

/** The names that a CommonJS module exports by plain assignments. */
function exportedNames(text: string): string[] {
  const names = new Set<string>()
  for (const [, name] of text.matchAll(/\bexports\.([A-Za-z_$][\w$]*)\s*=/g)) names.add(name as string)
  const [, body = ''] = /\bmodule\.exports\s*=\s*\{([^{}]*)\}/.exec(text) ?? []
  for (const [, name] of body.matchAll(/(?:^|,)\s*([A-Za-z_$][\w$]*)\s*(?=[,:(]|$)/g)) names.add(name as string)
  names.delete('__esModule')
  return [...names]
}
