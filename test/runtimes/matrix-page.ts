const START = '<!-- matrix: written by npm run matrix -->'
const END = '<!-- /matrix -->'

/** Returns the page with another table between its marks. */
export function withTable(page: string, table: string): string {
  const [before, after] = parts(page)
  return `${before}${START}\n\n${table}\n\n${END}${after}`
}

/** Returns the table that the page shows. */
export function tableInPage(page: string): string {
  const [before, after] = parts(page)
  return page.slice(before.length + START.length, page.length - after.length - END.length).trim()
}

function parts(page: string): [string, string] {
  const start = page.indexOf(START)
  const end = page.indexOf(END)
  if (start === -1 || end < start) throw new Error('The page has no marks for the matrix')
  return [page.slice(0, start), page.slice(end + END.length)]
}
