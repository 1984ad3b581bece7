/** The account page. */
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../ui/theme.ts'
import { Empty } from '../ui/states.tsx'
import '../ui/tokens.css'

applyTheme()
const element = document.getElementById('root')
if (element === null) throw new Error('The page has no element with the id root.')
createRoot(element).render(<Empty title="This page is being built." />)
