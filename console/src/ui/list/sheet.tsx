/**
 * A sheet at the right that shows a row of a list. The list beside it stays in use: another row takes the
 * place of the one that is shown. Escape closes it.
 */
import { Dialog as Base } from '@base-ui/react/dialog'
import type { RowData } from '@tanstack/react-table'
import { X } from 'lucide-react'
import { useRef, type ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { IconButton } from '../button.tsx'
import { Card, Facts } from '../card.tsx'
import { Row, Stack } from '../layout.tsx'
import type { ListColumn } from './define.ts'

interface SheetProps {
  readonly onClose: () => void
  readonly children: ReactNode
}

export function Sheet({ onClose, children }: SheetProps) {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root
      open
      modal={false}
      disablePointerDismissal
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Base.Portal>
        <Base.Popup ref={popup} initialFocus={popup} className="sheet">
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

interface SheetHeadProps {
  readonly title: ReactNode
  readonly hint?: ReactNode
  readonly actions?: ReactNode
}

/** The first part of each sheet. */
export function SheetHead({ title, hint, actions }: SheetHeadProps) {
  return (
    <div className="sheet-head">
      <div className="break">
        <Base.Title className="dialog-title">{title}</Base.Title>
        {hint !== undefined && <p className="soft">{hint}</p>}
      </div>
      <div className="row">
        {actions}
        <Base.Close render={<IconButton label={t('list.close')} />}>
          <X aria-hidden />
        </Base.Close>
      </div>
    </div>
  )
}

/** All cells of a row; its buttons come first. */
export function RowFacts<Item extends RowData>({
  row,
  columns,
}: {
  row: Item
  columns: readonly ListColumn<Item>[]
}) {
  const facts = columns.filter(({ isAction = false }) => !isAction)
  const actions = columns.filter(({ isAction = false }) => isAction)
  return (
    <Card>
      <Stack>
        {actions.length > 0 && <Row>{actions.map(({ cell }) => cell(row))}</Row>}
        <Facts items={facts.map(({ name, cell }) => [name, cell(row)])} />
      </Stack>
    </Card>
  )
}
