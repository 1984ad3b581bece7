/** What a person chooses about a list: its columns, and the height of its rows. */
import { Popover } from '@base-ui/react/popover'
import { Columns3, Rows2, Rows4 } from 'lucide-react'
import { t } from '../../messages/t.ts'
import { Button, IconButton } from '../button.tsx'
import { CheckField } from '../field.tsx'
import type { ListColumn } from './define.ts'
import { useDensity } from './remembered.ts'

type Choosable = Pick<ListColumn<never>, 'id' | 'name' | 'isExtra'>

interface ColumnsMenuProps {
  readonly columns: readonly Choosable[]
  readonly isShown: (column: Choosable) => boolean
  readonly onChoose: (id: string, isShown: boolean) => void
  readonly onReset: () => void
}

export function ColumnsMenu({ columns, isShown, onChoose, onReset }: ColumnsMenuProps) {
  return (
    <Popover.Root>
      <Popover.Trigger render={<IconButton label={t('list.columns')} />}>
        <Columns3 aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} className="menu-place">
          <Popover.Popup className="menu stack tight list-columns" aria-label={t('list.columns')}>
            {columns.map((column) => (
              <CheckField
                key={column.id}
                label={column.name}
                value={isShown(column)}
                onChange={(shown) => onChoose(column.id, shown)}
              />
            ))}
            <Button look="quiet" onClick={onReset}>
              {t('list.usualColumns')}
            </Button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

export function DensitySwitch() {
  const [density, setDensity] = useDensity()
  const isDense = density === 'dense'
  return (
    <IconButton
      label={t(isDense ? 'list.roomyRows' : 'list.denseRows')}
      onClick={() => setDensity(isDense ? 'roomy' : 'dense')}
    >
      {isDense ? <Rows2 aria-hidden /> : <Rows4 aria-hidden />}
    </IconButton>
  )
}
