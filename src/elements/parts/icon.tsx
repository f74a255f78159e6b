/** Outlines on a grid of 16. They are decoration: the text beside an icon states its meaning. */
const shapes = {
  folder: 'M1.5 4.5v8h13v-7h-7l-1.5-2h-4.5z',
  file: 'M4 1.5h5l3 3v10H4zM9 1.5v3h3',
  newFile: 'M9 1.5H3.5v13H8M9 1.5l3 3V8M9 1.5v3h3M12 9.5v5M9.5 12h5',
  newFolder: 'M8 12.5H1.5v-8h4l1.5 2h7V9M12 9.5v5M9.5 12h5',
  chevron: 'M6 4l4 4-4 4',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5',
  close: 'M4 4l8 8M12 4l-8 8',
  play: 'M5 3l8 5-8 5z',
  stop: 'M4 4h8v8H4z',
  step: 'M4 3l6 5-6 5zM12 3v10',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  undo: 'M6 3L2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 8H7',
  flag: 'M4 14V2.5h8l-2 3 2 3H4',
  settings:
    'M2 4.5h6.5M12.5 4.5H14M2 11.5h1.5M7.5 11.5H14M10.5 2.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM5.5 9.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  help: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.8M8 12.5v.6',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  shield: 'M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4z',
  dots: 'M2.5 7.5h1v1h-1zM7.5 7.5h1v1h-1zM12.5 7.5h1v1h-1z',
  files: 'M5.5 4.5v-3h5l3 3v7h-3M5.5 4.5h-3v10h8v-3M5.5 4.5v7h5M10.5 1.5v3h3',
  diff: 'M5 3.5v6M2 6.5h6M9 12.5h5M5 12.5h.01M11 3.5h3',
  list: 'M2.5 4h.01M2.5 8h.01M2.5 12h.01M6 4h8M6 8h8M6 12h8',
  report: 'M3.5 1.5h9v13h-9zM6 5h4M6 8h4M6 11h2',
  chat: 'M2 3h12v8.5H7.5L4.5 14v-2.5H2z',
  terminal: 'M1.5 2.5h13v11h-13zM4.5 6l2 2-2 2M8.5 10h3',
  eye: 'M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  pencil: 'M3 13l.7-3L11 2.7 13.3 5 6 12.3zM9.5 4.2l2.3 2.3',
  plus: 'M8 3v10M3 8h10',
  blocked: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM3.8 3.8l8.4 8.4',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  back: 'M13 8H3M7 4L3 8l4 4',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9',
  key: 'M5.5 7.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM7.7 8.3L13.5 2.5M11 5l2 2',
  box: 'M2 5l6-3 6 3v6l-6 3-6-3zM2 5l6 3 6-3M8 8v6',
} as const

export type IconName = keyof typeof shapes

export interface IconProps {
  readonly name: IconName
  /** Pixels. */
  readonly size?: number
}

export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false" class="icon-shape">
      <path
        d={shapes[name]}
        fill="none"
        stroke="currentColor"
        stroke-width={size > 16 ? 1.2 : 1.4}
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  )
}
