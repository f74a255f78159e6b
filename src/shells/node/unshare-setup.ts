/**
 * Script that sets up the view of a command and then executes it. sh runs it as root of a new user namespace. Arguments:
 * the root, the directory of the command, `overlayfs` or `in-place`, the initial directory, the number of masks, the
 * masks (source, then path), the number of additional system directories, these directories, and the program with its
 * arguments. Any failure ends the script before it reports `ready` and before the program starts.
 */
export const SETUP = `
set -eu
path=$PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 own=$2 writes=$3 start=$4; shift 4
# mountinfo escapes other characters, and some are separators in the options of overlayfs.
case $own in *[!A-Za-z0-9._/-]*) exit 1 ;; esac
new=$own/new
mount -t tmpfs -o mode=755 wardspace "$new"
for place in /usr /opt /nix/store; do
  if [ -d "$place" ]; then mkdir -p "$new$place"; mount --rbind "$place" "$new$place"; fi
done
for place in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -h "$place" ]; then cp -P "$place" "$new$place"
  elif [ -d "$place" ]; then mkdir "$new$place"; mount --rbind "$place" "$new$place"; fi
done
mkdir "$new/etc" "$new/workspace" "$new/tmp" "$new/dev" "$new/proc" "$new/old"
for place in alternatives ssl ca-certificates pki ld.so.conf.d; do
  if [ -d "/etc/$place" ]; then mkdir "$new/etc/$place"; mount --rbind "/etc/$place" "$new/etc/$place"; fi
done
files=
for place in passwd group hosts nsswitch.conf ld.so.cache ld.so.conf localtime; do
  if [ -f "/etc/$place" ]; then files="$files /etc/$place"; fi
done
cp -L $files "$new/etc"
masks=$1; shift
if [ "$writes" = overlayfs ]; then
  mount --bind "$root" "$own/lower"
  mount -t overlay -o "lowerdir=$own/lower,upperdir=$own/upper,workdir=$own/work,userxattr" wardspace "$new/workspace"
else
  mount --bind "$root" "$new/workspace"
fi
while [ "$masks" -gt 0 ]; do
  mount --bind "$own/void/$1" "$new/workspace/$2"
  mount -o remount,bind,ro "$new/workspace/$2"
  shift 2
  masks=$((masks - 1))
done
mount -t tmpfs -o mode=1777 wardspace "$new/tmp"
mkdir "$new/tmp/home"
shown=$1; shift
while [ "$shown" -gt 0 ]; do
  mkdir -p "$new$1"
  mount --rbind "$1" "$new$1"
  shift
  shown=$((shown - 1))
done
while read -r _ _ _ _ point _; do
  case $point in
    "$new"/workspace | "$new"/workspace/* | "$new"/tmp) ;;
    "$new"/*\\\\*) exit 1 ;;
    "$new"/*) mount -o remount,bind,ro "$point" ;;
  esac
done < /proc/self/mountinfo
for hidden in "$root" "$own"; do
  # A directory that contains the workspace would show it a second time, without its masks.
  if [ -e "$new$hidden" ]; then mount --bind "$own/void/d" "$new$hidden"; fi
done
for device in null zero full random urandom; do
  : > "$new/dev/$device"
  mount --bind "/dev/$device" "$new/dev/$device"
done
cp -P /dev/fd /dev/stdin /dev/stdout /dev/stderr "$new/dev"
mount -t proc proc "$new/proc"
echo 0 > "$new/proc/sys/user/max_user_namespaces"
mount -o remount,bind,ro "$new/proc"
mount -o remount,bind,ro "$new"
cd "$new"
pivot_root . old
umount -l /old
PATH=$path
echo ready >&3
cd "/workspace/$start"
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"
`

/**
 * Script that lists the names in some directories of the merged tree, separated by NUL. Overlayfs stores deletions in
 * attributes that only the mounted view interprets. Arguments: the root, the directory of the command, the directories.
 */
export const NAMES = `
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 own=$2; shift 2
mount --bind "$root" "$own/lower"
mount -t overlay -o "lowerdir=$own/lower,upperdir=$own/upper,workdir=$own/work,userxattr" wardspace "$own/new"
cd "$own/new"
exec find "$@" -mindepth 1 -maxdepth 1 -print0
`
