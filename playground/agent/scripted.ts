import { type Script, scriptedModel } from 'wardspace/testing/scripted-model'
import type { OpenedModel } from './models.ts'
import { scenarioTitles } from './scenario-titles.ts'
import { scenarioById } from './scenarios/index.ts'

/** Opens the scripted model of a scenario, which takes `pace` milliseconds per word. */
export function openScripted(id: string, pace: number): OpenedModel {
  const { id: name, script } = scenarioById(id)
  const model = scriptedModel(withoutComments(script), {
    modelId: id,
    ...(pace > 0 && { wait: (_, signal) => pause(pace, signal) }),
  })
  return { model, name: `Scripted: ${scenarioTitles[name]}` }
}

/** Answers comments on the changes with a fixed text, because a script cannot react to them. */
function withoutComments(script: Script): Script {
  return function* (request) {
    if (!/^I have (a comment|comments) on the changes\./.test(request)) return yield* script(request)
    return 'I follow a script and cannot read comments, so I have changed nothing. Choose a model of your own to have them answered.'
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
