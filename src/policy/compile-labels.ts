import { continuedEntries } from './command-entries.ts'
import type { Label, LabelPolicy } from './labels.ts'
import { compilePaths, compileTexts } from './match.ts'
import { compileHosts } from './network-policy.ts'
import { isAbove, type Labels, maxLabel, noLabels } from './taint.ts'

/**
 * Compiles the labels of a policy. A path whose own label is high enough accepts content regardless of sinks:
 * content that returns to files of its label leaks nothing.
 *
 * @throws TypeError with the field of an invalid pattern
 */
export function compileLabels(policy: LabelPolicy | undefined): Labels {
  if (policy === undefined) return noLabels
  const sources = (policy.sources ?? []).map(({ label, paths, commands }, index) => ({
    label,
    paths: paths && compilePaths(paths, `labels.sources[${index}].paths`),
    command: commands && compileTexts(continuedEntries(commands), `labels.sources[${index}].commands`),
  }))
  const sinks = (policy.sinks ?? []).map((sink, index) => {
    const paths = sink.paths && compilePaths(sink.paths, `labels.sinks[${index}].paths`)
    return {
      sink,
      path: paths?.matches,
      below: paths?.mayMatchBelow,
      command: sink.commands && compileTexts(continuedEntries(sink.commands), `labels.sinks[${index}].commands`),
      host: sink.hosts && compileHosts(sink.hosts, `labels.sinks[${index}].hosts`),
    }
  })
  const ofPath = (path: string): Label =>
    sources.reduce<Label>(
      (highest, source) => (source.paths?.matches(path) ? maxLabel(highest, source.label) : highest),
      'public',
    )

  return {
    active: true,
    highestOfPaths: sources.reduce<Label>(
      (label, { paths, ...source }) => (paths ? maxLabel(label, source.label) : label),
      'public',
    ),
    ofPath,
    maySinkBelow: (directory) => sinks.some(({ below }) => below?.(directory) === true),
    mayLabelBelow: (directory) => sources.some(({ paths }) => paths?.mayMatchBelow(directory) === true),
    ofCommand: (line) =>
      sources.reduce<Label>(
        (highest, source) => (source.command?.(line) ? maxLabel(highest, source.label) : highest),
        'public',
      ),
    exceededSinks({ paths = [], commands = [], host }, label) {
      if (label === 'public') return []
      // Names whose own label is high enough are not checked.
      const lowerPaths = paths.filter((path) => isAbove(label, ofPath(path)))
      const exceeded = sinks.filter(
        ({ sink, path: isPath, command: isCommand, host: isHost }) =>
          isAbove(label, sink.ceiling) &&
          (lowerPaths.some((path) => isPath?.(path)) ||
            commands.some((line) => isCommand?.(line)) ||
            // A final dot names the same host.
            (host !== undefined && isHost?.(host.toLowerCase().replace(/\.$/, '')))),
      )
      const denying = exceeded.filter(({ sink }) => sink.above !== 'ask')
      return [...denying, ...exceeded.filter(({ sink }) => sink.above === 'ask')].map(({ sink }) => sink)
    },
  }
}
