import type { ScriptFiles } from './script.ts'

const utf8 = new TextDecoder()

/**
 * The text of a module, by the name that the resolver gave it: a path, or with `node:`, `commonjs:` or `json:` before it,
 * one that only hands on what `require` gives.
 */
export async function moduleSource(
  name: string,
  files: ScriptFiles,
  builtins: ReadonlyMap<string, readonly string[]>,
): Promise<string> {
  const [, kind, rest = ''] = /^(node|commonjs|json):(.*)$/s.exec(name) ?? []
  if (kind === 'node') return handOn(JSON.stringify({ builtin: rest }), builtins.get(rest) as readonly string[])
  const path = kind === undefined ? name : rest
  const text = utf8.decode(await files.readFileBuffer(path))
  if (kind !== undefined) {
    return handOn(JSON.stringify({ path, format: kind }), kind === 'json' ? [] : exportedNames(text))
  }
  const source = text.replace(/^#!/, '//')
  if (!source.includes('import.meta')) return source
  const [file, directory] = [path, path.slice(0, path.lastIndexOf('/')) || '/'].map((one) => JSON.stringify(one))
  const url = JSON.stringify(`file://${path.split('/').map(encodeURIComponent).join('/')}`)
  return `import.meta.url=${url};import.meta.filename=${file};import.meta.dirname=${directory};${source}`
}

function handOn(found: string, names: readonly string[]): string {
  const known = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default')
  const list = known.map((name, i) => `const e${i} = m[${JSON.stringify(name)}]; export { e${i} as ${name} };`)
  return `const m = __ward.imported(${found}); export default m; ${list.join(' ')}`
}

/** What a CommonJS module plainly exports by name. */
function exportedNames(text: string): string[] {
  const names = new Set<string>()
  for (const [, name] of text.matchAll(/\bexports\.([A-Za-z_$][\w$]*)\s*=/g)) names.add(name as string)
  const [, body = ''] = /\bmodule\.exports\s*=\s*\{([^{}]*)\}/.exec(text) ?? []
  for (const [, name] of body.matchAll(/(?:^|,)\s*([A-Za-z_$][\w$]*)\s*(?=[,:(]|$)/g)) names.add(name as string)
  names.delete('__esModule')
  return [...names]
}
