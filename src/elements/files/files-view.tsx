import { useEffect, useState } from 'preact/hooks'
import type { ViewContext } from '../define-element.ts'
import { Icon } from '../parts/icon.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { FilesProperties } from '../properties.ts'
import styles from './files.css?inline'

export { styles }

/** The files as a tree. */
export function View({ controller, selected, dispatch }: FilesProperties & ViewContext) {
  const { rows, isLoading, trouble } = useSnapshot(controller)
  const [active, setActive] = useState(-1)
  const rowHeight = useRowHeight()
  const open = (at: number) => {
    const row = rows[at]
    if (row?.type === 'directory') void controller.toggle(row.path)
    else if (row !== undefined) dispatch('wardspace-open-file', { path: row.path })
  }
  // Right opens a directory or enters it, left closes it or goes to the one above.
  const onKey = ({ key }: KeyboardEvent, at: number): boolean => {
    const row = rows[at]
    if (row === undefined || (key !== 'ArrowRight' && key !== 'ArrowLeft')) return false
    const isToggled = row.type === 'directory' && row.isOpen === (key === 'ArrowLeft')
    if (isToggled) void controller.toggle(row.path)
    else if (key === 'ArrowLeft') setActive(rows.findLastIndex(({ depth }, above) => above < at && depth < row.depth))
    else if (row.isOpen) setActive(Math.min(at + 1, rows.length - 1))
    return true
  }
  return (
    <div class="fill" aria-busy={isLoading}>
      {trouble !== undefined && <p class="notice warn">{trouble}</p>}
      {rows.length === 0 && !isLoading && trouble === undefined && <p class="empty">There are no files yet.</p>}
      {rows.length > 0 && (
        <VirtualList
          label="Files"
          name="file"
          role="tree"
          count={rows.length}
          rowHeight={rowHeight}
          active={active}
          onActive={setActive}
          onOpen={open}
          onKey={onKey}
          attributes={(at) => ({
            'aria-level': (rows[at]?.depth ?? 0) + 1,
            'aria-expanded': rows[at]?.type === 'directory' ? rows[at].isOpen : undefined,
            'aria-current': rows[at]?.path === selected ? 'true' : undefined,
          })}
          row={(at) => {
            const row = rows[at]
            if (row === undefined) return null
            return (
              <>
                <span class="indent" style={{ width: `${row.depth * 12}px` }} />
                <span class={`kind ${row.isOpen ? 'open' : ''}`}>
                  <Icon name={row.type === 'directory' ? 'chevron' : row.isProtected ? 'lock' : 'file'} />
                </span>
                <span class="cut">{row.name}</span>
                {row.isProtected && <span class="visually-hidden"> protected</span>}
              </>
            )
          }}
        />
      )}
    </div>
  )
}

/** Returns the height of a row in pixels, which is larger for fingers. */
function useRowHeight(): number {
  const query = '(max-width: 759px), (pointer: coarse)'
  const [isTouch, setIsTouch] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const onChange = () => setIsTouch(media.matches)
    media.addEventListener('change', onChange)
    return () => media.removeEventListener('change', onChange)
  }, [])
  return isTouch ? 44 : 28
}
