import type { LogicalPath } from '../../paths/logical-path.ts'
import type { PossibleCwds } from './cwd.ts'
import { type Argument, knownText, mayBeOption } from './words.ts'

/** Where a command would run. */
export interface Place {
  readonly cwds: PossibleCwds
  /** Absolute path under which the shell shows the root of the workspace, if any. */
  readonly root: string | undefined
  /** Policy evaluates every path that the command changes, when it runs. */
  readonly guardsPaths: boolean
}

/** Returns the reason why the built-in denylist refuses a command. No policy can override it. */
export function builtInDenial(name: string, args: readonly Argument[], place: Place): string | undefined {
  if (privileges.has(name)) return `${name} takes other privileges`
  if (power.has(name)) return `${name} controls the power of the machine`
  if (disks.has(name) || /^mkfs(\.|$)|^fsck(\.|$)/.test(name)) return `${name} acts on disks`
  if (system.has(name)) return `${name} acts on the system`
  const words = args.map(knownText)
  switch (name) {
    case 'systemctl':
    case 'service':
    case 'launchctl':
    case 'loginctl':
      return `${name} acts on the system`
    case 'dd':
      return words.some((word) => word.startsWith('of=') && word !== 'of=/dev/null' && isOutside(word.slice(3), place))
        ? 'dd writes outside the workspace'
        : undefined
    case 'kill':
      // The first word may be a signal, such as -1.
      return words.some((word, index) => word === '1' || (index > 0 && word === '-1'))
        ? 'kill ends every process'
        : undefined
    case 'rm':
    case 'chmod':
    case 'chown':
    case 'chgrp':
    case 'shred':
    case 'srm':
      return recursiveOutside(name, args, place)
    case 'mv':
    case 'cp':
    case 'rmdir':
    case 'ln':
      return words.some((word) => ROOTS.test(word)) ? `${name} affects a whole system directory` : undefined
    case 'docker':
    case 'podman':
      return words.some((word) =>
        /^--privileged(=|$)|^(.*=|-\w*v)?\/:|(^|,)(source|src)=\/(,|$)|^--pid=host$/.test(word),
      )
        ? `${name} gives a container access to the machine`
        : undefined
    default:
      return undefined
  }
}

const list = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const privileges = list(
  'sudo sudoedit doas su pkexec run0 runuser gosu su-exec sg newgrp setpriv capsh chroot unshare nsenter please calife super machinectl',
)
const power = list('shutdown reboot halt poweroff init telinit kexec rtcwake pm-suspend pm-hibernate suspend')
const disks = list(
  `fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard hdparm mkswap swapon swapoff losetup cryptsetup mount umount
  pvcreate vgcreate lvcreate lvremove vgremove pvremove mdadm zpool zfs btrfs tune2fs resize2fs e2fsck badblocks diskutil
  diskpart format mke2fs newfs blockdev partprobe debugfs fusermount`,
)
const system = list(
  `insmod rmmod modprobe sysctl iptables ip6tables nft ufw useradd userdel usermod groupadd groupdel passwd chpasswd visudo
  vipw chsh crontab at batch atd setenforce setcap chattr dmesg mknod pivot_root switch_root update-grub grub-install efibootmgr
  killall5 systemd-run start-stop-daemon mkinitcpio dracut`,
)

const ROOTS =
  /^(\/(\*|\.|\.\.)?|\/(bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library|Applications)(\/+\*?)?|~|~\/\*?)$/

function recursiveOutside(name: string, args: readonly Argument[], place: Place): string | undefined {
  let recursive = name === 'shred' || name === 'srm'
  let options = true
  let reaches: string | undefined
  const unknown: Argument[] = []
  for (const argument of args) {
    const { literal } = argument
    if (literal === undefined) {
      if (!argument.inside && !isPlainGlob(argument.raw, place)) unknown.push(argument)
    } else if (options && literal === '--') options = false
    else if (options && literal.startsWith('--')) recursive ||= /^--(r|no-p)/.test(literal)
    else if (options && /^-./.test(literal)) recursive ||= /r/i.test(literal)
    else if (isOutside(literal, place)) reaches = literal
  }
  // One unknown word may be the recursive option for another one.
  if (options && (unknown.some(({ splits }) => splits) || (unknown.length > 1 && unknown.some(mayBeOption)))) {
    recursive = true
  }
  if (reaches !== undefined && (recursive || ROOTS.test(reaches))) {
    return `${name} reaches ${JSON.stringify(reaches)}, which is not inside the workspace`
  }
  const [first] = unknown
  return first !== undefined && recursive && !place.guardsPaths
    ? `The files that ${name} affects with ${JSON.stringify(first.raw)} are only known at run time`
    : undefined
}

/** Whether a pattern can only match names below the current directory or the root. */
function isPlainGlob(raw: string, { root }: Place): boolean {
  const relative = root !== undefined && raw.startsWith(`${root}/`) ? raw.slice(root.length + 1) : raw
  return /^[\w@%+=,.*?[\]-][\w@%+=,./*?[\]-]*$/.test(relative) && !relative.includes('..')
}

function isOutside(path: string, { cwds, root }: Place): boolean {
  if (path.startsWith('~')) return true
  const isAbsolute = path.startsWith('/')
  if (isAbsolute && (root === undefined || !`${path}/`.startsWith(`${root}/`))) return true
  const inside = isAbsolute ? path.slice(root?.length) : path
  let depth = isAbsolute || cwds === undefined ? 0 : Math.min(...cwds.map(depthOf))
  for (const name of inside.split('/')) {
    if (name === '..') depth -= 1
    else if (name !== '' && name !== '.') depth += 1
    if (depth < 0) return true
  }
  return false
}

function depthOf(path: LogicalPath): number {
  return path === '' ? 0 : path.split('/').length
}
