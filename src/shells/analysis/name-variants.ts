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
