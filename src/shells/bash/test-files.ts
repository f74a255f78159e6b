import type { ScriptFiles } from './node-emulation/script.ts'
import { resolvePath } from './virtual-paths.ts'

const MOST_ENTRIES = 100_000

/** The files that `node --test` runs: those named, or by Node's own rules those below the directory. */
export async function findTests(names: readonly string[], cwd: string, files: ScriptFiles): Promise<readonly string[]> {
  if (names.length === 0) return walk(cwd, files)
  const found: string[] = []
  for (const name of names) {
    const path = resolvePath(cwd, name)
    const stat = await files.stat(path).catch(() => undefined)
    if (stat?.isDirectory === true) found.push(...(await walk(path, files)))
    else found.push(path)
  }
  return found
}

async function walk(start: string, files: ScriptFiles): Promise<string[]> {
  const found: string[] = []
  const waiting: { path: string; inTests: boolean }[] = [{ path: start, inTests: start.endsWith('/test') }]
  let seen = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of await files.readdir(next.path)) {
      if (++seen > MOST_ENTRIES) return found.sort()
      if (name === 'node_modules' || name.startsWith('.')) continue
      const path = `${next.path}/${name}`
      const stat = await files.lstat(path).catch(() => undefined)
      if (stat?.isDirectory === true) waiting.push({ path, inTests: next.inTests || name === 'test' })
      else if (stat?.isFile === true && isTest(name, next.inTests)) found.push(path)
    }
  }
  return found.sort()
}

function isTest(name: string, inTests: boolean): boolean {
  const [, stem] = /^(.*)\.[cm]?js$/.exec(name) ?? []
  if (stem === undefined) return false
  return inTests || stem === 'test' || stem.startsWith('test-') || /[.\-_]test$/.test(stem)
}
