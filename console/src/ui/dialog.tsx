/** Dialogs: one to fill in, one that asks before something that cannot be undone. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useContext, useLayoutEffect, useState, type ReactNode } from 'react'
import { Button, IconButton } from './button.tsx'
import { describeFailure } from './states.tsx'
import { Notice } from './card.tsx'
import { LeaveGuardContext, TypedContext, watchTyping } from './typed.ts'
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

/** What a person has typed into its fields is not dropped without a question. */
export function Dialog({ title, hint, isOpen, onClose, isWide = false, children }: DialogProps) {
  useFocusReturn(isOpen)
  const [typed] = useState(watchTyping)
  const [isAsking, setIsAsking] = useState(false)
  const guardOf = useContext(LeaveGuardContext)
  useLayoutEffect(() => (isOpen ? typed.forget : undefined), [isOpen, typed])
  const askOrClose = (): void => {
    if (typed.isTyped()) setIsAsking(true)
    else onClose()
  }
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && askOrClose()}>
      <Base.Portal>
        <Base.Backdrop className="dialog-backdrop" />
        <Base.Popup
          className={isWide ? 'dialog dialog-wide' : 'dialog'}
          onFocusCapture={typed.onFocus}
          onInputCapture={typed.onInput}
        >
          <header className="dialog-head">
            <Base.Title className="dialog-title">{title}</Base.Title>
            <Base.Close render={<IconButton label="Close" />}>
              <X aria-hidden />
            </Base.Close>
          </header>
          {hint !== undefined && (
            <Base.Description className="soft dialog-hint">{hint}</Base.Description>
          )}
          <TypedContext value={typed}>{children}</TypedContext>
        </Base.Popup>
      </Base.Portal>
      {isOpen && guardOf?.(typed.isTyped)}
      <Discard
        isOpen={isAsking}
        onConfirm={() => {
          setIsAsking(false)
          typed.forget()
          onClose()
        }}
        onClose={() => setIsAsking(false)}
      />
    </Base.Root>
  )
}

interface DiscardProps {
  readonly isOpen: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before what was typed is dropped. */
export function Discard(props: DiscardProps) {
  return (
    <Confirm
      title="Discard what you have typed?"
      action="Discard"
      cancel="Keep editing"
      isBusy={false}
      {...props}
    >
      It is not saved.
    </Confirm>
  )
}

interface ConfirmProps {
  readonly title: string
  /** Says what happens, and what cannot be undone. */
  readonly children: ReactNode
  /** The verb of the action: "Revoke key". */
  readonly action: string
  /** In place of "Cancel". */
  readonly cancel?: string
  readonly isOpen: boolean
  readonly isBusy: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function Confirm(props: ConfirmProps) {
  const { title, children, action, cancel = 'Cancel' } = props
  const { isOpen, isBusy, error, onConfirm, onClose } = props
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
            <AlertDialog.Close render={<Button />}>{cancel}</AlertDialog.Close>
            <Button look="danger" isBusy={isBusy} onClick={onConfirm}>
              {action}
            </Button>
          </footer>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
