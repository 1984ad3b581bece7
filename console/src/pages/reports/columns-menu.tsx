/** Chooses the columns of the table. */
import { Popover } from '@base-ui/react/popover'
import { Columns3 } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { CheckField } from '../../ui/field.tsx'
import { figureColumns } from './figures.tsx'

interface ColumnsMenuProps {
  readonly shown: readonly string[]
  /** Undefined = the usual ones. */
  readonly onChange: (words: readonly string[] | undefined) => void
}

export function ColumnsMenu({ shown, onChange }: ColumnsMenuProps) {
  return (
    <Popover.Root>
      <Popover.Trigger
        render={
          <Button>
            <Columns3 aria-hidden /> Columns
          </Button>
        }
      />
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} className="reports-columns-place">
          <Popover.Popup className="reports-columns" aria-label="Columns">
            {figureColumns.map(({ word, name }) => (
              <CheckField
                key={word}
                label={name}
                value={shown.includes(word)}
                onChange={(isShown) =>
                  onChange(isShown ? [...shown, word] : shown.filter((each) => each !== word))
                }
              />
            ))}
            <Button look="quiet" onClick={() => onChange(undefined)}>
              The usual ones
            </Button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
