import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application } from 'typedoc'

const options = {
  plugin: ['typedoc-plugin-markdown'],
  tsconfig: join(import.meta.dirname, 'tsconfig.json'),
  readme: 'none',
  disableSources: true,
  excludeInternal: true,
  sort: ['source-order'],
  kindSortOrder: ['Function', 'Class', 'Interface', 'TypeAlias', 'Variable'],
  entryFileName: 'index',
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  // Whatever a user can name has words, and no type is shown that a user cannot name.
  validation: { notExported: true, invalidLink: true, invalidPath: true, notDocumented: true },
  // Types are derived from the built-in tools; no user needs to name them.
  intentionallyNotExported: [
    'createReads',
    'createWrites',
    'createMetadata',
    'createDirectories',
    'createTransfers',
    'createSync',
    'ToolOf',
    'ToolInputs',
    'ToolOutputs',
    'errorHints',
    'NumberedText',
    'ResultOf',
    'SuccessOf',
  ],
  requiredToBeDocumented: ['Enum', 'Variable', 'Function', 'Class', 'Interface', 'TypeAlias'],
}

/**
 * Writes the reference of every subpath that package.json publishes as Markdown, and gives their names. Fails where an export
 * has no words, a link leads nowhere, or a type is used that no subpath exports.
 */
export async function writeReference({ top, out }) {
  const subpaths = publishedSources(top)
  const src = join(top, 'src')
  const app = await Application.bootstrapWithPlugins({
    ...options,
    entryPoints: [...subpaths.keys()].map((source) => join(src, source)),
    basePath: src,
    displayBasePath: src,
    outputs: [{ name: 'markdown', path: out }],
  })
  const project = await app.convert()
  if (project === undefined || app.logger.hasErrors()) throw new Error('The sources cannot be read: see above')
  for (const module of project.children)
    module.name = subpaths.get(`${module.name}.ts`) ?? subpaths.get(`${module.name}/index.ts`) ?? module.name
  app.validate(project)
  await app.generateOutputs(project)
  const { warningCount, errorCount } = app.logger
  if (warningCount + errorCount > 0) throw new Error(`The reference is not whole: ${warningCount} warnings above`)
  return [...subpaths.values()].sort()
}

/** From the source of each published subpath, below `src`, to the name by which it is imported. */
function publishedSources(top) {
  const { name, exports } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
  const published = Object.entries(exports).flatMap(([subpath, { types } = {}]) => {
    if (types === undefined) return []
    const source = types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts')
    const imported = subpath.replace(/^\./, name)
    if (!source.includes('*')) return [[source, imported]]
    const [before, after] = source.split('*')
    return readdirSync(join(top, 'src', before))
      .filter((name) => existsSync(join(top, 'src', before, `${name}${after}`)))
      .map((name) => [`${before}${name}${after}`, imported.replace('*', name)])
  })
  return new Map(published)
}
