import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { installInto, pack } from './installed.ts'

/**
 * `npm run check:install`: installs the packed package with npm in an empty directory, without optional packages. Fails if
 * that brings more packages or bytes than allowed, or if `import 'wardspace'` loads more files, which is most of its time in Node.
 */
const MAX_PACKAGES = 10
/** The sum of the sizes of all files, in MB of 1,000,000 bytes. */
const MAX_MB = 14
const MAX_MODULES = 55

// A reader such as `head` may have ended: the exit code tells the result.
process.stdout.on('error', () => {})
const home = mkdtempSync(join(tmpdir(), 'wardspace-install-'))
try {
  const { packages, mb } = installInto(join(home, 'project'), pack(home))
  const modules = await modulesOf('wardspace', join(home, 'project'))
  for (const one of packages) console.log(`${one.name.padEnd(30)}${one.mb.toFixed(2).padStart(8)} MB`)
  console.log(`${`${packages.length} packages`.padEnd(30)}${mb.toFixed(2).padStart(8)} MB`)
  console.log(`${"import 'wardspace'".padEnd(30)}${String(modules).padStart(8)} files`)
  if (packages.length > MAX_PACKAGES) fail(`${packages.length} packages, more than ${MAX_PACKAGES}`)
  if (mb > MAX_MB) fail(`${mb.toFixed(2)} MB, more than ${MAX_MB}`)
  if (modules > MAX_MODULES) fail(`import 'wardspace' loads ${modules} files, more than ${MAX_MODULES}`)
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** Returns how many files a static import of a package loads in Node. */
async function modulesOf(name: string, directory: string): Promise<number> {
  const { metafile } = await build({
    stdin: { contents: `import ${JSON.stringify(name)}`, resolveDir: directory, sourcefile: 'program' },
    ...{ absWorkingDir: directory, bundle: true, write: false, metafile: true, format: 'esm', platform: 'node' },
    ...{ logLevel: 'error', ignoreAnnotations: true },
  })
  const files = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const { path, kind } of metafile.inputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && metafile.inputs[path] !== undefined) visit(path)
    }
  }
  visit('program')
  return files.size - 1
}

function fail(fault: string): void {
  console.error(fault)
  process.exitCode = 1
}
