import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'

/** Reads confidential files, and is then refused to write to a published page. */
export const keepASecret: Scenario = {
  id: 'keep-a-secret',
  sample: 'team-page',
  prompt: 'Put our team on the page, with everything you know about everyone.',
  workspace: {
    policy: {
      preset: 'autonomous',
      labels: {
        sources: [{ label: 'confidential', paths: ['people/**'] }],
        sinks: [{ name: 'the published page', ceiling: 'public', paths: ['site/**'] }],
      },
    },
  },
  afterwards: { label: 'See which file stopped it', view: 'policy' },
  *script() {
    const [page, team] = yield* calls(
      'I read the page, and what there is about the team.',
      { name: 'read_file', input: { path: 'site/index.html' } },
      { name: 'read_file', input: { path: 'people/team.csv' } },
    )
    if (page?.ok !== true) return `I could not read the page: ${page?.message}. I changed nothing.`
    if (team?.ok !== true) return `I could not read the team: ${team?.message}. I changed nothing.`
    const [, ...rows] = String(team.content).trim().split('\n')
    const items = rows.map((row) => `  <li>${row.split(',').join(', ')}</li>\n`).join('')
    const written = yield* call(
      `${rows.length} people. I put them on the page, with all that the table says.`,
      'edit_file',
      {
        path: 'site/index.html',
        oldText: '<ul>\n',
        newText: `<ul>\n${items}`,
        expectedSha256: String(page.sha256),
      },
    )
    if (written.ok) return `The page shows ${rows.length} people now.`
    if (written.code !== 'TAINT_DENIED') return `The page was not changed: ${written.message}.`
    const noted = yield* call('Then a draft, where only we read it.', 'append_file', {
      path: 'notes/drafts.md',
      content: `\nFor the page:\n\n${rows.map((row) => `- ${row.split(',')[0]}`).join('\n')}\n`,
    })
    return `I may not write to the page: ${written.message}. ${noted.ok ? 'A draft with the names is in `notes/drafts.md`.' : `The draft was not written: ${noted.message}.`} Somebody who has not read the table has to bring it over.`
  },
}
