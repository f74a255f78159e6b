import 'wardspace/elements'
import { approvals, changes, conversation, editor, files, timeline } from './agent.js'

const element = (name) => document.querySelector(`wardspace-${name}`)
Object.assign(element('approvals'), { controller: approvals })
Object.assign(element('chat'), { controller: conversation, timeline })
Object.assign(element('diff'), { controller: changes })
Object.assign(element('editor'), { controller: editor })
Object.assign(element('files'), { controller: files })
Object.assign(element('timeline'), { controller: timeline })

document.addEventListener('wardspace-open-file', ({ detail }) => editor.open(detail.path))
approvals.subscribe(({ pending }) => {
  element('approvals').hidden = pending.length === 0
})
