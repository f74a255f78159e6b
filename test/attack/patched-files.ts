/** The files that every patch changes. With created, deleted and renamed files, a patch has 20 paths. */
const MODIFIED = Array.from({ length: 14 }, (_, i) => `part-${i % 4}/${i % 3}/file-${i}.txt`)

/** A path of the tree and its complete content. */
export type PatchedFile = readonly [path: string, content: string]

/** The tree of a generation. Generations differ in the length and in every line of each file. */
export function patchedTree(generation: number): PatchedFile[] {
  const files = MODIFIED.map(
    (path, i): PatchedFile => [path, contentOf(path, generation, 30 + ((generation + i) % 5) * 9)],
  )
  files.push([`made-${generation}.txt`, contentOf('made', generation, 12)])
  files.push([`deep-${generation}/er/file.txt`, contentOf('deep', generation, 12)])
  files.push([`moved-${generation}.txt`, contentOf('moved', 0, 40)])
  return files
}

/** The patch from the previous generation: 14 files changed, 2 created, 2 deleted, 1 renamed. */
export function patchTo(generation: number): string {
  const old = new Map(patchedTree(generation - 1))
  const now = new Map(patchedTree(generation))
  const moved: readonly string[] = [`moved-${generation - 1}.txt`, `moved-${generation}.txt`]
  const sections = [
    `diff --git a/${moved[0]} b/${moved[1]}\nsimilarity index 100%\nrename from ${moved[0]}\nrename to ${moved[1]}\n`,
  ]
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    if (moved.includes(path)) continue
    sections.push(sectionOf(path, old.get(path), now.get(path)))
  }
  return sections.join('')
}

/** A section that replaces every line of a file. */
function sectionOf(path: string, old: string | undefined, now: string | undefined): string {
  const oldLines = linesOf(old)
  const newLines = linesOf(now)
  const start = (lines: readonly string[]) => `${lines.length === 0 ? 0 : 1},${lines.length}`
  return [
    `diff --git a/${path} b/${path}\n`,
    ...(old === undefined ? ['new file mode 100644\n'] : now === undefined ? ['deleted file mode 100644\n'] : []),
    `--- ${old === undefined ? '/dev/null' : `a/${path}`}\n`,
    `+++ ${now === undefined ? '/dev/null' : `b/${path}`}\n`,
    `@@ -${start(oldLines)} +${start(newLines)} @@\n`,
    ...oldLines.map((line) => `-${line}\n`),
    ...newLines.map((line) => `+${line}\n`),
  ].join('')
}

function linesOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.split('\n').slice(0, -1)
}

function contentOf(path: string, generation: number, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) text += `${path} of generation ${generation}, line ${i} of ${count}\n`
  return text
}
