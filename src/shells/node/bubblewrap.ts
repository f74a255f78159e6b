import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from './sandbox.ts'
import { SANDBOX_ROOT } from './sandbox.ts'

const system = ['/usr', '/opt', '/nix/store', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const
const settings = [
  ...['alternatives', 'ssl', 'ca-certificates', 'pki', 'passwd', 'group', 'hosts', 'nsswitch.conf'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime'],
] as const

/**
 * A sandbox by bubblewrap, for systems that let only that program create namespaces. Commands write in place. A command
 * cannot unmount the mask over a protected file, not even in a namespace of its own.
 */
export function bubblewrap(program = '/usr/bin/bwrap'): Sandbox {
  return {
    name: 'bubblewrap',
    network: false,
    wrap({ root, commandDir, cwd, masks, readable, argv }) {
      const hidden = join(commandDir, 'void/d')
      const visible = [...system.filter((path) => existsSync(path) && !lstatSync(path).isSymbolicLink()), ...readable]
      const mounts = [
        ...visible.flatMap((path) => ['--ro-bind', path, path]),
        ...system.filter(isLink).flatMap((path) => ['--symlink', readlinkSync(path), path]),
        ...settings.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
        // A directory that contains the workspace would show it a second time, without its masks.
        ...[root, commandDir]
          .filter((path) => visible.some((above) => path === above || path.startsWith(`${above}/`)))
          .flatMap((path) => ['--ro-bind', hidden, path]),
        ...['--proc', '/proc', '--dev', '/dev', '--bind', root, SANDBOX_ROOT],
        ...masks.flatMap(({ kind, source = kind, path }) => [
          '--ro-bind',
          join(commandDir, 'void', source),
          `${SANDBOX_ROOT}/${path}`,
        ]),
      ]
      return [
        ...[program, '--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
        ...['--tmpfs', '/tmp', '--dir', '/tmp/home'],
        ...mounts,
        ...['--chdir', cwd === '' ? SANDBOX_ROOT : `${SANDBOX_ROOT}/${cwd}`],
        ...['--', '/bin/sh', '-c', 'echo ready >&3; exec "$@"', 'sandbox', ...argv],
      ]
    },
  }
}

function isLink(path: string): boolean {
  return existsSync(path) && lstatSync(path).isSymbolicLink()
}
