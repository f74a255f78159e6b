import type { ScriptFiles } from './node-emulation/script.ts'
import { resolvePath } from './virtual-paths.ts'

const MAX_ENTRIES = 100_000

/** Returns the files that `node --test` runs: the named ones, or by Node's own rules those below the directory. */
export async function findTests(names: readonly string[], cwd: string, files: ScriptFiles): Promise<readonly string[]> {
  if (names.length === 0) return walk(cwd, files)
  const tests: string[] = []
  for (const name of names) {
    const path = resolvePath(cwd, name)
    const stat = await files.stat(path).catch(() => undefined)
    if (stat?.isDirectory === true) tests.push(...(await walk(path, files)))
    else tests.push(path)
  }
  return tests
}

async function walk(start: string, files: ScriptFiles): Promise<string[]> {
  const tests: string[] = []
  const pending: { path: string; inTests: boolean }[] = [{ path: start, inTests: start.endsWith('/test') }]
  let entryCount = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of await files.readdir(next.path)) {
      if (++entryCount > MAX_ENTRIES) return tests.sort()
      if (name === 'node_modules' || name.startsWith('.')) continue
      const path = `${next.path}/${name}`
      const stat = await files.lstat(path).catch(() => undefined)
      if (stat?.isDirectory === true) pending.push({ path, inTests: next.inTests || name === 'test' })
      else if (stat?.isFile === true && isTest(name, next.inTests)) tests.push(path)
    }
  }
  return tests.sort()
}

function isTest(name: string, inTests: boolean): boolean {
  const [, stem] = /^(.*)\.[cm]?js$/.exec(name) ?? []
  if (stem === undefined) return false
  return inTests || stem === 'test' || stem.startsWith('test-') || /[.\-_]test$/.test(stem)
}
