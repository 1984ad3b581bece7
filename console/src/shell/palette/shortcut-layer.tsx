/** Listens to the keyboard for the whole console, and shows the palette and the sheet of shortcuts. */
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useEffect } from 'react'
import { t } from '../../messages/t.ts'
import { IconButton } from '../../ui/button.tsx'
import { HelpSheet } from './help-sheet.tsx'
import { Palette } from './palette.tsx'
import { buildShortcuts, isField, openLayer, useOpenLayer } from './shortcuts.ts'
import './palette.css'

export function ShortcutLayer() {
  const navigate = useNavigate()
  const layer = useOpenLayer()
  useEffect(() => {
    const read = buildShortcuts()
    const press = (event: KeyboardEvent): void => {
      const shortcut = read(event, isField(event.target))
      // A dialog is a separate task.
      if (shortcut === undefined || document.querySelector(openDialog) !== null) return
      event.preventDefault()
      if (shortcut.kind === 'layer') openLayer(shortcut.layer)
      else if (shortcut.kind === 'page') void navigate({ to: shortcut.to })
      else document.querySelector<HTMLElement>(pageSearch)?.focus()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [navigate])
  const close = (): void => openLayer(undefined)
  return (
    <>
      <Palette isOpen={layer === 'palette'} onClose={close} />
      <HelpSheet isOpen={layer === 'help'} onClose={close} />
    </>
  )
}

/** A toast has the role of a dialog too, but it is no task. */
const openDialog = '.dialog'
const pageSearch = '#content input[type=search]'

/** For those who use the mouse, or do not know the keys. */
export function PaletteButton({ look }: { look: 'wide' | 'icon' }) {
  const open = (): void => openLayer('palette')
  if (look === 'icon')
    return (
      <IconButton label={t('shell.palette.search')} onClick={open}>
        <Search aria-hidden />
      </IconButton>
    )
  return (
    <button type="button" className="palette-button" aria-keyshortcuts="Control+K" onClick={open}>
      <Search aria-hidden />
      <span>{t('shell.palette.search')}</span>
      <kbd>Ctrl K</kbd>
    </button>
  )
}
