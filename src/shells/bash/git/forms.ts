/** The forms of each git command that this shell has, for the refusal of another one. */
export const forms: Readonly<Record<string, string>> = {
  add: 'git add [-A | -u] [PATH...]',
  branch: 'git branch [-a | -v | --show-current], git branch NAME [START], git branch -d | -D NAME...',
  checkout: 'git checkout [-q] [-f] [--detach] REF, git checkout -b NAME [START], git checkout [REF] -- PATH...',
  clone: 'git clone [-q] [-b BRANCH] [--depth N] [--single-branch] [--no-tags] [--sparse] URL .',
  commit: 'git commit [-a] [-q] [--allow-empty] [--amend [--no-edit]] [-m MESSAGE | -F -]',
  diff: 'git diff [--cached] [--stat | --shortstat | --name-only | --name-status] [--quiet] [--exit-code] [REF [REF]] [-- PATH...]',
  fetch: 'git fetch [-q] [--depth N] [origin [BRANCH]]',
  'format-patch': 'git format-patch --stdout BASE',
  init: 'git init [-q] [-b BRANCH]',
  log: 'git log [-n N] [--oneline] [--reverse] [--format=FORMAT] [REF]',
  pull: 'git pull [-q] [--ff-only] [--depth N] [origin [BRANCH]]',
  push: 'git push [-q] [-u] [--delete] [--force-with-lease] [origin [BRANCH[:BRANCH]...]]',
  reset: 'git reset [-q] [HEAD] [-- PATH...], git reset --hard',
  restore: 'git restore [--staged] [--worktree] [-s REF] PATH...',
  'rev-parse':
    'git rev-parse [--short | --verify] REF, git rev-parse --show-toplevel | --show-prefix | --abbrev-ref HEAD',
  show: 'git show [-s] [--oneline] [--stat] [--name-only] [--format=FORMAT] [REF | REF:PATH]...',
  'sparse-checkout': 'git sparse-checkout list | reapply | disable, git sparse-checkout set | add DIRECTORY...',
  stash: 'git stash [push] [-q] [-u] [-m MESSAGE], git stash show [-p], git stash list | apply | pop | drop | clear',
  status: 'git status [-s] [--porcelain] [-b] [-uno | -uall]',
  switch: 'git switch [-q] [-f] [-d] REF, git switch -c NAME [START]',
}
