/** Acts that each open a dialog with a form: for new things by buttons, for a row by a menu. */
import { Plus } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Menu } from './menu.tsx'

interface Act {
  /** Its verb: "Revoke". */
  readonly text: string
  /** Of the dialog; the verb without this. */
  readonly title?: string
  /** Says what happens. */
  readonly hint?: ReactNode
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  readonly form: (close: () => void) => ReactNode
}

/** Buttons, or the menu that is named so. */
export function Acts({ acts, menu }: { acts: readonly Act[]; menu?: string }) {
  const [open, setOpen] = useState<number>()
  const close = (): void => setOpen(undefined)
  const items = acts.map(({ text, isDanger = false, isDisabled = false }, index) => ({
    text,
    isDanger,
    isDisabled,
    onSelect: () => setOpen(index),
  }))
  const act = open === undefined ? undefined : acts[open]
  return (
    <>
      {menu !== undefined && <Menu label={menu} items={items} />}
      {menu === undefined &&
        items.map(({ text, isDisabled, onSelect }) => (
          <Button key={text} look="primary" disabled={isDisabled} onClick={onSelect}>
            <Plus aria-hidden /> {text}
          </Button>
        ))}
      {act !== undefined && (
        <Dialog title={act.title ?? act.text} hint={act.hint} isOpen onClose={close}>
          {act.form(close)}
        </Dialog>
      )}
    </>
  )
}
