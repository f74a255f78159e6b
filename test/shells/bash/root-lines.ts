import fc from 'fast-check'
import { expect } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { git } from '../../../dist/git/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import type { Backend } from '../../../src/storage/backend.ts'
import { snapshot } from '../../tools/setup.ts'

const ROOT = '@ROOT@'

/** Names of one file or directory, as lines write them. */
const spelled = (path: string) => [path, `./${path}`, `$PWD/${path}`, `~/${path}`, `"$HOME/${path}"`, `${ROOT}/${path}`]
const file = fc.constantFrom(
  ...['a.txt', 'sub/b.txt', 'sub/missing', 'run.sh', 'm.mjs'].flatMap(spelled),
  ...[`${ROOT}/sub/../a.txt`, `${ROOT}x/a.txt`, '/nowhere/a', 'sub'],
)
const directory = fc.constantFrom(
  ...['sub', 'missing', '.'].flatMap(spelled),
  ROOT,
  '~',
  '"$HOME"',
  'sub/..',
  '/tmp',
  '/dev',
)
const target = fc.constantFrom(
  ...['new.txt', 'sub/new.txt', 'missing/new'].flatMap(spelled),
  '/tmp/t',
  '/dev/null',
  `${ROOT}x/a`,
)

const command = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      'cat',
      'wc -l',
      'head -1',
      'stat -c %n',
      'ls -l',
      'sha256sum',
      'bash',
      'source',
      'node',
      'rm',
      'readlink -f',
      'xxd',
      'file',
    ),
    file,
  ),
  fc.tuple(fc.constantFrom('ls', 'find', 'grep -rn b', 'cd', 'du -a', 'tree', 'pushd', 'git -C'), directory),
  // A search of another directory looks for .gitignore in those above it, which are others for each root.
  fc.tuple(fc.constantFrom('rg -n b', 'rg --files'), fc.constantFrom(...spelled('sub'), ROOT, '~')),
  fc.tuple(
    fc.constantFrom(
      'echo x >',
      'echo y >>',
      'touch',
      'mkdir -p',
      'mkdir',
      'tee',
      'cp a.txt',
      'mv a.txt',
      'ln -s a.txt',
      `ln -s ${ROOT}/a.txt`,
      'echo x 2>',
    ),
    target,
  ),
  fc.constantFrom(
    ...[
      'pwd',
      'echo $HOME $PWD ~',
      'cd && pwd',
      'cd sub',
      'cd -',
      'echo $OLDPWD',
      'env | grep -e HOME -e PWD',
      'git init',
      'git status',
    ],
    ...[
      'git rev-parse --show-toplevel',
      'git add .',
      'git clone https://x.example/y z',
      'git diff --no-index a b',
      'npm run go',
      'command -v node',
    ],
    ...[
      'find . -type f | xargs wc -c',
      'bash -c "pwd; cd sub; pwd"',
      '(cd sub; pwd)',
      'set -u; echo $NONE',
      'python3 x.py',
      'curl x',
    ],
  ),
  fc
    .constantFrom(
      ...[
        'process.cwd()',
        'require("os").homedir()',
        'require("path").resolve("x")',
        'require("fs").readdirSync(".").join()',
      ],
      ...[
        'require.resolve("./m.cjs")',
        'require("./m.cjs")',
        'require("./none.cjs")',
        'require("fs").readFileSync("none")',
        'process.env.HOME',
      ],
      ...[
        `require("fs").readFileSync("${ROOT}/a.txt","utf8")`,
        `require("fs").realpathSync("sub")`,
        'process.chdir("sub"), process.cwd()',
        'null.x',
      ],
      ...[
        'import("./m.mjs").then(m => console.log(m.url)), 1',
        'require("fs").writeFileSync(require("os").homedir() + "/n.txt", "n")',
      ],
    )
    .map((code) => [`node -p '${code}'`]),
)

/** Lines of up to four commands. `@ROOT@` is the path of the workspace. */
export const rootLines = fc
  .tuple(fc.array(command, { minLength: 1, maxLength: 4 }), fc.constantFrom('; ', ' && ', ' | cat; '))
  .map(([commands, separator]) => commands.map((words) => [words].flat().join(' ')).join(separator))

const tree = {
  'a.txt': 'a\nb\n',
  'sub/b.txt': 'b\n',
  'run.sh': 'pwd; cd sub; cat "$PWD/b.txt" nope; echo "$0"\n',
  'm.mjs': 'export const url = import.meta.url\nconsole.log(url)\n',
  'm.cjs': 'module.exports = __filename + __dirname\n',
  'package.json': '{ "scripts": { "go": "pwd; echo $HOME" } }\n',
}

/** Runs a line with the workspace at a path. Returns all that can be observed, with the path as `@ROOT@`. */
async function observeLine(line: string, root: string): Promise<string> {
  const backend = memory(tree)
  const workspace = await createWorkspace({
    ...{ backend, policy: 'autonomous', git: git(), clock: () => 1_700_000_000_000 },
    shell: bash({ root, worker: false }),
    limits: { commandTimeoutMs: 600_000 },
  })
  const result = await workspace.callTool('run_command', { command: line.replaceAll(ROOT, root) })
  const { callId, runId, durationMs, artifactUri, ...observed } = result as unknown as Record<string, unknown>
  const files = await snapshot(backend as unknown as Backend)
  await workspace.close()
  return JSON.stringify({ observed, files }, undefined, 1).replaceAll(root, ROOT)
}

/** A line has the same effect and output under every path of the workspace. */
export async function expectSameUnderRoots(line: string, roots: readonly string[]): Promise<void> {
  const [first, ...others] = await Promise.all(roots.map((root) => observeLine(line, root)))
  for (const other of others) expect(other, line).toBe(first)
}
