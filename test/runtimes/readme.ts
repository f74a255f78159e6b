const START = '<!-- matrix: written by npm run matrix -->'
const END = '<!-- /matrix -->'

/** The README with another table between its marks. */
export function withTable(readme: string, table: string): string {
  const [before, after] = parts(readme)
  return `${before}${START}\n\n${table}\n\n${END}${after}`
}

/** The table that the README shows. */
export function tableInReadme(readme: string): string {
  const [before, after] = parts(readme)
  return readme.slice(before.length + START.length, readme.length - after.length - END.length).trim()
}

function parts(readme: string): [string, string] {
  const start = readme.indexOf(START)
  const end = readme.indexOf(END)
  if (start === -1 || end < start) throw new Error('The README has no place for the matrix')
  return [readme.slice(0, start), readme.slice(end + END.length)]
}
