import './page.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'

createRoot(document.body).render(<App />)
