import { effect, untracked } from '@preact/signals'
import type { FollowedFile } from '../session/following.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { focusView } from '../ui/focus-view.ts'
import { putOnStage } from './navigation.ts'
import { layout, page, type StageName } from './page-state.ts'

/** Brings what the agent works on onto the stage while following is on. Returns a function that ends this. */
export function followAgent(projectSession: ProjectSession): () => void {
  const ends = [showFiles(projectSession), showCommands(projectSession), showApprovals(projectSession)]
  return () => {
    for (const end of ends) end()
  }
}

/** Opens the file that the agent reads or changes. Its tab gives way to the next one, unless it was open before. */
function showFiles({ following, files }: ProjectSession): () => void {
  let shown: string | undefined
  const show = ({ path }: FollowedFile) => {
    if (page.stage.value !== 'approvals') putOnStage('editor')
    const previous = shown
    const isOpen = files.all.value.some((file) => file.path === path && file.isOpen)
    if (path !== shown) shown = isOpen ? undefined : path
    void files.open(path).then(() => {
      if (previous !== undefined && previous !== path) files.close(previous)
    })
  }
  return effect(() => {
    const file = following.file.value
    if (!following.isOn.value) shown = undefined
    else if (file !== undefined) untracked(() => show(file))
  })
}

function showCommands({ following }: ProjectSession): () => void {
  let started = following.commands.peek()
  return effect(() => {
    const { value } = following.commands
    if (value > started && following.isOn.peek() && layout.peek() !== 'phone') {
      page.terminal.value = true
      if (page.stage.peek() === 'start') page.stage.value = 'editor'
    }
    started = value
  })
}

/** Puts approvals onto the stage, and what was there before back after the answer. On a phone they are a sheet. */
function showApprovals({ following, session }: ProjectSession): () => void {
  let previous: StageName | undefined
  let wasHere = false
  const update = (isWaiting: boolean, isOn: boolean) => {
    const { activeElement, body } = document
    // The view goes between two questions; who answers by keys goes on by keys.
    if (isWaiting && wasHere && activeElement === body && layout.value !== 'phone')
      focusView('wardspace-approvals', 'article')
    wasHere = activeElement?.matches('wardspace-approvals') === true || (wasHere && activeElement === body)
    if (isWaiting) {
      if (!isOn || layout.value === 'phone' || page.stage.value === 'approvals') return
      previous = page.stage.value
      putOnStage('approvals')
      return
    }
    page.tabs.value = page.tabs.value.filter((tab) => tab !== 'approvals')
    if (page.stage.value === 'approvals') page.stage.value = previous ?? 'editor'
    previous = undefined
  }
  return effect(() => {
    const isWaiting = session.approvals.value.length > 0
    const isOn = following.isOn.value
    untracked(() => update(isWaiting, isOn))
  })
}
