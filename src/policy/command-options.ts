/** Returns the name of a program in lower case, without directory and executable suffix. */
export function programName(name: string): string {
  return name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.(exe|cmd|bat|com)$/, '')
}

/** Programs whose options are known by all their names, see `option-spellings.ts` of the analysis. */
const known: ReadonlySet<string> = new Set(
  'bash cat cc chgrp chmod chown clang convert cp curl docker env ffmpeg find g++ gcc gfind git go grep java javac kill kubectl ln ls magick make mkdir mv nice node npm openssl perl pip pnpm python python3 rm ruby sed sh ssh tar tee terraform timeout touch truncate wget xargs yarn'.split(
    ' ',
  ),
)

/** Whether an entry with options of a program matches them by all their names. */
export function hasKnownOptions(program: string): boolean {
  return known.has(program)
}
