import { Icon, type IconName } from './icon.tsx'

export interface IconButtonProps {
  readonly icon: IconName
  /** The accessible name. */
  readonly label: string
  readonly title?: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

/** A button that shows an icon only. */
export function IconButton({ icon, label, title, disabled = false, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class="button quiet icon"
      aria-label={label}
      title={title}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}
