import { IconButton } from '../parts/icon-button.tsx'
import { MenuButton } from '../parts/menu.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import { beginNew, type FileCommandParts, menuOf } from './files-menu.ts'

const newEntries = [
  { type: 'file', icon: 'newFile', label: 'New file' },
  { type: 'directory', icon: 'newFolder', label: 'New folder' },
] as const

/** The buttons above the tree. */
export function FileButtons(parts: FileCommandParts) {
  const { files, canChange } = parts
  const { rows, selected } = useSnapshot(files)
  const row = rows.find(({ path }) => path === selected)
  return (
    <>
      {newEntries.map(({ type, icon, label }) => (
        <IconButton
          key={type}
          icon={icon}
          label={label}
          title={label}
          disabled={!canChange}
          onClick={() => beginNew(parts, type, row)}
        />
      ))}
      <MenuButton
        icon="dots"
        label="More actions on files"
        items={[
          ...menuOf(parts),
          { label: 'Collapse all folders', startsGroup: true, onSelect: () => files.collapse() },
        ]}
      />
    </>
  )
}
