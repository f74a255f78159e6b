import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'

const pages = join(import.meta.dirname, '../pages')

// Everything is served from the site itself: no font, script or counter of anybody else's, and the search is local.
export default defineConfig({
  title: 'Wardspace',
  description: 'A workspace that an AI agent can be trusted with',
  srcDir: 'pages',
  cleanUrls: false,
  ignoreDeadLinks: false,
  // Types such as Promise<T> are words, not elements.
  markdown: { html: true },
  appearance: true,
  transformHead: () => [
    [
      'meta',
      {
        'http-equiv': 'Content-Security-Policy',
        content:
          "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
      },
    ],
  ],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide/start' },
      { text: 'Tools', link: '/tools' },
      { text: 'Reference', link: '/api/' },
      { text: 'Changelog', link: '/changelog' },
    ],
    sidebar: {
      '/api/': [{ text: 'Reference', items: subpaths() }],
      '/': [
        {
          text: 'Embed it',
          items: [
            { text: 'Start', link: '/guide/start' },
            { text: 'In a browser app', link: '/guide/browser' },
            { text: 'Controllers and elements', link: '/guide/elements' },
            { text: 'On the edge', link: '/guide/edge' },
            { text: 'In Node', link: '/guide/node' },
            { text: 'Command line', link: '/guide/command-line' },
            { text: 'In tests', link: '/guide/tests' },
            { text: 'With model APIs and frameworks', link: '/guide/models' },
            { text: "Under another framework's tools", link: '/guide/sandboxes' },
            { text: 'Agents side by side', link: '/guide/side-by-side' },
            { text: 'Agents of editors (ACP)', link: '/guide/acp' },
            { text: 'Git and files for your program', link: '/guide/git' },
          ],
        },
        {
          text: 'Extend it',
          items: [
            { text: 'Write a policy', link: '/guide/write-a-policy' },
            { text: 'Write a tool', link: '/guide/write-a-tool' },
            { text: 'Write a backend', link: '/guide/write-a-backend' },
            { text: 'Write a shell', link: '/guide/write-a-shell' },
            { text: 'Write a dialect', link: '/guide/write-a-dialect' },
          ],
        },
        { text: 'Move to it', items: [{ text: 'From another system', link: '/guide/migrate' }] },
        {
          text: 'Know it',
          items: [
            { text: 'Tools', link: '/tools' },
            { text: 'Runtimes and subpaths', link: '/runtimes' },
            { text: 'Benchmarks', link: '/benchmarks' },
            { text: 'Policy', link: '/policy' },
            { text: 'Commands', link: '/shell' },
            { text: 'Dialects', link: '/dialects' },
            { text: 'Threat model', link: '/threat-model' },
            { text: 'Architecture', link: '/architecture' },
            { text: 'Decisions', link: '/decisions' },
          ],
        },
      ],
    },
  },
})

/** The subpaths that the reference was made of. */
function subpaths() {
  const names = JSON.parse(readFileSync(join(pages, 'subpaths.json'), 'utf8'))
  return names.map((name) => ({ text: name.replace(/^wardspace\//, ''), link: `/api/${name}/` }))
}
