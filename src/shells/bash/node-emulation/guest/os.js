import { facts } from './host.js'

/** The module `os`. */
export const os = {
  EOL: '\n',
  platform: () => 'linux',
  type: () => 'Linux',
  arch: () => 'x64',
  release: () => '0',
  tmpdir: () => '/tmp',
  homedir: () => facts.env.HOME ?? facts.root,
  hostname: () => 'workspace',
  cpus: () => [],
  availableParallelism: () => 1,
  totalmem: () => 0,
  freemem: () => 0,
  endianness: () => 'LE',
}
