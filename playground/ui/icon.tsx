/** Outlines on a grid of 16. They are decoration: the text beside an icon states its meaning. */
const shapes = {
  folder: 'M1.5 4.5v8h13v-7h-7l-1.5-2h-4.5z',
  file: 'M4 1.5h5l3 3v10H4zM9 1.5v3h3',
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
  gear: 'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4',
  help: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.8M8 12.5v.6',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  shield: 'M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4z',
  dots: 'M3 8h.01M8 8h.01M13 8h.01',
  box: 'M2 5l6-3 6 3v6l-6 3-6-3zM2 5l6 3 6-3M8 8v6',
} as const

export type IconName = keyof typeof shapes

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true" focusable="false" class="icon-shape">
      <path
        d={shapes[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  )
}
