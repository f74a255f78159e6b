import { useState } from 'preact/hooks'
import { baseNameOf, directoryOf, joinPath } from '../../ui/file-paths.ts'
import type { Files } from '../../ui/files.ts'
import type { FileRow } from '../../ui/files-state.ts'

/** The dragged path. Other windows and other drops do not have it. */
const TYPE = 'application/x-wardspace-path'

export interface FileDrag {
  attributes(row: FileRow): Readonly<Record<string, unknown>>
  /** Attributes of the list itself: a drop there moves to the top of the project. */
  readonly list: Readonly<Record<string, unknown>>
}

/** Moves entries by drag and drop; with Ctrl or Alt, copies them. */
export function useDrag(files: Files, canChange: boolean): FileDrag {
  // The directory that would take what is dragged.
  const [target, setTarget] = useState<string>()
  const isOurs = (event: DragEvent) => canChange && event.dataTransfer?.types.includes(TYPE) === true
  const isCopy = (event: DragEvent) => event.ctrlKey || event.altKey
  const over = (directory: string) => (event: DragEvent) => {
    if (!isOurs(event) || event.dataTransfer === null) return
    event.preventDefault()
    event.stopPropagation()
    event.dataTransfer.dropEffect = isCopy(event) ? 'copy' : 'move'
    setTarget(directory)
  }
  const drop = (directory: string) => (event: DragEvent) => {
    setTarget(undefined)
    if (!isOurs(event)) return
    event.preventDefault()
    event.stopPropagation()
    const path = event.dataTransfer?.getData(TYPE) ?? ''
    if (isCopy(event)) void files.copy(path, directory)
    else if (directoryOf(path) !== directory) void files.move(path, joinPath(directory, baseNameOf(path)))
  }
  const end = () => setTarget(undefined)
  return {
    attributes({ path, type }) {
      const directory = type === 'directory' ? path : directoryOf(path)
      return {
        draggable: canChange,
        'data-drop': type === 'directory' && target === path ? '' : undefined,
        onDragStart: ({ dataTransfer }: DragEvent) => {
          dataTransfer?.setData(TYPE, path)
          if (dataTransfer !== null) dataTransfer.effectAllowed = 'copyMove'
        },
        onDragOver: over(directory),
        onDrop: drop(directory),
        onDragEnd: end,
      }
    },
    list: {
      onDragOver: over(''),
      onDrop: drop(''),
      onDragLeave: end,
      'data-drop': target === '' ? '' : undefined,
    },
  }
}
