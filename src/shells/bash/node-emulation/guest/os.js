/** The module `os`. */
export const os = {
  EOL: '\n',
  platform: () => 'linux',
  type: () => 'Linux',
  arch: () => 'x64',
  release: () => '0',
  tmpdir: () => '/tmp',
  homedir: () => '/workspace',
  hostname: () => 'workspace',
  cpus: () => [],
  availableParallelism: () => 1,
  totalmem: () => 0,
  freemem: () => 0,
  endianness: () => 'LE',
}
