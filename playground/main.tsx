import './no-eval.ts'
import '../src/elements/parts/tokens.css'
import './page/page.css'
import './ui/fonts.css'
import './ui/parts.css'
import './page/frame.css'
import './views/agent/agent.css'
import './views/start/start.css'
import './views/timeline/history.css'
import { render } from 'preact'
import { notLoadedText } from '../src/elements/parts/not-loaded.tsx'
import { App } from './page/app.tsx'
import { openFirst, openShared } from './page/app-state.ts'
import { addSharedStyles } from './page/shared-styles.ts'
import { followTheme } from './page/theme.ts'
import { showWaiting } from './page/waiting-notice.ts'

// The message of the browser names a file of the build.
addEventListener('vite:preloadError', ({ payload }) => {
  payload.message = notLoadedText()
})
addSharedStyles()
followTheme()
showWaiting()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
void openFirst(new URLSearchParams(location.search))
addEventListener('hashchange', () => void openShared())
