import './no-eval.ts'
import './ui/theme.css'
import './ui/parts.css'
import './views/layout.css'
import './views/views.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { openFirst } from './views/app-state.ts'
import { followTheme } from './views/theme.ts'

followTheme()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
void openFirst(new URLSearchParams(location.search))
