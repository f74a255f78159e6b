import { tidyEntry } from '../../policy/command-entries.ts'
import { programName } from '../../policy/command-options.ts'

/**
 * Options of programs, by their spellings: those of one option are joined by `=`, with `:` at the end if it takes a value. The
 * options of `git push` are those after the subcommand.
 */
const table = `
rm r=R=recursive f=force v=verbose d=dir i I interactive one-file-system no-preserve-root
cp r=R=recursive f=force a=archive v=verbose p n=no-clobber i=interactive l=link s=symbolic-link t=target-directory: u=update
mv f=force n=no-clobber v=verbose i=interactive t=target-directory: u=update
ln s=symbolic f=force v=verbose n=no-dereference t=target-directory:
chmod R=recursive v=verbose c=changes f=silent=quiet reference:
chown R=recursive v=verbose c=changes f=silent=quiet h=no-dereference reference: from:
chgrp R=recursive v=verbose c=changes f=silent=quiet h=no-dereference reference:
mkdir p=parents m=mode: v=verbose
tee a=append i=ignore-interrupts
sed i=in-place n=quiet=silent e=expression: f=file: E=r=regexp-extended s=separate z=null-data
grep r=recursive R=dereference-recursive e=regexp: f=file: i=ignore-case n=line-number l=files-with-matches v=invert-match A: B: C: m:
tar x=extract=get c=create t=list r=append u=update f=file: z=gzip=gunzip j=bzip2 J=xz v=verbose C=directory: P=absolute-names O=to-stdout I=use-compress-program:
curl o=output: O=remote-name X=request: d=data: T=upload-file: F=form: H=header: u=user: x=proxy: k=insecure L=location s=silent K=config: A=user-agent: e=referer: b=cookie: c=cookie-jar: w=write-out: m=max-time: data-binary: data-raw: url:
wget O=output-document: o=output-file: q=quiet P=directory-prefix: r=recursive c=continue post-data: post-file: header: i=input-file:
git C: c: git-dir: work-tree: namespace: exec-path: config-env: p=paginate P=no-pager
git-push f=force d=delete n=dry-run u=set-upstream o=push-option: q=quiet v=verbose force-with-lease no-verify
git-commit a=all m=message: F=file: n=no-verify c=reedit-message: C=reuse-message: amend q=quiet v=verbose t=template: s=signoff author: date:
git-clean f=force d x X n=dry-run i=interactive q=quiet e=exclude:
git-reset hard soft mixed q=quiet
git-checkout f=force b: B: d=detach q=quiet t=track
git-switch f=force=discard-changes c=create: C=force-create: d=detach q=quiet
git-branch D d=delete f=force m=move M c=copy C u=set-upstream-to: r=remotes a=all
git-add A=all f=force u=update n=dry-run p=patch i=interactive v=verbose
git-rm r f=force n=dry-run cached q=quiet
git-fetch f=force p=prune t=tags a=append q=quiet all
git-pull f=force r=rebase q=quiet
git-merge no-ff squash m=message: s=strategy: X=strategy-option:
git-rebase i=interactive onto: f=force-rebase s=strategy: x=exec:
git-tag d=delete f=force a=annotate s=sign m=message: F=file:
git-stash u=include-untracked a=all m=message: p=patch
npm g=global D=save-dev=dev f=force w=workspace: C=prefix: S=save E=save-exact silent s registry: loglevel: tag: userconfig: cache:
pnpm g=global D=save-dev f=force C=dir: F=filter: r=recursive w=workspace-root registry: loglevel:
yarn D=dev f=force cwd: registry: cache-folder: modules-folder: mutex:
node e=eval: p=print: c=check r=require: i=interactive import: C=conditions: test watch
python c: m: i u B E I O s S v W: X:
python3 c: m: i u B E I O s S v W: X:
perl e: E: i n p l w a M: I:
ruby e: n p i l w r: I:
bash c i l e u x o: v norc noprofile posix login
sh c i l e u x o: v
pip r=requirement: U=upgrade e=editable: t=target: i=index-url: user break-system-packages
docker H=host: c=context: config: l=log-level: D=debug
docker-run v=volume: p=publish: e=env: d=detach i=interactive t=tty u=user: w=workdir: rm name: network: mount: entrypoint: privileged
docker-rm f=force v=volumes l=link
docker-rmi f=force
kubectl n=namespace: context: kubeconfig: s=server: as: token: user: cluster: v:
kubectl-delete f=filename: l=selector: all A=all-namespaces force grace-period: n=namespace:
ls a=all l A=almost-all R=recursive h=human-readable t r=reverse d=directory 1
cat n=number A=show-all E=show-ends T=show-tabs b=number-nonblank s=squeeze-blank
make f=file=makefile: C=directory: j=jobs: B=always-make k=keep-going n=just-print=dry-run=recon s=silent=quiet
truncate s=size: c=no-create r=reference: o=io-blocks
ssh p: i: l: o: F: L: R: D: J: t T v
kill s: l L
touch a c=no-create m d=date: r=reference: t:
xargs 0=null r=no-run-if-empty n=max-args: I: i=replace L=max-lines: P=max-procs: t=verbose d=delimiter: a=arg-file: s=max-chars: p=interactive
env i=ignore-environment u=unset: S=split-string: C=chdir: 0=null v=debug
nice n=adjustment:
timeout s=signal: k=kill-after: preserve-status foreground v=verbose
`

/** Programs whose options are words after one dash, such as `find . -delete`. */
export const wordOptions: ReadonlySet<string> = new Set(
  'find gfind java javac go gcc g++ cc clang openssl terraform ffmpeg convert magick'.split(' '),
)

/** Programs that start the program in their first operand. */
const starters: ReadonlySet<string> = new Set('command env exec nice nohup npx stdbuf time timeout xargs'.split(' '))

interface Spellings {
  /** The first spelling of an option, by each of them. */
  readonly first: ReadonlyMap<string, string>
  readonly valued: ReadonlySet<string>
}

/** Spellings by program, or by program and subcommand. */
export const programs: ReadonlyMap<string, Spellings> = new Map(
  table
    .trim()
    .split('\n')
    .map((row) => {
      const [name = '', ...options] = row.split(' ')
      const first = new Map<string, string>()
      const valued = new Set<string>()
      for (const option of options) {
        const names = option.replace(/:$/, '').split('=')
        for (const each of names) first.set(each, names[0] as string)
        if (option.endsWith(':')) valued.add(names[0] as string)
      }
      return [name, { first, valued }] as const
    }),
)

const NO_SPELLINGS: Spellings = { first: new Map(), valued: new Set() }

/** One word of a command, or two if the second one is the value of the first. */
interface Item {
  readonly word: string
  /** The options that the word contains. Absent for an operand. */
  readonly options?: readonly string[]
  /** The value of the last option, and what stands before it in the word. */
  readonly value?: { readonly text: string; readonly before: string }
}

/** A word of a command. `null` is only known at run time. */
export type CommandWord = string | null

/** A word that no entry names. */
const UNKNOWN = '…'

function itemsOf(program: string, words: readonly CommandWord[]): readonly Item[] {
  const items: Item[] = []
  let spellings = programs.get(program) ?? NO_SPELLINGS
  let mayHaveSubcommand = true
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? UNKNOWN
    const isOldTar = program === 'tar' && i === 0 && /^[A-Za-z]+$/.test(word)
    if (word === '--') {
      for (const operand of words.slice(i + 1)) items.push({ word: operand ?? UNKNOWN })
      break
    }
    if (!isOldTar && !/^-./.test(word)) {
      items.push({ word })
      // The options after a subcommand are its own.
      const started = starters.has(program) ? programs.get(programName(word)) : undefined
      if (mayHaveSubcommand) spellings = programs.get(`${program}-${word}`) ?? started ?? spellings
      mayHaveSubcommand = false
      continue
    }
    const item = optionsOf(program, isOldTar ? `-${word}` : word, spellings)
    const last = item.options?.at(-1) ?? ''
    const needsValue = item.value === undefined && spellings.valued.has(last)
    const next = needsValue ? words[i + 1] : undefined
    if (needsValue) i += 1
    items.push(
      next === undefined ? { ...item, word } : { ...item, word, value: { text: next ?? UNKNOWN, before: `${word} ` } },
    )
  }
  return items
}

function optionsOf(program: string, word: string, { first, valued }: Spellings): Item {
  const isLong = word.startsWith('--') || wordOptions.has(program)
  if (isLong) {
    const equals = word.indexOf('=')
    const name = word.slice(word.startsWith('--') ? 2 : 1, equals === -1 ? undefined : equals)
    const known = first.get(name)
    // GNU programs and git accept abbreviations.
    const abbreviated = [...first].filter(([each]) => each.length > 1 && each.startsWith(name)).map(([, each]) => each)
    const options = known !== undefined ? [known] : abbreviated.length > 0 ? abbreviated : [name]
    return equals === -1
      ? { word, options }
      : { word, options, value: { text: word.slice(equals + 1), before: word.slice(0, equals + 1) } }
  }
  const options: string[] = []
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at)
    const name = first.get(letter) ?? letter
    options.push(name)
    const attached = word.slice(at + 1)
    if (valued.has(name) && attached !== '')
      return { word, options, value: { text: attached, before: word.slice(0, at + 1) } }
  }
  return { word, options }
}

/** Maximum number of spellings of a command for one entry. */
const MAX_SPELLINGS = 16

/**
 * Returns a command with its options as an entry of a policy has them: in the order, grouping and form of the entry, which
 * matches `rm -r --force x` if the entry is `rm -rf`. Returns nothing if the command has not all options of the entry.
 *
 * @param program name of the command, without its directory
 */
export function spelledAs(entry: string, program: string, words: readonly CommandWord[]): readonly string[] {
  const [name = '', ...entryWords] = tidyEntry(entry).split(' ')
  if (programName(name) !== program || !entryWords.some((word) => word.startsWith('-'))) return []
  const items = itemsOf(program, words)
  const operands = items.filter(({ options }) => options === undefined).map(({ word }) => word)
  const present = items.flatMap(({ options = [] }) => options)
  let spellings: readonly (readonly string[])[] = [[name]]
  for (const { word, options, value } of itemsOf(program, entryWords)) {
    if (options === undefined) {
      const operand = operands.shift()
      if (operand !== undefined) spellings = spellings.map((before) => [...before, operand])
    } else if (!options.every((option) => present.some((each) => each === option || isAbbreviation(each, option)))) {
      return []
    } else if (value === undefined) spellings = spellings.map((before) => [...before, word])
    else {
      const last = options.at(-1)
      const values = items.flatMap((item) => (item.value && item.options?.at(-1) === last ? [item.value.text] : []))
      spellings = spellings
        .flatMap((before) => values.map((text) => [...before, value.before + text]))
        .slice(0, MAX_SPELLINGS)
    }
  }
  return spellings.map((spelling) => [...spelling, ...operands].join(' '))
}

/** Whether a long option of an unknown program may be a shorter form of another one. */
function isAbbreviation(option: string, of: string): boolean {
  return option.length > 1 && of.startsWith(option)
}
