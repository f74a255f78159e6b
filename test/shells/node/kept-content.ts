import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { probeSandbox } from '../../../src/shells/node/probe.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'

const tree = {
  'a.txt': 'alpha one\nalpha two\nalpha three\n',
  'b.txt': 'beta one\nbeta two\n',
  'bin.dat': '\0\x01binary\x02',
  'app/.env': 'MODE=app\n',
  'app/b.txt': 'app beta\n',
  'app/deep/c.txt': 'app gamma\n',
  'lib/d.txt': 'lib delta\n',
  'lib/e.txt': 'lib epsilon\n',
  'ro/kept.txt': 'read only\n',
  'hid/kept.txt': 'hidden\n',
}

/** Every directory or file to which nothing can be written. */
const targets = ['.env', 'app/.env', 'ro/x', 'ro', 'hid/x', 'ro/kept.txt', 'ro/new/x']

const movesOf = (target: string): string[] => [
  `mv a.txt ${target}`,
  `mv -f a.txt ${target}`,
  `mv -n a.txt ${target}`,
  `mv a.txt b.txt ${target}`,
  `mv lib ${target}`,
  `mv app ${target}`,
  `mv bin.dat ${target}`,
  `mv a.txt x && mv x ${target}`,
  `mv lib x && mv x ${target}`,
  `cp a.txt ${target} && rm a.txt`,
  `cp -r lib ${target} && rm -r lib`,
  `cp -a lib ${target} && rm -r lib`,
  `cp -r app ${target} && rm -r app`,
  `ln a.txt ${target} && rm a.txt`,
  `install -m 644 a.txt ${target} && rm a.txt`,
  `cat a.txt > ${target} && rm a.txt`,
  `cat a.txt b.txt > ${target} && rm a.txt b.txt`,
  `cat a.txt >> ${target} && rm a.txt`,
  `echo more >> a.txt && mv a.txt ${target}`,
  `sed -i s/$/!/ b.txt && mv b.txt ${target}`,
  `sed s/three/3/ a.txt > ${target} && rm a.txt`,
  `tee ${target} < a.txt > /dev/null && rm a.txt`,
  `mv a.txt ${target} && mv b.txt a.txt`,
  `mv a.txt t && mv b.txt a.txt && mv t ${target}`,
  `mv a.txt ${target} && echo new > a.txt`,
  `mv a.txt ${target} && ln -s b.txt a.txt`,
  `mv a.txt ${target} && mkdir a.txt && echo new > a.txt/x`,
  `mv lib ${target} && echo new > lib`,
  `mv lib/d.txt ${target} && rmdir lib`,
  `mv lib/d.txt lib/e.txt ${target}`,
  `tar cf ${target} a.txt && rm a.txt`,
  `tar czf ${target} a.txt lib && rm -r a.txt lib`,
  `tar cf - lib | tar xf - -C ${target} && rm -r lib`,
  `gzip -c a.txt > ${target} && rm a.txt`,
  `rsync -a --remove-source-files lib/ ${target}/`,
  `find lib -type f -exec mv -n {} ${target} \\;`,
  `for f in a.txt b.txt; do mv -n "$f" ${target}; done`,
]

/** Moves of what may not be moved, and moves that succeed beside a refused write. */
const others = [
  'mv app app2',
  'mv ro ro2',
  'mv hid hid2',
  'mv app/.env env.txt',
  'mv ro/kept.txt kept.txt',
  'cp -r app app2 && rm -r app',
  'mv app/* lib/',
  'mv a.txt moved.txt; echo x > .env',
  'mv lib moved; echo x > ro/y',
  'mv a.txt A.TXT',
  'mv lib LIB; echo x > .env',
  'git init -q . && git add a.txt && git mv a.txt ro/x',
]

export type Kind = 'bash' | 'in place' | 'sandbox'

async function runIn(kind: Kind, line: string) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kept-')))
  const root = join(base, 'root')
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const stateDir = join(base, 'state')
  const shell =
    kind === 'bash'
      ? bash({ worker: false })
      : nodeShell({ root, stateDir, ...(kind === 'in place' ? { sandbox: 'none' } : {}) })
  const workspace = await createWorkspace({
    backend: nodeBackend(root, { stateDir }),
    shell,
    policy: {
      preset: 'autonomous',
      deniedPaths: ['hid/**'],
      tools: { run_command: 'allow' },
      rules: [{ name: 'read only', action: 'deny', permissions: ['file:change'], paths: ['ro/**'] }],
    },
  })
  const end = async () => {
    await workspace.close()
    await shell.close()
    rmSync(base, { recursive: true, force: true })
  }
  return { root, result: await workspace.call('run_command', { command: line }), end }
}

function contents(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? contents(path) : [readFileSync(path, 'latin1')]
  })
}

export const kinds: Kind[] = ['bash', 'in place', ...('why' in probeSandbox() ? [] : (['sandbox'] as const))]

export const lines = [...others, ...targets.flatMap(movesOf)]

/** Returns what each line loses: the path whose content is nowhere. */
export async function losses(kind: Kind, checkedLines: readonly string[]): Promise<string[]> {
  const lost: string[] = []
  for (const line of checkedLines) {
    const { root, result, end } = await runIn(kind, line)
    const stored = contents(root).map((content) => content.replaceAll('!', ''))
    for (const [path, content] of Object.entries(tree)) {
      if (!stored.some((one) => one.includes(content)))
        lost.push(`${line}: ${path} ${JSON.stringify(result).slice(0, 300)}`)
    }
    await end()
  }
  return lost
}
