import { Icon, type IconName } from '../../../src/elements/parts/icon.tsx'
import { type ScenarioId, scenarioTitles } from '../../agent/scenario-titles.ts'
import { type ModelPick, whatLeaves } from '../../session/model.ts'

export interface StartViewProps {
  /** The chosen model. */
  readonly pick: ModelPick
  /** Starts a scenario by its id. */
  readonly onStart: (scenario: string) => void
  readonly onOwnModel: () => void
  readonly onOpenProject: () => void
}

interface Card {
  readonly scenario: ScenarioId
  readonly about: string
  readonly icon: IconName
}

const cards: readonly Card[] = [
  {
    scenario: 'resist-an-attack',
    about: 'A README tells the agent to give away a secret and to delete everything. It obeys, and is stopped.',
    icon: 'blocked',
  },
  {
    scenario: 'mend-a-test',
    about: 'The agent runs the tests, finds the cause, changes one line and runs them again.',
    icon: 'check',
  },
  {
    scenario: 'drop-a-dependency',
    about: 'The agent submits a plan first. You decide about each change that matters.',
    icon: 'flag',
  },
]

const others: readonly ScenarioId[] = ['rename-across-files', 'explore-and-explain', 'keep-a-secret']

const promises: readonly (readonly [icon: IconName, text: string])[] = [
  ['undo', 'Every change can be taken back'],
  ['list', 'Every access is recorded'],
]

/** The guides of the library, of which this page is made. */
const docs = 'https://github.com/wardspace/wardspace/blob/main/docs/guide'

/** The first screen: what this is, and one press that shows it. */
export function StartView({ pick, onStart, onOwnModel, onOpenProject }: StartViewProps) {
  return (
    <div class="start fill-rest scroll">
      <div class="start-middle">
        <h2>An agent at work in this page, that cannot go where you do not let it.</h2>
        <ul class="start-cards">
          {cards.map(({ scenario, about, icon }, at) => (
            <li key={scenario}>
              <button type="button" class={at === 0 ? 'first' : ''} onClick={() => onStart(scenario)}>
                <Icon name={icon} size={20} />
                <strong>{scenarioTitles[scenario]}</strong>
                <span class="muted">{about}</span>
                <span class="start-go">
                  <Icon name="play" size={12} /> Start
                </span>
              </button>
            </li>
          ))}
        </ul>
        <div class="row wrap start-others">
          {others.map((scenario) => (
            <button key={scenario} type="button" class="button quiet" onClick={() => onStart(scenario)}>
              <Icon name="play" size={12} /> {scenarioTitles[scenario]}
            </button>
          ))}
        </div>
        <div class="row wrap start-own">
          <button type="button" class="button" onClick={onOwnModel}>
            <Icon name="key" /> Use my own model
          </button>
          <button type="button" class="button" onClick={onOpenProject}>
            <Icon name="folder" /> Open my project
          </button>
        </div>
        <ul class="start-promises muted">
          <li>
            <Icon name={pick.kind === 'endpoint' ? 'key' : 'lock'} /> {whatLeaves(pick)}
          </li>
          {promises.map(([icon, text]) => (
            <li key={text}>
              <Icon name={icon} /> {text}
            </li>
          ))}
        </ul>
        <p class="start-library muted">
          <span>
            {/* Not as code: its face would be a tenth of the first load. */}
            Also a library for your own agents: <strong>npm install wardspace</strong>
          </span>
          <a class="button quiet" href={`${docs}/start.md`} target="_blank" rel="noreferrer">
            Start with code
          </a>
          <a class="button quiet" href={`${docs}/elements.md`} target="_blank" rel="noreferrer">
            The parts of this page
          </a>
        </p>
      </div>
    </div>
  )
}
