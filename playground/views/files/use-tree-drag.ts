import { useSignal } from '@preact/signals'
import { baseNameOf, directoryOf, type FileActions, joinPath } from '../../session/file-actions.ts'
import type { TreeRow } from '../../session/tree.ts'

/** The dragged path. Other windows and other drops do not have it. */
const TYPE = 'application/x-wardspace-path'

export interface TreeDrag {
  /** The directory that would take what is dragged. */
  readonly target: string | undefined
  attributes(row: TreeRow): Readonly<Record<string, unknown>>
  /** Attributes of the list itself, which stands for the top of the project. */
  readonly list: Readonly<Record<string, unknown>>
}

/** Moves entries by drag and drop; with Ctrl or Alt, copies them. */
export function useTreeDrag(actions: FileActions, canChange: boolean): TreeDrag {
  const target = useSignal<string | undefined>(undefined)
  const isOurs = (event: DragEvent) => canChange && event.dataTransfer?.types.includes(TYPE) === true
  const isCopy = (event: DragEvent) => event.ctrlKey || event.altKey
  const over = (directory: string) => (event: DragEvent) => {
    if (!isOurs(event) || event.dataTransfer === null) return
    event.preventDefault()
    event.stopPropagation()
    event.dataTransfer.dropEffect = isCopy(event) ? 'copy' : 'move'
    target.value = directory
  }
  const drop = (directory: string) => (event: DragEvent) => {
    target.value = undefined
    if (!isOurs(event)) return
    event.preventDefault()
    event.stopPropagation()
    const path = event.dataTransfer?.getData(TYPE) ?? ''
    if (isCopy(event)) void actions.copy(path, directory)
    else if (directoryOf(path) !== directory) void actions.move(path, joinPath(directory, baseNameOf(path)))
  }
  const end = () => {
    target.value = undefined
  }
  return {
    target: target.value,
    attributes({ path, type }) {
      const directory = type === 'directory' ? path : directoryOf(path)
      return {
        draggable: canChange,
        'data-drop': type === 'directory' && target.value === path ? '' : undefined,
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
      'data-drop': target.value === '' ? '' : undefined,
    },
  }
}
