import { type PossibleCwds, resolvePath } from './cwd.ts'
import type { CommandWord } from './option-spellings.ts'

/** The spellings of one command that are compared with the lists. */
export interface Forms {
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
}

/**
 * Returns the spellings of a command. An allow entry must match the command as written, except for a system directory. A
 * deny entry may match any spelling: the name without its directory, or the words without options.
 */
export function nameVariants(name: string, plain: string, args: readonly (string | null)[], text: string): Forms {
  const argumentText = text.slice(name.length)
  const base = name.slice(name.lastIndexOf('/') + 1)
  const allowed = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(name) ? [text, base + argumentText] : [text]
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    const word = args[i]
    if (word === null || word === undefined) continue
    if (word.startsWith('-')) {
      if (valueOptions[plain]?.has(word) === true) i += 1
      continue
    }
    words.push(word)
  }
  return { allowed, denied: [text, plain + argumentText, [plain, ...words].join(' ')] }
}

/** What starts a command, as entries name it besides its own name: `find -exec rm`. */
const launcherTexts: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['find', 'gfind'].map((name) => [name, [`${name} -exec`, `${name} -execdir`]])),
  ...Object.fromEntries('bash sh dash ash rbash'.split(' ').map((name) => [name, [`${name} -c`]])),
  npm: ['npm exec', 'npm x', 'npx'],
  npx: ['npm exec'],
}

/**
 * Returns the spellings of a command together with what starts it, without the options and assignments of that: `env ls` for
 * `env A=1 ls`. `via` are the names of the launchers.
 */
export function launchedVariants(via: readonly string[], spellings: readonly string[]): readonly string[] {
  const launchers = via.flatMap((name, index) => [
    name,
    ...(launcherTexts[name] ?? []),
    ...(index < via.length - 1 ? [via.slice(index).join(' ')] : []),
  ])
  return launchers.flatMap((launcher) => spellings.map((spelling) => `${launcher} ${spelling}`))
}

/** Returns the words of a command, also after each launcher that starts it. */
export function wordLists(
  via: readonly string[],
  plain: string,
  args: readonly CommandWord[],
): readonly (readonly [string, ...CommandWord[]])[] {
  return [[plain, ...args], ...via.map((launcher) => [launcher, plain, ...args] as const)]
}

/** Returns the spellings of a file in the workspace that a command runs. `rest` are its arguments, with a blank before them. */
export function pathVariants(
  path: string,
  rest: string,
  { cwds, root }: { readonly cwds: PossibleCwds; readonly root: string | undefined },
): readonly string[] {
  const paths = resolvePath(path, cwds, root)
  if (typeof paths === 'string') return []
  return paths
    .flatMap((each) => [each, `./${each}`, ...(root === undefined ? [] : [`${root}/${each}`])])
    .map((each) => each + rest)
}

/** Options before a subcommand that take the next word as their value. */
const valueOptions: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env']),
  npm: new Set(['--prefix', '-C', '-w', '--workspace', '--registry', '--loglevel', '--userconfig', '--cache', '--tag']),
  pnpm: new Set(['-C', '--dir', '--filter', '-F', '--registry', '--loglevel']),
  yarn: new Set(['--cwd', '--registry', '--cache-folder', '--modules-folder', '--mutex']),
  docker: new Set('-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey'.split(' ')),
  kubectl: new Set(
    '-n --namespace --context --kubeconfig -s --server --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --cluster --profile --profile-output --request-timeout --tls-server-name --token --user -v --v --vmodule --username --password'.split(
      ' ',
    ),
  ),
  helm: new Set(
    '-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-user --kube-as-group --kube-ca-file --kube-token --registry-config --repository-cache --repository-config --burst-limit --qps'.split(
      ' ',
    ),
  ),
  gh: new Set(['-R', '--repo', '--hostname']),
  aws: new Set(
    '--profile --region --endpoint-url --output --query --ca-bundle --color --cli-read-timeout --cli-connect-timeout --cli-binary-format'.split(
      ' ',
    ),
  ),
}
