const TITLES = { feat: 'New', fix: 'Mended' }

/** Release notes in Markdown from commit messages such as `fix: the total of an empty cart`. */
export function notesFor(version, messages) {
  const lines = [`# ${version}`]
  for (const [kind, title] of Object.entries(TITLES)) {
    const found = messages.filter((message) => message.startsWith(`${kind}: `))
    if (found.length === 0) continue
    lines.push('', `## ${title}`, '')
    for (const message of found) lines.push(`- ${message.slice(kind.length + 2)}`)
  }
  return `${lines.join('\n')}\n`
}
