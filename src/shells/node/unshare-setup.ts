/**
 * Script that sets up the view of a command and then executes it. sh runs it as root of a new user namespace. Arguments:
 * the root, the directory of the command, `overlayfs` or `in-place`, the initial directory, the number of masks, the
 * masks (source, then path), the number of additional system directories, these directories, and the program with its
 * arguments. Any failure ends the script before it reports `ready` and before the program starts.
 */
export const SETUP = `
set -eu
path=$PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 dir=$2 writes=$3 start=$4; shift 4
# mountinfo escapes other characters, and some are separators in the options of overlayfs.
case $dir in *[!A-Za-z0-9._/-]*) exit 1 ;; esac
new=$dir/new
mount -t tmpfs -o mode=755 wardspace "$new"
for entry in /usr /opt /nix/store; do
  if [ -d "$entry" ]; then mkdir -p "$new$entry"; mount --rbind "$entry" "$new$entry"; fi
done
for entry in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -h "$entry" ]; then cp -P "$entry" "$new$entry"
  elif [ -d "$entry" ]; then mkdir "$new$entry"; mount --rbind "$entry" "$new$entry"; fi
done
mkdir "$new/etc" "$new/workspace" "$new/tmp" "$new/dev" "$new/proc" "$new/old"
for entry in alternatives ssl ca-certificates pki ld.so.conf.d; do
  if [ -d "/etc/$entry" ]; then mkdir "$new/etc/$entry"; mount --rbind "/etc/$entry" "$new/etc/$entry"; fi
done
files=
for entry in passwd group hosts nsswitch.conf ld.so.cache ld.so.conf localtime; do
  if [ -f "/etc/$entry" ]; then files="$files /etc/$entry"; fi
done
cp -L $files "$new/etc"
masks=$1; shift
if [ "$writes" = overlayfs ]; then
  mount --bind "$root" "$dir/lower"
  mount -t overlay -o "lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work,userxattr" wardspace "$new/workspace"
else
  mount --bind "$root" "$new/workspace"
fi
while [ "$masks" -gt 0 ]; do
  mount --bind "$dir/void/$1" "$new/workspace/$2"
  mount -o remount,bind,ro "$new/workspace/$2"
  shift 2
  masks=$((masks - 1))
done
mount -t tmpfs -o mode=1777 wardspace "$new/tmp"
mkdir "$new/tmp/home"
extra=$1; shift
while [ "$extra" -gt 0 ]; do
  mkdir -p "$new$1"
  mount --rbind "$1" "$new$1"
  shift
  extra=$((extra - 1))
done
while read -r _ _ _ _ point _; do
  case $point in
    "$new"/workspace | "$new"/workspace/* | "$new"/tmp) ;;
    "$new"/*\\\\*) exit 1 ;;
    "$new"/*) mount -o remount,bind,ro "$point" ;;
  esac
done < /proc/self/mountinfo
for hidden in "$root" "$dir"; do
  # A directory that contains the workspace would show it a second time, without its masks.
  if [ -e "$new$hidden" ]; then mount --bind "$dir/void/d" "$new$hidden"; fi
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
root=$1 dir=$2; shift 2
mount --bind "$root" "$dir/lower"
mount -t overlay -o "lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work,userxattr" wardspace "$dir/new"
cd "$dir/new"
exec find "$@" -mindepth 1 -maxdepth 1 -print0
`
