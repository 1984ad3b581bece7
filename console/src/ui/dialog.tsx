/** Dialogs: one to fill in, one that asks before something that cannot be undone. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useLayoutEffect, type ReactNode } from 'react'
import { Button, IconButton } from './button.tsx'
import { describeFailure } from './states.tsx'
import { Notice } from './card.tsx'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  /** For tables and diffs. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** Gives the focus back to the element that had it before; where that is gone, as in a menu, to the page. */
function useFocusReturn(isOpen: boolean): void {
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const before = document.activeElement
    return () => {
      // Base UI first has to let go of the focus.
      setTimeout(() => {
        if (document.querySelector('[role=dialog], [role=alertdialog]') !== null) return
        const isThere = before instanceof HTMLElement && before.isConnected
        const next = isThere ? before : document.getElementById('content')
        next?.focus({ preventScroll: true })
      })
    }
  }, [isOpen])
}

export function Dialog({ title, hint, isOpen, onClose, isWide = false, children }: DialogProps) {
  useFocusReturn(isOpen)
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="dialog-backdrop" />
        <Base.Popup className={isWide ? 'dialog dialog-wide' : 'dialog'}>
          <header className="dialog-head">
            <Base.Title className="dialog-title">{title}</Base.Title>
            <Base.Close render={<IconButton label="Close" />}>
              <X aria-hidden />
            </Base.Close>
          </header>
          {hint !== undefined && (
            <Base.Description className="soft dialog-hint">{hint}</Base.Description>
          )}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

interface ConfirmProps {
  readonly title: string
  /** Says what happens, and what cannot be undone. */
  readonly children: ReactNode
  /** The verb of the action: "Revoke key". */
  readonly action: string
  readonly isOpen: boolean
  readonly isBusy: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function Confirm(props: ConfirmProps) {
  const { title, children, action, isOpen, isBusy, error, onConfirm, onClose } = props
  useFocusReturn(isOpen)
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="dialog-backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-hint" render={<div />}>
            {children}
          </AlertDialog.Description>
          {error !== undefined && error !== null && (
            <Notice tone="bad">{describeFailure(error).title}</Notice>
          )}
          <footer className="dialog-foot">
            <AlertDialog.Close render={<Button />}>Cancel</AlertDialog.Close>
            <Button look="danger" isBusy={isBusy} onClick={onConfirm}>
              {action}
            </Button>
          </footer>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
